"""Physical constants in SI."""

GAS_CONSTANT = 8.31446261815324
"""Molar gas constant R, J/mol/K (CODATA 2018, exact)."""

ZERO_CELSIUS = 273.15
"""0 degC in K (exact)."""

PLAUSIBLE_TEMPERATURES = (150.0, 3000.0)
"""K; outside this range a temperature draws a warning, most often degC typed as K."""
