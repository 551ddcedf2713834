"""A table of rate constants over temperature: where its fit starts, and ln A with Ea as one pair."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetix.analyses.covariance import propagate
from kinetix.constants import GAS_CONSTANT
from kinetix.errors import DataError
from kinetix.experiments import Campaign, Table, Vocabulary, build_campaign
from kinetix.results import FitFacts
from kinetix.units import TEMPERATURE


def arrhenius_starts(
    table: Table, columns: Mapping[str, str] | None = None, *, constant: str = "k", at: str | None = None, ignore: Collection[str] = ()
) -> dict[str, Any]:
    """Starts of k and Ea for `arrhenius_study`: the straight line of ln k over 1/T, by ordinary least squares.

    ln k = ln k_ref - Ea/R (1/T - 1/T_ref) is linear in ln k_ref and Ea, so that the line is already the answer where ln k has
    equal weights, and close to it otherwise.

    Args:
        table: the table as read.
        columns: as in the study file.
        constant: name of the constant's column.
        ignore: headers of columns to pass over.
        at: the reference temperature as text; default: the harmonic mean of the temperatures.

    Returns:
        `{"k": {"start": ...}, "Ea": {"start": ...}}`, with `at` where it was given.

    Raises:
        DataError: a table that cannot be used, fewer than two temperatures, a constant that is not above zero.

    >>> from kinetix.experiments import parse_table
    >>> arrhenius_starts(parse_table("T [K],k [1/s]\\n300,1\\n320,4\\n340,13\\n", "k.csv"), at="320 K")
    {'k': {'start': '3.93747 1/s', 'scale': 'log'}, 'Ea': {'start': '54.4026 kJ/mol'}, 'at': '320 K'}
    """
    campaign = build_campaign([table], Vocabulary((), {constant: None}, {"T": TEMPERATURE}), columns=columns, ignore=ignore)
    used = campaign.mask[:, 0, 0]
    k, unit = campaign.values[used, 0, 0], campaign.responses[0].unit
    if "T" not in campaign.conditions:
        raise DataError(f'{table.source}: no temperature. Add a column such as "T [degC]", or say which it is: --column "T=theta [degC]".')
    if (k <= 0).any():
        line = int(campaign.lines[used, 0][np.argmin(k)])
        raise DataError(f"{table.source}, line {line}: {constant} is not above 0, so it has no logarithm.")
    T = campaign.conditions["T"][used]
    if len(np.unique(T)) < 2:
        raise DataError(f"{table.source}: {constant} at one temperature only; Ea needs two at least.")
    T_ref = _kelvin(at) if at is not None else float(1 / np.mean(1 / T))
    slope, log_k_ref = np.polyfit(1 / T - 1 / T_ref, np.log(k), 1)
    return {
        "k": {"start": f"{float(unit.scale_from_si(np.exp(log_k_ref))):.6g} {unit.text}", "scale": "log"},
        "Ea": {"start": f"{-slope * GAS_CONSTANT / 1000:.6g} kJ/mol"},
        **({"at": at} if at is not None else {}),
    }


@dataclass(frozen=True, eq=False)
class ArrheniusPair:
    """ln A and Ea of k = A exp(-Ea/(R T)) with their joint covariance.

    Attributes:
        unit: of A and k.
        T_ref: K, where k_ref holds.
        log_A: ln of A in `unit`.
        Ea: J/mol.
        covariance: (2, 2) of (ln A, Ea), Ea in J/mol; NaN where there is none.
        correlation_at_reference: of ln k_ref and Ea, which is what a fit should see: near 0 where T_ref is well chosen.
    """

    unit: str
    T_ref: float
    log_A: float
    Ea: float
    covariance: np.ndarray
    correlation_at_reference: float

    @property
    def correlation(self) -> float:
        """Of ln A and Ea; near 1, because A is k extrapolated to infinite temperature."""
        return float(self.covariance[0, 1] / np.sqrt(self.covariance[0, 0] * self.covariance[1, 1]))

    def as_dict(self) -> dict[str, Any]:
        """For summary.json; None where there is no number."""
        covariance = [[float(x) if np.isfinite(x) else None for x in row] for row in self.covariance]
        correlation = self.correlation
        return {
            "T_ref": {"value": self.T_ref, "unit": "K"},
            "ln_A": {"value": self.log_A, "stderr": _error(self.covariance[0, 0]), "unit_of_A": self.unit},
            "Ea": {"value": self.Ea, "stderr": _error(self.covariance[1, 1]), "unit": "J/mol"},
            "covariance_of_ln_A_and_Ea": covariance,
            "correlation_of_ln_A_and_Ea": correlation if np.isfinite(correlation) else None,
        }

    def __str__(self) -> str:
        (a, b), (_, c) = self.covariance
        at_reference = round(self.correlation_at_reference, 4) + 0.0  # no -0
        return "\n".join(
            [
                f"k = A exp(-Ea/(R T)), A in {self.unit}",
                f"  ln A          {self.log_A:.6g}, standard error {np.sqrt(a):.2g}",
                f"  Ea            {self.Ea / 1000:.6g} kJ/mol, standard error {np.sqrt(c) / 1000:.2g} kJ/mol",
                f"  covariance    [[{a:.5g}, {b:.5g} J/mol], [{b:.5g} J/mol, {c:.5g} (J/mol)^2]] of ln A and Ea",
                f"  correlation   {self.correlation:.6f} of ln A and Ea; {at_reference:g} of ln k and Ea at T_ref",
                f"  T_ref         {self.T_ref:.6g} K",
            ]
        )


def arrhenius_pair(facts: FitFacts, T_ref: float, name: str = "k") -> ArrheniusPair:
    """ln A = ln k_ref + Ea/(R T_ref) and Ea, from the fit of a study of `arrhenius_study`.

    Args:
        facts: the fit.
        T_ref: its reference temperature, K.
        name: of the constant.
    """
    i, j = (facts.parameter_names.index(f"{name}.{part}") for part in ("k_ref", "Ea"))
    k, Ea, unit = facts.values_si[i], facts.values_si[j], facts.units[i]
    to_pair = np.array([[1 / k, 1 / (GAS_CONSTANT * T_ref)], [0.0, 1.0]])
    covariance = propagate(to_pair, facts.covariance_si[np.ix_([i, j], [i, j])])
    log_A = float(np.log(unit.scale_from_si(k)) + Ea / (GAS_CONSTANT * T_ref))
    return ArrheniusPair(unit.text, T_ref, log_A, float(Ea), covariance, float(facts.correlation[i, j]))


def with_measured_constants(facts: FitFacts, campaign: Campaign) -> FitFacts:
    """The fit with the measured constants as points of its Arrhenius curve."""
    used = campaign.mask[:, 0, 0]
    points = [
        np.stack([campaign.conditions["T"][used], np.asarray(curve.unit.scale_from_si(campaign.values[used, 0, 0]))], axis=1)
        for curve in facts.arrhenius
    ]
    return replace(facts, arrhenius=tuple(replace(curve, points=p) for curve, p in zip(facts.arrhenius, points, strict=True)))


def _error(variance: float) -> float | None:
    return float(np.sqrt(variance)) if np.isfinite(variance) else None


def _kelvin(text: str) -> float:
    from kinetix.studies.numbers import parse_temperature

    return parse_temperature(text, "the reference temperature")
