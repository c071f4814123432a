"""What can go wrong, by type. Everything that Saltus raises itself is a saltus.Error."""
from typing import Any


class Error(Exception):
    """Base of all errors of Saltus."""


class InputError(Error, ValueError):
    """Bad input: a scene, a file, an argument of the wrong shape, a state of another model, NaN.

    The text names the place and what was expected."""


class DivergenceError(Error, ArithmeticError):
    """A step diverged or met a singular mass matrix; the state is left at the last good step.

    Raised by `run`, it carries what there is as `run`."""

    run: Any = None


class UnconvergedError(Error, ArithmeticError):
    """Steps of a run missed the solver's tolerance; `run` is the finished run."""

    run: Any = None


class EnergyError(Error, ArithmeticError):
    """Steps of a run gained energy beyond the bound (docs/energy.md); `run` is the finished run."""

    run: Any = None


class BusyError(Error, RuntimeError):
    """The object is being stepped: in another thread, or by the step that made this callback."""


class SceneWarning(RuntimeWarning):
    """What a run tells of its start, or of a step that is too long for its speeds (`Run.summary["warnings"]`)."""


class UnconvergedWarning(RuntimeWarning):
    """A step missed the solver's tolerance."""
