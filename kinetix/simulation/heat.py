"""The numbers of an energy balance as positions in the vector of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from kinetix.parameters import with_literals
from kinetix.reactors import ALONG, HOLDUP, Heat, Jacket, Lane

Positions = jax.Array | np.ndarray


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["enthalpies", "molar", "volumetric", "exchange", "coolant_flow", "coolant_holdup", "T_ref", "warms"],
    meta_fields=["jacket"],
)
@dataclass(frozen=True)
class HeatBindings:
    """Positions of the numbers of an energy balance in the parameters followed by the literals 0 and 1.

    Attributes:
        enthalpies: (law,) of reaction, in the order of the stacked laws.
        molar: (species,) heat capacities.
        volumetric: heat capacity of the rest of the fluid, or of the whole.
        exchange: UA or UA/V.
        coolant_flow: heat capacity flow of the coolant.
        coolant_holdup: heat capacity of the coolant in the jacket.
        T_ref: temperature at which the enthalpies hold, K.
        warms: 1 where the coolant's flow is given, so that it leaves warmer than it came; 0 where it keeps its temperature.
        jacket: as of `kinetix.reactors.EnergyBalance`.
    """

    enthalpies: Positions
    molar: Positions
    volumetric: Positions
    exchange: Positions
    coolant_flow: Positions
    coolant_holdup: Positions
    T_ref: Positions
    warms: Positions
    jacket: str = ""

    def of(self, parameters: jax.Array, lane: Lane) -> Heat:
        """The heat of one lane, from physical parameter values (parameter,).

        A well-mixed jacket through which the coolant flows has the temperature T_out of its outlet, with
        m cp (T_out - T_in) = UA (T - T_out). Seen from T_in the exchange is then UA/(1 + UA/(m cp)).

        Beside a tube, in the direction of its flow, m cp dT_jacket/dV = UA/V (T - T_jacket); with Q = V/tau that is a jacket without flow
        in the coordinate tau, which holds m cp/Q.
        """
        numbers = with_literals(parameters)
        UA, flow, per = numbers[self.exchange], numbers[self.coolant_flow], lane["exchange_per"]
        jacket, exchange = None, UA * per
        if self.jacket == HOLDUP:
            jacket = Jacket(lane["T_jacket_initial"], flow * per, numbers[self.coolant_holdup] * per)
        elif self.jacket == ALONG:
            jacket = Jacket(lane["T_coolant"], jnp.zeros_like(per), flow * per * lane["tau"])
        else:
            exchange = exchange / (1.0 + self.warms * UA / flow)
        return Heat(
            start=lane["T_start"],
            enthalpies=numbers[self.enthalpies],
            molar=numbers[self.molar],
            volumetric=numbers[self.volumetric],
            T_ref=jnp.asarray(self.T_ref),
            exchange=exchange,
            coolant=lane["T_coolant"],
            feed=lane.get("T_feed", lane["T_start"]),
            jacket=jacket,
        )
