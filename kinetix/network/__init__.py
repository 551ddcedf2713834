"""Reaction networks: from text to species, reactions and stoichiometry, and to rate laws as arrays."""

from kinetix.network.attainable import corners as corners
from kinetix.network.attainable import mixtures as mixtures
from kinetix.network.kinetics import FixedKinetics as FixedKinetics
from kinetix.network.kinetics import Kinetics as Kinetics
from kinetix.network.kinetics import production as production
from kinetix.network.kinetics import production_jacobian as production_jacobian
from kinetix.network.kinetics import rates as rates
from kinetix.network.kinetics import rates_jacobian as rates_jacobian
from kinetix.network.kinetics import stack_laws as stack_laws
from kinetix.network.network import Network as Network
from kinetix.network.network import check_balance as check_balance
from kinetix.network.network import conserved_totals as conserved_totals
from kinetix.network.network import parse_network as parse_network
from kinetix.network.reactions import Reaction as Reaction
from kinetix.network.reactions import parse_reaction as parse_reaction
