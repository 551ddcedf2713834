"""Where a result comes from."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.experiments import Campaign
from kinetix.results import Condition
from kinetix.studies.problem import Problem


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
    }


def condition_columns(campaign: Campaign) -> dict[str, Condition]:
    """The conditions of a campaign with the units they were written in."""
    return {
        name: Condition(np.asarray(values, dtype=float), campaign.condition_units[name]) for name, values in campaign.conditions.items()
    }
