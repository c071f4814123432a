"""Records a run, reads a series of it and draws it to a file; no display is needed."""
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

import saltus  # noqa: E402

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
saltus.run(saltus.scene_path("p0/pegs"), {"time.end": 4.5}, output=folder / "pegs.h5")

run = saltus.Run(folder / "pegs.h5")
figure, (above, below) = pyplot.subplots(2, 1, figsize=(9, 6), layout="constrained")
run.plot(ax=above)
run.plot("frames/kinetic", "frames/work_motors", ax=below)
figure.savefig(folder / "pegs.png", dpi=120)

x = run.body("link6")[:, 0]
speed = (x[-1] - x[0]) / run["frames/t"][-1]
print(f"{folder / 'pegs.png'}: link 6 moves at {speed:.5f} m/s; summary: {run.metrics['v1']:.5f}")
assert abs(speed - run.metrics["v1"]) < 1e-9
assert (folder / "pegs.png").stat().st_size > 10_000
