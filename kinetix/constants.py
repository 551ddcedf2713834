"""Physical constants in SI."""

GAS_CONSTANT = 8.31446261815324
"""Molar gas constant R, J/mol/K (CODATA 2018, exact)."""

BOLTZMANN_CONSTANT = 1.380649e-23
"""kB, J/K (CODATA 2018, exact)."""

PLANCK_CONSTANT = 6.62607015e-34
"""h, J s (CODATA 2018, exact)."""

ZERO_CELSIUS = 273.15
"""0 degC in K (exact)."""

PLAUSIBLE_TEMPERATURES = (150.0, 3000.0)
"""K; outside this range a temperature draws a warning, most often degC typed as K."""
