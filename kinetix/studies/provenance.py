"""Where a result comes from."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.experiments import Campaign
from kinetix.results import Condition
from kinetix.studies.problem import Problem

REFERENCE_TEMPERATURES = "reference_temperatures"
"""Attribute of a result: the temperature at which each constant that depends on temperature is stated."""


def provenance(problem: Problem) -> dict[str, str]:
    """Versions, device, precision and data of a result."""
    import kinetix

    return {
        "kinetix_version": kinetix.__version__,
        "jax_version": jax.__version__,
        "device": str(next(iter(jnp.zeros(()).devices())).device_kind),  # the one in force, not JAX's first
        "dtype": "float64",
        "data_hash": problem.campaign.data_hash,
        "seed": "none: no random numbers were used",
        **_reference_temperatures(problem),
    }


def _reference_temperatures(problem: Problem) -> dict[str, str]:
    referred = [c for c in problem.constants if c.thermal and c.inverse_T_ref]
    return {REFERENCE_TEMPERATURES: "; ".join(f"{c.name} {c.T_ref!r} K" for c in referred)} if referred else {}


def read_reference_temperatures(text: str) -> dict[str, float]:
    """Temperatures in K by constant, from the attribute of a result.

    >>> read_reference_temperatures("r1.k 350.0 K; r2.k 351.5 K")
    {'r1.k': 350.0, 'r2.k': 351.5}
    """
    return {name: float(T) for name, T, _ in (part.rsplit(maxsplit=2) for part in text.split("; ") if part)}


def condition_columns(campaign: Campaign) -> dict[str, Condition]:
    """The conditions of a campaign with the units they were written in."""
    return {
        name: Condition(np.asarray(values, dtype=float), campaign.condition_units[name]) for name, values in campaign.conditions.items()
    }
