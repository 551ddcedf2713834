"""One seam from parameters and conditions to predicted responses, used by fits, sweeps and simulators."""

from kinetix.simulation.diagnosis import Diagnosis as Diagnosis
from kinetix.simulation.diagnosis import diagnose as diagnose
from kinetix.simulation.formulas import Formula as Formula
from kinetix.simulation.heat import HeatBindings as HeatBindings
from kinetix.simulation.methods import METHODS as METHODS
from kinetix.simulation.methods import check_method as check_method
from kinetix.simulation.methods import compare as compare
from kinetix.simulation.model import Model as Model
from kinetix.simulation.model import Prediction as Prediction
from kinetix.simulation.model import cores as cores
from kinetix.simulation.model import predict as predict
from kinetix.simulation.model import respond as respond
from kinetix.simulation.multiplicity import ALONG as ALONG
from kinetix.simulation.multiplicity import TIME_ON as TIME_ON
from kinetix.simulation.multiplicity import Branches as Branches
from kinetix.simulation.multiplicity import branches as branches
from kinetix.simulation.spoken import Choice as Choice
from kinetix.simulation.spoken import ExplicitModel as ExplicitModel
from kinetix.simulation.spoken import ReactorModel as ReactorModel
from kinetix.simulation.spoken import Spoken as Spoken
from kinetix.simulation.spoken import all_responses as all_responses
from kinetix.simulation.spoken import amount_conditions as amount_conditions
from kinetix.simulation.spoken import explicit_model as explicit_model
from kinetix.simulation.spoken import measured_responses as measured_responses
