"""Absolute tolerances of an integration: each species from the amounts that it can have in its experiment."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetix.errors import ParameterError, nearest
from kinetix.network import Network, conserved_totals

SHARE = 1e-3
"""Absolute tolerance over rtol times the scale of a species: what is a thousandth of its scale still has the relative tolerance."""

TRACE = 1e-6
"""Scale of a species that is not there at first, over the most that conserved totals allow. An intermediate stays far below that: a
radical of a billionth of it (`SHARE` times `TRACE`) is still followed to the relative tolerance. 1e-9 was tried as well: it costs up to a
quarter more steps again and gains nothing above that amount."""

FEW = 30
"""Species up to which conserved totals, which are exact and take seconds from some sixty on, are asked for."""


def scales(network: Network, amounts: list[np.ndarray], estimated: np.ndarray) -> np.ndarray:
    """The amount against which errors of each species are judged near zero, mol/m^3, (lane, species).

    What is fed or there at first counts with that amount, what only forms with `TRACE` of the most that can form: the smallest of
    w . c/w_i over the conserved totals w without negative coefficients. Where there is none, and in networks of more than `FEW` species,
    it is the largest amount of the experiment.

    Args:
        network: of n species.
        amounts: feed and initial concentrations, (lane, species), species padded.
        estimated: whether a species' amount is a parameter, and so not known here, (species,).
    """
    n, size = len(network.species), amounts[0].shape
    own = np.max(amounts, axis=0)
    overall = float(own.max(initial=0.0)) or 1.0
    largest = own.max(axis=1, keepdims=True)
    largest = np.where(largest > 0, largest, overall)
    most = np.full(size, np.inf)
    for _, total in conserved_totals(network) if n <= FEW else []:
        members = np.flatnonzero(total)
        if (total >= 0).all() and not estimated[members].any():
            held = np.max([amount[:, :n] @ total for amount in amounts], axis=0)
            most[:, members] = np.minimum(most[:, members], held[:, None] / total[members])
    most = np.where(np.isfinite(most) & (most > 0), most, largest)
    scale = np.maximum(own, TRACE * most)
    scale[:, estimated] = np.broadcast_to(largest, size)[:, estimated]
    scale[:, n:] = largest
    return scale


def absolute_tolerances(
    network: Network, amounts: list[np.ndarray], estimated: np.ndarray, rtol: float, atol: float | Mapping[str, float] | None
) -> np.ndarray:
    """Absolute tolerances, mol/m^3, (lane, species), species padded.

    Args:
        network, amounts, estimated: as of `scales`.
        rtol: relative tolerance.
        atol: as the user wants them, mol/m^3: of all species, or of some by name; None: rtol/1000 of their scales.

    Raises:
        ParameterError: a name that is no species.
    """
    if isinstance(atol, (int, float)):
        return np.full(amounts[0].shape, float(atol))
    found = SHARE * rtol * scales(network, amounts, estimated)
    unknown = [name for name in atol or {} if name not in network.species]
    if unknown:
        raise ParameterError(
            f"atol: '{unknown[0]}' is no species (known: {', '.join(network.species)}).{nearest(unknown[0], network.species)}"
        )
    for name, value in (atol or {}).items():
        found[:, network.species.index(name)] = value
    return found
