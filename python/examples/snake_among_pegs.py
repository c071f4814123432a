"""The snake of P0 pushes itself along by pegs: its mean speed between 4.5 s and 9 s."""
import saltus

run = saltus.run(saltus.scene_path("p0/pegs"), {"time.end": 9}, record=False)
v2 = run.metrics["v2"]
print(f"v2 = {v2:.5f} m/s, reference 0.16286 m/s, {run.summary['steps_per_s']:.0f} steps/s")
assert abs(v2 / 0.16286 - 1) < 5e-3
