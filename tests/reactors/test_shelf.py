"""What every reactor on the shelf promises."""

import numpy as np
import pytest
from jax import numpy as jnp
from jax import vmap

from kinetix.reactors import REACTORS
from kinetix.status import Status
from tests.reactors.contents import filled, solved, thermal

pytestmark = pytest.mark.usefixtures("x64")

LANES = {
    "cstr": {"times": [0.0], "T": 350.0, "tau": 60.0, "feed": filled(1000.0, 0.0)},
    "batch": {"times": [0.0, 30.0], "T": 350.0, "initial": filled(1000.0, 0.0)},
    "plug_flow": {"times": [0.0], "T": 350.0, "tau": 60.0, "feed": filled(1000.0, 0.0)},
    "transient_cstr": {"times": [0.0, 30.0], "T": 350.0, "tau": 60.0, "feed": filled(1000.0, 0.0), "initial": filled(0.0, 0.0)},
    "semibatch": {
        "times": [0.0, 30.0],
        "T": 350.0,
        "dilution": 0.01,
        "feed_stop": 20.0,
        "feed": filled(0.0, 10.0),
        "initial": filled(1000.0, 0.0),
    },
    "differential": {"times": [0.0], "T": 350.0, "concentrations": filled(1000.0, 0.0)},
}
"""A good lane of each; a new book adds its own."""

AMOUNTS = {
    "cstr": "feed",
    "plug_flow": "feed",
    "transient_cstr": "feed",
    "semibatch": "initial",
    "batch": "initial",
    "differential": "concentrations",
}


def test_every_book_is_tried_here():
    assert set(REACTORS) == set(LANES) == set(AMOUNTS)


@pytest.mark.parametrize("reactor", REACTORS.values(), ids=REACTORS)
def test_shapes(reactor):
    lane = LANES[reactor.name]
    states = solved(reactor, "A -> B", thermal((0.01, 60e3)), **lane)
    times = len(lane["times"])
    assert states.c.shape == (times, 4) and states.c.dtype == np.float64
    assert states.T.shape == (times,)
    assert states.constants.shape == (times, 1)
    assert Status(int(states.status)).ok
    assert states.steps.shape == ()
    assert float(states.t_reached) == (lane["times"][-1] if reactor.timed else 0.0)


@pytest.mark.parametrize("reactor", REACTORS.values(), ids=REACTORS)
@pytest.mark.parametrize("spoiled", ["amounts", "T"])
def test_a_lane_that_is_not_finite_has_a_status_and_no_number(reactor, spoiled):
    name = AMOUNTS[reactor.name] if spoiled == "amounts" else "T"
    lane = {**LANES[reactor.name], name: LANES[reactor.name][name] * np.nan}
    states = solved(reactor, "A -> B", thermal((0.01, 60e3)), **lane)
    if reactor.measures_rates and spoiled == "T":
        assert np.isnan(states.constants).all()
    else:
        assert Status(int(states.status)) is Status.NON_FINITE
        assert np.isnan(states.c).any()


@pytest.mark.parametrize("reactor", REACTORS.values(), ids=REACTORS)
def test_a_failed_lane_leaves_its_neighbours_alone(reactor):
    lane = {name: jnp.asarray(value, float) for name, value in LANES[reactor.name].items()}
    name = AMOUNTS[reactor.name]
    alone = solved(reactor, "A -> B", thermal((0.01, 60e3)), **lane).c
    both = vmap(lambda amounts: solved(reactor, "A -> B", thermal((0.01, 60e3)), **{**lane, name: amounts}).c)(
        jnp.stack([lane[name], lane[name] * np.nan])
    )
    np.testing.assert_allclose(both[0], alone, rtol=1e-12)
    assert np.isnan(both[1]).any()
