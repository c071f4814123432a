"""Many runs of a scene: sweeps and optimisation, from one core to a cluster (docs/studies.md)."""
from .cluster import ClusterWarning
from .optimisers import Setting
from .session import Result, optimise, sweep
from .study import Study, read
