"""Parameters: names, starts, bounds, scales; free coordinates and physical values; the constants they stand for."""

from kinetix.parameters.book import ConstantBook as ConstantBook
from kinetix.parameters.constants import FROM_LANE as FROM_LANE
from kinetix.parameters.constants import BoundConstant as BoundConstant
from kinetix.parameters.constants import ConstantBindings as ConstantBindings
from kinetix.parameters.constants import Derivable as Derivable
from kinetix.parameters.constants import DerivedEntropy as DerivedEntropy
from kinetix.parameters.constants import DerivedFactor as DerivedFactor
from kinetix.parameters.constants import bindings as bindings
from kinetix.parameters.constants import with_literals as with_literals
from kinetix.parameters.reporting import Reporting as Reporting
from kinetix.parameters.specification import Estimate as Estimate
from kinetix.parameters.specification import Number as Number
from kinetix.parameters.specification import Prior as Prior
from kinetix.parameters.specification import TemperatureLaw as TemperatureLaw
from kinetix.parameters.specification import unit_of as unit_of
from kinetix.parameters.table import Belief as Belief
from kinetix.parameters.table import Coordinates as Coordinates
from kinetix.parameters.table import Parameter as Parameter
from kinetix.parameters.table import ParameterTable as ParameterTable
from kinetix.parameters.table import parameter as parameter
