"""The shelf of rate laws: one file each, one elementwise formula each.

| book | law |
|---|---|
| `mass_action` | r = k prod [i]^n_i with the reactant coefficients |
| `power_law` | r = k prod ([i]/c_ref)^n_i with any orders |
| `reversible` | r = kf prod [reactants] - kr prod [products], or with K = kf/kr |
| `free` | any expression of concentrations, T and constants |

`arrhenius` gives every constant its temperature dependence.
"""

from kinetix.rates.arrhenius import Thermal as Thermal
from kinetix.rates.arrhenius import constants_at as constants_at
from kinetix.rates.law import Constant as Constant
from kinetix.rates.law import Law as Law
