"""Studies: a study file or a direct call, validated, put together with its data, and carried out. Opens no file."""

from kinetix.studies.branching import all_states_of as all_states_of
from kinetix.studies.building import build_problem as build_problem
from kinetix.studies.building import check_study as check_study
from kinetix.studies.building import simulated_times as simulated_times
from kinetix.studies.building import to_be_fitted as to_be_fitted
from kinetix.studies.crossing import cross_check as cross_check
from kinetix.studies.direct import arrhenius_study as arrhenius_study
from kinetix.studies.direct import complete_study as complete_study
from kinetix.studies.direct import direct_study as direct_study
from kinetix.studies.fitting import fit_problem as fit_problem
from kinetix.studies.losses import with_loss as with_loss
from kinetix.studies.problem import Problem as Problem
from kinetix.studies.schema import Study as Study
from kinetix.studies.schema import parse_study as parse_study
from kinetix.studies.searching import FitLimits as FitLimits
from kinetix.studies.simulating import at_times as at_times
from kinetix.studies.simulating import check_problem as check_problem
from kinetix.studies.simulating import describe_problem as describe_problem
from kinetix.studies.simulating import simulate_problem as simulate_problem
from kinetix.studies.starting import Multistart as Multistart
from kinetix.studies.taking import with_values_of as with_values_of
from kinetix.studies.uncertainty import Wanted as Wanted
from kinetix.studies.uncertainty import wanted_of as wanted_of
