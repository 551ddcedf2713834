"""Responses written as formulas: conversion, yields, signals, explicit models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import jax

from kinetix.expression import Expression, Symbol, evaluate

Place = tuple[str, int]
"""Where a symbol's value comes from: a vector's name and a position in it."""


@dataclass(frozen=True)
class Formula:
    """An expression with the places of its symbols; static, so that equal formulas compile once.

    Attributes:
        expression: the formula.
        places: by symbol; vectors are `c`, `pressure`, `feed`, `initial`, `rate`, `production`, `constant`, `predictor`,
            `T`, `T_jacket`, `P_total`, `expansion`, `time`, `tau`, `t_on_stream`.
    """

    expression: Expression
    places: tuple[tuple[Symbol, Place], ...]

    def value(self, vectors: Mapping[str, jax.Array]) -> jax.Array:
        """Elementwise over the leading axis (time) of the vectors, whose last axis the places count."""
        places = dict(self.places)

        def lookup(symbol: Symbol) -> jax.Array:
            vector, position = places[symbol]
            return vectors[vector][..., position]

        return evaluate(self.expression, lookup)
