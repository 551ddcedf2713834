"""The summary for machines: the promised keys, plain types, no NaN."""

import json
from dataclasses import replace

import numpy as np

from kinetix.report import summary
from kinetix.results import fit_tree
from kinetix.status import Status
from tests.results.examples import single_facts, steady_facts, timed_facts


def strict_json(found: dict) -> dict:
    return json.loads(json.dumps(found, allow_nan=False))


def test_the_promised_keys_and_values():
    facts = timed_facts()
    found = summary(fit_tree(facts))
    assert found["converged"] is True
    assert found["status"] == "success"
    assert found["objective"] == facts.ssr
    assert (found["n_observations"], found["n_parameters"]) == (31, 2)
    k = found["parameters"]["r1.k_ref"]
    assert set(k) == {"value", "unit", "stderr", "lower95", "upper95", "fixed", "at_bound", "note"}
    np.testing.assert_allclose(
        [k["value"], k["stderr"], k["lower95"]], np.array([facts.values_si[0], facts.stderr_si[0], facts.interval_si[0, 0]]) * 60
    )
    assert (k["unit"], k["fixed"], k["at_bound"]) == ("1/min", False, None)
    assert found["derived"]["r1.A"]["note"] == "from ln A"
    assert found["sigma_meaning"] == "estimated"
    np.testing.assert_allclose(found["correlation"]["r1.k_ref"]["r1.Ea"], facts.correlation[0, 1])
    assert found["statistics"]["r_squared"].keys() == {"A", "B"}
    assert found["provenance"]["study_text"] == 'schema = 1\ntitle = "A → B"\n'
    assert found["version"] == "0.1.0"
    assert found["warnings"] == []
    assert strict_json(found) == found


def test_what_does_not_exist_is_null():
    found = strict_json(summary(fit_tree(steady_facts())))
    assert found["parameters"]["r1.Ea"] == {
        "value": 60.0,
        "stderr": None,
        "lower95": None,
        "upper95": None,
        "unit": "kJ/mol",
        "fixed": True,
        "at_bound": None,
        "note": "",
    }
    assert found["parameters"]["r1.K"]["at_bound"] == "upper"
    assert found["statistics"]["condition_number"] is None
    assert found["correlation"] == {"r1.k_ref": {"r1.k_ref": 1.0}}
    assert found["derived"] == {}
    assert len(found["warnings"]) == 1


def test_a_failed_fit_is_not_called_converged():
    facts = replace(single_facts(), status=Status.NOT_MOVED, experiment_status=(Status.NON_FINITE,))
    found = strict_json(summary(fit_tree(facts)))
    assert found["converged"] is False
    assert found["status"] == "not moved"
    assert found["failed_experiments"] == ["run 1"]
