"""The shelf of reactors: one file each, composed from balances and an energy rule."""

from kinetix.reactors.batch import BATCH as BATCH
from kinetix.reactors.cstr import CSTR as CSTR
from kinetix.reactors.differential import DIFFERENTIAL as DIFFERENTIAL
from kinetix.reactors.energy import ALONG as ALONG
from kinetix.reactors.energy import EXCHANGES as EXCHANGES
from kinetix.reactors.energy import HOLDUP as HOLDUP
from kinetix.reactors.energy import EnergyBalance as EnergyBalance
from kinetix.reactors.energy import Heat as Heat
from kinetix.reactors.energy import Jacket as Jacket
from kinetix.reactors.plug_flow import PLUG_FLOW as PLUG_FLOW
from kinetix.reactors.posed import Inside as Inside
from kinetix.reactors.posed import Integrated as Integrated
from kinetix.reactors.posed import Posed as Posed
from kinetix.reactors.reactor import Fluid as Fluid
from kinetix.reactors.reactor import Lane as Lane
from kinetix.reactors.reactor import Reactor as Reactor
from kinetix.reactors.reactor import Rest as Rest
from kinetix.reactors.reactor import States as States
from kinetix.reactors.semibatch import SEMIBATCH as SEMIBATCH
from kinetix.reactors.transient_cstr import TRANSIENT_CSTR as TRANSIENT_CSTR

REACTORS = {reactor.name: reactor for reactor in (BATCH, CSTR, TRANSIENT_CSTR, PLUG_FLOW, SEMIBATCH, DIFFERENTIAL)}
"""Reactors by the name used in study files."""
