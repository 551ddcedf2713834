"""The shelf of rate laws: one file each, one elementwise formula each.

| book | law |
|---|---|
| `mass_action` | r = k prod [i]^n_i with the reactant coefficients |
| `power_law` | r = k prod ([i]/c_ref)^n_i with any orders |
| `reversible` | r = kf prod [reactants] - kr prod [products], or with K = kf/kr |
| `free` | any expression of concentrations, partial pressures, T and constants |
| `function` | any Python function of them |
| `deactivation` | any of them times the activity of a catalyst over its time on stream |
| `langmuir_hinshelwood`, `eley_rideal`, `mars_van_krevelen` | surface reactions |
| `michaelis_menten`, `hill` | enzymes |

Surfaces and enzymes are written in the expression grammar: one formula that is evaluated, differentiated, printed and checked for units.
`arrhenius` gives every constant its temperature dependence; `basis` says what rates are per, and of which amounts.
"""

from kinetix.rates import eley_rideal, hill, langmuir_hinshelwood, mars_van_krevelen, michaelis_menten
from kinetix.rates.arrhenius import Thermal as Thermal
from kinetix.rates.arrhenius import constants_at as constants_at
from kinetix.rates.basis import AMOUNTS as AMOUNTS
from kinetix.rates.basis import BASES as BASES
from kinetix.rates.basis import VOLUME_BASIS as VOLUME_BASIS
from kinetix.rates.basis import Basis as Basis
from kinetix.rates.book import Book as Book
from kinetix.rates.deactivation import deactivating as deactivating
from kinetix.rates.function import FunctionLaw as FunctionLaw
from kinetix.rates.function import law as law
from kinetix.rates.law import ON_STREAM as ON_STREAM
from kinetix.rates.law import Constant as Constant
from kinetix.rates.law import Law as Law

BOOKS = {book.name: book for book in (m.BOOK for m in (langmuir_hinshelwood, eley_rideal, mars_van_krevelen, michaelis_menten, hill))}
"""Named rate laws, by the name used in study files."""
