"""Unit text <-> SI factor and dimension, in the dialect of chemists.

The everyday units are in a small table (`symbols`), checked against pint symbol by symbol in the tests; any other unit name is looked up in
pint, which is imported only then (it costs 0.3 to 0.5 s). The grammar of compounds is kinetix's own in both cases:

    L/mol/s    mol L-1 s-1    cm^3/mol/s    m³·h⁻¹    L^0.5 mol^-0.5 s^-1    J/(mol K)    1/min    °C    %    -

What can be read in two ways is refused: `J/mol K` (is K below the line?), `C` (coulomb or Celsius?), a number other than 1 in a unit.
"""

from kinetix.units.dimensions import (
    AMOUNT,
    AREA,
    CONCENTRATION,
    CURRENT,
    DENSITY,
    DIMENSIONLESS,
    ENERGY,
    FLOW,
    LENGTH,
    LUMINOSITY,
    MASS,
    MOLAR_ENERGY,
    MOLAR_FLOW,
    MOLAR_HEAT_CAPACITY,
    POWER,
    PRESSURE,
    RATE,
    TEMPERATURE,
    TIME,
    VOLUME,
    Dimension,
    example_unit,
)
from kinetix.units.quantities import Quantity, parse_quantity, require
from kinetix.units.text import Unit, apart_from, parse_unit, si_unit, time_unit_of

__all__ = [
    "AMOUNT",
    "AREA",
    "CONCENTRATION",
    "CURRENT",
    "DENSITY",
    "DIMENSIONLESS",
    "ENERGY",
    "FLOW",
    "LENGTH",
    "LUMINOSITY",
    "MASS",
    "MOLAR_ENERGY",
    "MOLAR_FLOW",
    "MOLAR_HEAT_CAPACITY",
    "POWER",
    "PRESSURE",
    "RATE",
    "TEMPERATURE",
    "TIME",
    "VOLUME",
    "Dimension",
    "Quantity",
    "Unit",
    "apart_from",
    "example_unit",
    "parse_quantity",
    "parse_unit",
    "require",
    "si_unit",
    "time_unit_of",
]
