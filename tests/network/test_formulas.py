"""Names that are formulas, and names that are not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kinetix.errors import ReactionError
from kinetix.network.formulas import ELEMENTS, parse_formula


@pytest.mark.parametrize(
    ("name", "elements", "charge"),
    [
        ("H2O", {"H": 2, "O": 1}, 0),
        ("CO", {"C": 1, "O": 1}, 0),
        ("Co", {"Co": 1}, 0),
        ("CH3COOH", {"C": 2, "H": 4, "O": 2}, 0),
        ("D2O", {"D": 2, "O": 1}, 0),
        ("Ca(OH)2", {"Ca": 1, "O": 2, "H": 2}, 0),
        ("(CH3)2CO", {"C": 3, "H": 6, "O": 1}, 0),
        ("Fe4(Fe(CN)6)3", {"Fe": 7, "C": 18, "N": 18}, 0),
        ("(NH4)2SO4(aq)", {"N": 2, "H": 8, "S": 1, "O": 4}, 0),
        ("CuSO4·5H2O", {"Cu": 1, "S": 1, "O": 9, "H": 10}, 0),
        ("CuSO4.5H2O(s)", {"Cu": 1, "S": 1, "O": 9, "H": 10}, 0),
        ("CaSO4.0.5H2O", {"Ca": 1, "S": 1, "O": Fraction(9, 2), "H": 1}, 0),
        ("NH3.HCl", {"N": 1, "H": 4, "Cl": 1}, 0),
        ("CH1.8O0.5N0.2", {"C": 1, "H": Fraction(9, 5), "O": Fraction(1, 2), "N": Fraction(1, 5)}, 0),
        ("CH3.", {"C": 1, "H": 3}, 0),
        ("Na+", {"Na": 1}, 1),
        ("Na+(aq)", {"Na": 1}, 1),
        ("SO4--", {"S": 1, "O": 4}, -2),
        ("SO4-2", {"S": 1, "O": 4}, -2),
        ("SO4^2-", {"S": 1, "O": 4}, -2),
        ("NH4+", {"N": 1, "H": 4}, 1),
        ("Fe+3", {"Fe": 1}, 3),
        ("Fe+++", {"Fe": 1}, 3),
        ("Fe3+", {"Fe": 3}, 1),
        ("OH^-", {"O": 1, "H": 1}, -1),
        ("e-", {}, -1),
        ("*", {"*": 1}, 0),
        ("CO*", {"C": 1, "O": 1, "*": 1}, 0),
        ("O2**", {"O": 2, "*": 2}, 0),
        ("H2O(g)", {"H": 2, "O": 1}, 0),
    ],
)
def test_reads_elements_and_charge(name: str, elements: dict[str, int | Fraction], charge: int) -> None:
    formula = parse_formula(name)
    assert dict(formula.elements) == elements
    assert formula.charge == charge


@pytest.mark.parametrize(
    "name", ["A", "E", "solvent", "n-C4H10", "AR", "M", "hv", "A*", "X2", "r", "H0", "C()", "(CO", "CO)", "Q(OH)2", "e", "T", "A'"]
)
def test_labels_are_no_formulas(name: str) -> None:
    with pytest.raises(ReactionError, match="is no formula"):
        parse_formula(name)


def test_upper_case_symbol_has_a_suggestion() -> None:
    with pytest.raises(ReactionError, match="Did you mean 'Ar'"):
        parse_formula("AR")


def test_all_elements() -> None:
    assert len(ELEMENTS) == 118
    assert all(parse_formula(symbol).atoms == 1 for symbol in ELEMENTS)


def test_atoms_leave_out_sites() -> None:
    assert parse_formula("CO*").atoms == 2
    assert parse_formula("*").atoms == 0


def test_same_composition_as_cantera() -> None:
    cantera = pytest.importorskip("cantera")
    for species in cantera.Solution("gri30.yaml").species():
        if species.name not in ("AR", "CH2(S)"):
            name = species.name
            assert dict(parse_formula(name).elements) == species.composition, name
