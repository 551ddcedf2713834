"""kinetix: chemical reaction kinetics on JAX.

Fit rate laws to data, simulate and sweep reactors, call them from process simulators. Names are loaded on first use, so
that `import kinetix` costs little more than JAX itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version

    from kinetix.errors import InputError, KinetixError, KinetixWarning, SolveError
    from kinetix.io import read_csv, read_tree
    from kinetix.network import Network, parse_network
    from kinetix.precision import float64
    from kinetix.simulation import predict
    from kinetix.status import Status
    from kinetix.studies.python import CSTR, Batch, Differential, estimate, fit, problem, simulate
    from kinetix.units import parse_quantity

    __version__ = version("kinetix-chem")

_HOMES = {
    "Batch": "kinetix.studies.python",
    "CSTR": "kinetix.studies.python",
    "Differential": "kinetix.studies.python",
    "InputError": "kinetix.errors",
    "KinetixError": "kinetix.errors",
    "KinetixWarning": "kinetix.errors",
    "Network": "kinetix.network",
    "SolveError": "kinetix.errors",
    "Status": "kinetix.status",
    "estimate": "kinetix.studies.python",
    "fit": "kinetix.studies.python",
    "float64": "kinetix.precision",
    "parse_network": "kinetix.network",
    "parse_quantity": "kinetix.units",
    "predict": "kinetix.simulation",
    "problem": "kinetix.studies.python",
    "read_csv": "kinetix.io",
    "read_tree": "kinetix.io",
    "simulate": "kinetix.studies.python",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("kinetix-chem")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kinetix' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
