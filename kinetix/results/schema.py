"""The one table of every variable in a result: group, name, dimensions, unit rule, meaning.

`tree` writes no variable that is not listed here, and takes dimensions and `long_name` from here. Unit rules:

| rule | `units` attribute |
|---|---|
| any unit text | that text; "1" is dimensionless |
| `parameter`, `other_parameter`, `derived`, `response`, `constant` | the common unit, or "see coordinate ..." where the members differ |
| `1/response` | reciprocal of the response's unit |
| `product` | products of the parameters' units |
| `objective`, `objective^2` | "1" where sigma was given, else the responses' common unit (and its square) |
| `time`, `condition` | as the data gave it |
| `species`, `temperature` | the common unit, or "see coordinate ..."; as a temperature was given |
| `along` | the unit of the condition along which curves go |
| `1/loading` | reciprocal of the unit of the residence time, or of W/Q where rates are per catalyst mass |
| `label` | none: text, flags and codes |
"""

from __future__ import annotations

from dataclasses import dataclass

from kinetix.units import Unit


@dataclass(frozen=True)
class Variable:
    """One row of the table. `name` is `*` in /conditions, where every condition gives its own name."""

    group: str
    name: str
    dims: tuple[str, ...]
    unit: str
    meaning: str


_P = ("parameter",)
_PP = ("parameter", "other_parameter")
_D = ("derived",)
_S = ("start",)
_O = ("optimum",)
_SM = ("state", "mode")
_ETR = ("experiment", "time", "response")
_M = ("model",)
_MV = ("model", "reading")
_MF = ("model", "fold")
_N = ("pair",)

VARIABLES: tuple[Variable, ...] = (
    Variable("parameters", "parameter", _P, "label", "parameter"),
    Variable("parameters", "unit", _P, "label", "unit of the parameter"),
    Variable("parameters", "value", _P, "parameter", "estimate"),
    Variable("parameters", "stderr", _P, "parameter", "standard error; NaN where fixed, on a bound or not determined"),
    Variable("parameters", "lower95", _P, "parameter", "lower end of the 95 % interval"),
    Variable("parameters", "upper95", _P, "parameter", "upper end of the 95 % interval"),
    Variable("parameters", "start", _P, "parameter", "value at the start of the fit"),
    Variable("parameters", "lower_bound", _P, "parameter", "lower bound"),
    Variable("parameters", "upper_bound", _P, "parameter", "upper bound"),
    Variable("parameters", "fixed", _P, "label", "whether the parameter was kept at its value"),
    Variable("parameters", "at_bound", _P, "label", "the bound on which the estimate lies: lower, upper or empty"),
    Variable("parameters", "scale", _P, "label", "scale in which it was fitted: log or linear"),
    Variable("parameters", "note", _P, "label", "what must be known to use it: the temperature at which it holds, or empty"),
    Variable("parameters", "derived", _D, "label", "quantity that follows from the parameters"),
    Variable("parameters", "derived_unit", _D, "label", "unit of the derived quantity"),
    Variable("parameters", "derived_value", _D, "derived", "value of the derived quantity"),
    Variable("parameters", "derived_stderr", _D, "derived", "standard error of the derived quantity, propagated with the joint covariance"),
    Variable("parameters", "derived_lower95", _D, "derived", "lower end of its 95 % interval"),
    Variable("parameters", "derived_upper95", _D, "derived", "upper end of its 95 % interval"),
    Variable("parameters", "derived_note", _D, "label", "how it was derived"),
    Variable("covariance", "parameter", _P, "label", "parameter"),
    Variable("covariance", "other_parameter", ("other_parameter",), "label", "parameter, second axis"),
    Variable("covariance", "covariance", _PP, "product", "joint covariance of the estimates; NaN rows where there is no ordinary error"),
    Variable("covariance", "correlation", _PP, "1", "correlation of the estimates"),
    Variable("predictions", "experiment", ("experiment",), "label", "experiment"),
    Variable("predictions", "response", ("response",), "label", "measured response"),
    Variable("predictions", "unit", ("response",), "label", "unit of the response"),
    Variable("predictions", "t", ("experiment", "time"), "time", "time"),
    Variable("predictions", "observed", _ETR, "response", "measured value"),
    Variable("predictions", "predicted", _ETR, "response", "value predicted with the estimates"),
    Variable("predictions", "sigma", _ETR, "response", "standard deviation of the measured value, given or estimated with the parameters"),
    Variable("predictions", "weight", _ETR, "1/response", "weight of the residual in the objective: 1/sigma, or 1 where no sigma is given"),
    Variable("predictions", "residual", _ETR, "response", "observed - predicted"),
    Variable("predictions", "weighted_residual", _ETR, "objective", "observed - predicted, weighted as in the objective"),
    Variable("predictions", "robust_weight", _ETR, "1", "how much the value counts beside one in least squares, psi(r)/r of a robust loss"),
    Variable("predictions", "measured", _ETR, "label", "whether the value was measured and used"),
    Variable("predictions", "status", ("experiment",), "label", "how the simulation of the experiment ended"),
    Variable("predictions", "steps", ("experiment",), "1", "solver steps of the experiment"),
    Variable("predictions", "t_reached", ("experiment",), "time", "time up to which the experiment could be followed"),
    Variable("predictions", "why", ("experiment",), "label", "why its integration failed: row, species, reaction; empty where it did not"),
    Variable("conditions", "experiment", ("experiment",), "label", "experiment"),
    Variable("conditions", "*", ("experiment",), "condition", "condition of the experiment"),
    Variable("statistics", "response", ("response",), "label", "measured response"),
    Variable(
        "statistics",
        "ssr",
        (),
        "objective^2",
        "objective: sum of squared weighted residuals, as a robust loss transforms them where there is one",
    ),
    Variable(
        "statistics",
        "s",
        (),
        "objective",
        "estimated standard deviation of the weighted residuals (a factor on sigma where sigma is given)",
    ),
    Variable(
        "statistics", "robust_scale", (), "objective", "standard deviation of the weighted residuals that a robust loss was used with"
    ),
    Variable("statistics", "log_likelihood", (), "1", "ln of the likelihood, values in the units of the data"),
    Variable("statistics", "sigma_bias", (), "1", "about the factor by which estimated standard deviations come out too small"),
    Variable("statistics", "replicate_points", (), "1", "points (equal conditions and time) that were measured more than once"),
    Variable("statistics", "replicate_values", (), "1", "values at these points"),
    Variable("statistics", "pure_error", (), "objective", "standard deviation between replicates"),
    Variable("statistics", "pure_error_dof", (), "1", "its degrees of freedom"),
    Variable("statistics", "lack_of_fit_dof", (), "1", "degrees of freedom of the lack of fit"),
    Variable("statistics", "lack_of_fit_F", (), "1", "mean square of the lack of fit over that of the pure error"),
    Variable("statistics", "lack_of_fit_p", (), "1", "probability of an F at least this large if the model is right"),
    Variable("statistics", "chi_square", (), "1", "chi-square of the residuals over the given sigma"),
    Variable("statistics", "reduced_chi_square", (), "1", "chi-square per degree of freedom"),
    Variable("statistics", "p_value", (), "1", "probability of a chi-square at least this large if model and sigma are right"),
    Variable("statistics", "dof", (), "1", "degrees of freedom"),
    Variable("statistics", "n_observations", (), "1", "number of measured values used"),
    Variable("statistics", "n_parameters", (), "1", "number of estimated parameters"),
    Variable("statistics", "r_squared", ("response",), "1", "coefficient of determination"),
    Variable("statistics", "rank", (), "1", "numerical rank of the residual Jacobian"),
    Variable("statistics", "condition_number", (), "1", "condition number of the scaled residual Jacobian"),
    Variable("statistics", "iterations", (), "1", "iterations of the estimator"),
    Variable("statistics", "evaluations", (), "1", "evaluations of the model"),
    Variable("iterations", "ssr", ("iteration",), "objective^2", "objective after each iteration"),
    Variable("starts", "start", _S, "label", "number of the start; 0 is the given one, or the best that the data told"),
    Variable("starts", "parameter", _P, "label", "estimated parameter"),
    Variable("starts", "unit", _P, "label", "unit of the parameter"),
    Variable("starts", "origin", _S, "label", "where the start comes from: given, data (found in them) or spread (over the ranges)"),
    Variable("starts", "start_value", ("start", "parameter"), "parameter", "value at the start"),
    Variable("starts", "end_value", ("start", "parameter"), "parameter", "value at the end of the search; NaN where it could not begin"),
    Variable("starts", "start_objective", _S, "objective^2", "objective at the start; NaN where it could not be simulated"),
    Variable("starts", "objective", _S, "objective^2", "objective at the end of the search"),
    Variable("starts", "status", _S, "label", "how the search ended"),
    Variable("starts", "iterations", _S, "1", "iterations of the search"),
    Variable("starts", "reached", _S, "label", "the optimum that was reached; -1 where the search gave no answer"),
    Variable("starts", "optimum", _O, "label", "number of the optimum; 0 is the one that is reported"),
    Variable("starts", "optimum_value", ("optimum", "parameter"), "parameter", "value at the optimum"),
    Variable("starts", "optimum_objective", _O, "objective^2", "objective at the optimum"),
    Variable("starts", "optimum_starts", _O, "1", "starts that reached the optimum"),
    Variable("starts", "optimum_as_good", _O, "label", "whether the optimum is as good as the one that is reported"),
    Variable(
        "starts", "optimum_note", _O, "label", "how the optimum follows from the reported one: what is exchanged or mirrored, or empty"
    ),
    Variable("likelihood", "parameter", _P, "label", "profiled parameter"),
    Variable("likelihood", "unit", _P, "label", "unit of the parameter"),
    Variable("likelihood", "other_parameter", ("other_parameter",), "label", "parameter, second axis"),
    Variable("likelihood", "value", ("parameter", "point"), "parameter", "value at which the parameter was held"),
    Variable(
        "likelihood", "path", ("parameter", "point", "other_parameter"), "other_parameter", "values of all parameters along the profile"
    ),
    Variable("likelihood", "tau", ("parameter", "point"), "1", "signed root of the excess of the objective over s^2"),
    Variable("likelihood", "objective", ("parameter", "point"), "objective^2", "objective with all others refitted"),
    Variable("likelihood", "lower95", _P, "parameter", "lower end of the 95 % profile interval; the last value tried where it has none"),
    Variable("likelihood", "upper95", _P, "parameter", "upper end of the 95 % profile interval; the last value tried where it has none"),
    Variable("likelihood", "lower_end", _P, "label", "how the lower side ended: crossed, bound, open, failed or stopped"),
    Variable("likelihood", "upper_end", _P, "label", "how the upper side ended: crossed, bound, open, failed or stopped"),
    Variable("bootstrap", "parameter", _P, "label", "estimated parameter"),
    Variable("bootstrap", "unit", _P, "label", "unit of the parameter"),
    Variable("bootstrap", "draw_value", ("draw", "parameter"), "parameter", "estimate of the drawn data set; NaN where there is no answer"),
    Variable("bootstrap", "objective", ("draw",), "objective^2", "objective of the drawn data set"),
    Variable("bootstrap", "status", ("draw",), "label", "how the refit ended"),
    Variable("bootstrap", "mean", _P, "parameter", "mean of the estimates"),
    Variable("bootstrap", "stderr", _P, "parameter", "standard deviation of the estimates"),
    Variable("bootstrap", "lower95", _P, "parameter", "2.5 % of the estimates lie below"),
    Variable("bootstrap", "upper95", _P, "parameter", "2.5 % of the estimates lie above"),
    Variable("influence", "left_out", ("left_out",), "label", "experiment, or time of a single experiment, that was left out"),
    Variable("influence", "parameter", _P, "label", "estimated parameter"),
    Variable("influence", "unit", _P, "label", "unit of the parameter"),
    Variable("influence", "value", ("left_out", "parameter"), "parameter", "estimate without it; NaN where there is no answer"),
    Variable("influence", "shift", ("left_out", "parameter"), "1", "change of the estimate in its standard errors"),
    Variable("influence", "distance", ("left_out",), "1", "change of all estimates in units of their joint 95 % region: 1 is its edge"),
    Variable("influence", "status", ("left_out",), "label", "how the refit ended"),
    Variable("simulation", "experiment", ("experiment",), "label", "experiment"),
    Variable("simulation", "response", ("response",), "label", "simulated response"),
    Variable("simulation", "unit", ("response",), "label", "unit of the response"),
    Variable("simulation", "t", ("experiment", "time"), "time", "time"),
    Variable("simulation", "predicted", _ETR, "response", "simulated value; NaN where the solve failed"),
    Variable("simulation", "status", ("experiment",), "label", "how the simulation of the experiment ended"),
    Variable("simulation", "steps", ("experiment",), "1", "solver steps of the experiment"),
    Variable("simulation", "t_reached", ("experiment",), "time", "time up to which the experiment could be followed"),
    Variable("simulation", "why", ("experiment",), "label", "why its integration failed: row, species, reaction; empty where it did not"),
    Variable("states", "experiment", ("experiment",), "label", "experiment"),
    Variable("states", "species", ("species",), "label", "species"),
    Variable("states", "species_unit", ("species",), "label", "unit of the concentration"),
    Variable("states", "response", ("response",), "label", "response that is a formula"),
    Variable("states", "unit", ("response",), "label", "unit of the response"),
    Variable("states", "wanted", ("experiment",), "along", "value of the condition along which the curves go"),
    Variable("states", "feed_status", ("experiment",), "label", "how following the tank from the feed in time ended"),
    Variable("states", "starts", ("experiment",), "1", "starts from which states were looked for, beside the curves"),
    Variable("states", "starts_converged", ("experiment",), "1", "starts that led to a state"),
    Variable("states", "state_experiment", ("state",), "label", "experiment of the state"),
    Variable("states", "concentration", ("state", "species"), "species", "concentration at the steady state; NaN where it failed"),
    Variable("states", "T", ("state",), "temperature", "temperature at the steady state"),
    Variable("states", "predicted", ("state", "response"), "response", "response at the steady state"),
    Variable("states", "stable", ("state",), "label", "whether every small disturbance decays"),
    Variable("states", "reached_from_feed", ("state",), "label", "whether a tank full of feed comes to this state in time"),
    Variable("states", "eigenvalue_real", _SM, "1/loading", "real part of the eigenvalue: growth of a disturbance, largest first"),
    Variable("states", "eigenvalue_imag", _SM, "1/loading", "imaginary part of the eigenvalue: angular frequency of an oscillation"),
    Variable("states", "residual", ("state",), "1", "largest balance relative to the size of its terms"),
    Variable("states", "status", ("state",), "label", "how the search for the state ended"),
    Variable("states", "curve_experiment", ("curve",), "label", "experiment of the curve"),
    Variable("states", "curve_closed", ("curve",), "label", "whether the curve is closed (an isola)"),
    Variable("states", "curve_status", ("curve",), "label", "how following the curve ended"),
    Variable("states", "point_experiment", ("point",), "label", "experiment of the point"),
    Variable("states", "point_curve", ("point",), "label", "curve of the point, counted from 0"),
    Variable("states", "point_along", ("point",), "along", "condition along the curve"),
    Variable("states", "point_concentration", ("point", "species"), "species", "concentration along the curve"),
    Variable("states", "point_T", ("point",), "temperature", "temperature along the curve"),
    Variable("states", "point_predicted", ("point", "response"), "response", "response along the curve"),
    Variable("states", "point_stable", ("point",), "label", "whether the point of the curve is a stable state"),
    Variable("states", "point_kind", ("point",), "label", "fold, hopf or branch at a special point of the curve, else empty"),
    Variable("profiles", "experiment", ("experiment",), "label", "experiment"),
    Variable("profiles", "response", ("response",), "label", "measured response"),
    Variable("profiles", "unit", ("response",), "label", "unit of the response"),
    Variable("profiles", "t", ("experiment", "time"), "time", "time"),
    Variable("profiles", "predicted", _ETR, "response", "value predicted with the estimates, on a fine grid"),
    Variable("arrhenius", "constant", ("constant",), "label", "rate constant"),
    Variable("arrhenius", "unit", ("constant",), "label", "unit of the rate constant"),
    Variable("arrhenius", "T", ("constant", "temperature"), "K", "temperature"),
    Variable("arrhenius", "k", ("constant", "temperature"), "constant", "rate constant"),
    Variable("arrhenius", "lower95", ("constant", "temperature"), "constant", "lower end of its 95 % band"),
    Variable("arrhenius", "upper95", ("constant", "temperature"), "constant", "upper end of its 95 % band"),
    Variable("arrhenius", "point_T", ("constant", "point"), "K", "temperature of a measured rate constant"),
    Variable("arrhenius", "point_k", ("constant", "point"), "constant", "measured rate constant"),
    Variable("models", "model", _M, "label", "model that is compared"),
    Variable("models", "title", _M, "label", "what its study calls itself"),
    Variable("models", "status", _M, "label", "how its fit ended"),
    Variable("models", "n_parameters", _M, "1", "number of estimated parameters"),
    Variable("models", "n_counted", _M, "1", "parameters that the criteria count: one more where sigma is scaled or estimated"),
    Variable("models", "ssr", _M, "objective^2", "objective: sum of squared weighted residuals (chi-square where sigma is trusted)"),
    Variable(
        "models", "s", _M, "objective", "estimated standard deviation of the weighted residuals (a factor on sigma where sigma is given)"
    ),
    Variable("models", "p_value", _M, "1", "probability of a chi-square at least this large if model and sigma are right"),
    Variable("models", "log_likelihood", _M, "1", "logarithm of the likelihood at the estimates, normal errors"),
    Variable("models", "aic", _M, "1", "information criterion of Akaike"),
    Variable("models", "aicc", _M, "1", "the same, corrected for few observations; NaN where the model is left out of the ranking"),
    Variable("models", "delta", _M, "1", "AICc above that of the best model"),
    Variable("models", "weight", _M, "1", "Akaike weight: share of the relative likelihoods exp(-delta/2)"),
    Variable("models", "bic", _M, "1", "information criterion of Schwarz"),
    Variable("models", "rank", _M, "label", "place by AICc, from 1 on; 0 where the model is left out"),
    Variable("models", "n_warnings", _M, "1", "warnings of the fit, which stand in its own result"),
    Variable("models", "why", _M, "label", "why the model is left out of the ranking, or empty"),
    Variable(
        "models", "prediction_error", _M, "objective", "root of the mean squared weighted error of what the cross-validation predicted"
    ),
    Variable("values", "model", _M, "label", "model that is compared"),
    Variable("values", "value_experiment", ("reading",), "label", "experiment of the measured value"),
    Variable("values", "value_response", ("reading",), "label", "measured response"),
    Variable("values", "value_unit", ("reading",), "label", "unit of the response"),
    Variable("values", "t", ("reading",), "time", "time of the measured value"),
    Variable("values", "observed", ("reading",), "response", "measured value"),
    Variable("values", "predicted", _MV, "response", "value predicted with the estimates of the model"),
    Variable("values", "standardised", _MV, "1", "observed - predicted over the standard deviation: sigma, s sigma, or s"),
    Variable("nested", "smaller", _N, "label", "model that is a special case of the other, as was declared"),
    Variable("nested", "larger", _N, "label", "model that has more parameters"),
    Variable("nested", "kind", _N, "label", "F (extra sum of squares), or likelihood ratio where sigma is trusted"),
    Variable("nested", "statistic", _N, "1", "F, or the difference of the chi-squares"),
    Variable("nested", "more", _N, "1", "parameters that the larger model has more"),
    Variable("nested", "dof", _N, "1", "degrees of freedom of the larger model, of F"),
    Variable("nested", "p_value", _N, "1", "probability of a statistic at least this large if the smaller model is right"),
    Variable("nested", "why", _N, "label", "why there is no test, or empty"),
    Variable("cross_validation", "model", _M, "label", "model that is compared"),
    Variable("cross_validation", "experiment", ("experiment",), "label", "experiment with measured values"),
    Variable("cross_validation", "fold_of", ("experiment",), "label", "fold with which the experiment was left out, from 0 on"),
    Variable("cross_validation", "fold_values", ("fold",), "1", "measured values of the fold"),
    Variable(
        "cross_validation",
        "prediction_ssr",
        _MF,
        "objective^2",
        "sum of squared weighted errors of the predictions of the fold, by a fit without it; NaN where that failed",
    ),
    Variable("cross_validation", "status", _MF, "label", "how the fit without the fold ended, or else its prediction"),
    Variable("cross_validation", "why", _MF, "label", "why there is no prediction of the fold, or empty"),
)

ATTRIBUTES: dict[str, str] = {
    "title": "what the study calls itself",
    "converged": "1 where the fit ended well, else 0",
    "status": "status code of the fit",
    "status_label": "status of the fit in words",
    "message": "why the estimator stopped",
    "verdict": "the fit in one to three sentences",
    "sigma_meaning": "trusted, scaled, estimated (from the residuals) or modelled (estimated with the parameters)",
    "loss": "the robust loss that was minimised, with its numbers; empty for least squares",
    "errors": "the formula of the standard errors where it is not that of least squares",
    "warnings": "reasons to doubt the fit, one per line",
    "priors": "what was known of parameters before, one per line",
    "null_directions": "what the data do not determine, one sentence per line",
    "notes": "what was recognised in the input, one per line",
    "model": "what was fitted, one per line, columns separated by tabs",
    "supplement": "what a command adds below the report",
}
"""Attributes of the root that describe the fit; all others are provenance."""

_BY_NAME = {(variable.group, variable.name): variable for variable in VARIABLES}


def variable(group: str, name: str) -> Variable:
    """The row for `name` in `group`.

    >>> variable("predictions", "observed").dims
    ('experiment', 'time', 'response')
    """
    return _BY_NAME[group, name]


def unit_text(unit: Unit) -> str:
    """The text under which a unit is reported: as written, "1" where dimensionless."""
    return "1" if unit.text in ("", "-", "1") else unit.text
