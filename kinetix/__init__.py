"""kinetix: chemical reaction kinetics on JAX.

Fit rate laws to data, simulate and sweep reactors, call them from process simulators. Names are loaded on first use, so
that `import kinetix` costs little more than JAX itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version

    from kinetix.errors import InputError as InputError
    from kinetix.errors import KinetixError as KinetixError
    from kinetix.errors import KinetixWarning as KinetixWarning
    from kinetix.errors import SolveError as SolveError
    from kinetix.io import read_candidate as read_candidate
    from kinetix.io import read_csv as read_csv
    from kinetix.io import read_tree as read_tree
    from kinetix.io import write_report as write_report
    from kinetix.network import Network as Network
    from kinetix.network import parse_network as parse_network
    from kinetix.plots import figures as figures
    from kinetix.precision import float64 as float64
    from kinetix.rates import law as law
    from kinetix.report import text_report as text_report
    from kinetix.simulation import predict as predict
    from kinetix.status import Status as Status
    from kinetix.studies.comparing import compare as compare
    from kinetix.studies.python import candidate as candidate
    from kinetix.studies.python import estimate as estimate
    from kinetix.studies.python import fit as fit
    from kinetix.studies.python import problem as problem
    from kinetix.studies.python import simulate as simulate
    from kinetix.studies.python import steady_branches as steady_branches
    from kinetix.studies.setups import CSTR as CSTR
    from kinetix.studies.setups import Batch as Batch
    from kinetix.studies.setups import Differential as Differential
    from kinetix.studies.setups import PlugFlow as PlugFlow
    from kinetix.studies.setups import Semibatch as Semibatch
    from kinetix.studies.setups import TransientCSTR as TransientCSTR
    from kinetix.units import parse_quantity as parse_quantity

    __version__ = version("kinetix-chem")

_HOMES = {
    "Batch": "kinetix.studies.setups",
    "CSTR": "kinetix.studies.setups",
    "Differential": "kinetix.studies.setups",
    "InputError": "kinetix.errors",
    "KinetixError": "kinetix.errors",
    "KinetixWarning": "kinetix.errors",
    "Network": "kinetix.network",
    "PlugFlow": "kinetix.studies.setups",
    "Semibatch": "kinetix.studies.setups",
    "SolveError": "kinetix.errors",
    "Status": "kinetix.status",
    "TransientCSTR": "kinetix.studies.setups",
    "candidate": "kinetix.studies.python",
    "compare": "kinetix.studies.comparing",
    "estimate": "kinetix.studies.python",
    "figures": "kinetix.plots",
    "fit": "kinetix.studies.python",
    "float64": "kinetix.precision",
    "law": "kinetix.rates",
    "parse_network": "kinetix.network",
    "parse_quantity": "kinetix.units",
    "predict": "kinetix.simulation",
    "problem": "kinetix.studies.python",
    "read_candidate": "kinetix.io",
    "read_csv": "kinetix.io",
    "read_tree": "kinetix.io",
    "simulate": "kinetix.studies.python",
    "steady_branches": "kinetix.studies.python",
    "text_report": "kinetix.report",
    "write_report": "kinetix.io",
}

__all__ = [*_HOMES, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("kinetix-chem")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kinetix' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
