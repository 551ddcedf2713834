"""The transpose of a straight-line program of scalars that is linear in some of its inputs.

Run from the last instruction to the first, each hands what its result counts for to its operands. So the adjoint of a step is read from its
tangent, formula by formula, and costs about as much: products with structural zeros are left out, and a solve with L and U becomes one with
their transposes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from jax import lax

from kinetix.solvers.scalars import Builder, Instruction, Known, NotScalar, ScalarProgram, is_zero, recorded


def transposed(program: ScalarProgram, linear: int) -> ScalarProgram:
    """The program from cotangents of the outputs, and the inputs behind the linear ones, to cotangents of the linear inputs.

    Args:
        program: linear in its first inputs.
        linear: how many these are.

    Raises:
        NotScalar: it is not linear in them.
    """

    def function(x: list[Any]) -> list[Any]:
        builder: Builder = x[0].builder
        cotangents, given = x[: len(program.outputs)], x[len(program.outputs) :]
        values: dict[int, Any] = dict(enumerate(given, linear))
        first = len(program.inputs)

        def value(operand: Any) -> Any:
            return operand.number if isinstance(operand, Known) else values[operand]

        moving = set(range(linear))
        for number, step in enumerate(program.instructions, first):
            if any(operand in moving for operand in step.operands if not isinstance(operand, Known)):
                moving.add(number)
            else:
                operands = tuple(map(value, step.operands))
                values[number] = builder.apply(step.primitive, operands, dict(step.params), step.types, step.dtype)
        totals: dict[int, Any] = {}

        def add(number: int, cotangent: Any) -> None:
            totals[number] = totals[number] + cotangent if number in totals else cotangent

        for output, cotangent in zip(program.outputs, cotangents, strict=True):
            if not isinstance(output, Known) and output in moving:
                add(output, cotangent)
        for number, step in reversed(list(enumerate(program.instructions, first))):
            if number in totals and not is_zero(totals[number]):
                for place, cotangent in _shared(builder, step, [_is_moving(x, moving) for x in step.operands], value, totals[number]):
                    add(step.operands[place], cotangent)
        zeros = [np.zeros((), dtype)[()] for dtype in program.inputs[:linear]]
        return [totals.get(number, zero) for number, zero in enumerate(zeros)]

    return recorded(function, [*program.types, *program.inputs[linear:]])


def _is_moving(operand: Any, moving: set[int]) -> bool:
    return not isinstance(operand, Known) and operand in moving


def _shared(builder: Builder, step: Instruction, moves: list[bool], value: Any, cotangent: Any) -> Iterator[tuple[int, Any]]:
    """The operands of an instruction that move, by their places, each with what the cotangent of the result makes of it."""
    name, operands = step.primitive.name, step.operands
    places = [place for place, is_moved in enumerate(moves) if is_moved]
    match name:
        case "add" | "add_any":
            yield from ((place, cotangent) for place in places)
        case "sub":
            yield from ((place, -cotangent if place else cotangent) for place in places)
        case "neg":
            yield 0, -cotangent
        case "mul" if len(places) == 1:
            yield places[0], cotangent * value(operands[1 - places[0]])
        case "div" if places == [0]:
            yield 0, cotangent / value(operands[1])
        case "select_n" if not moves[0]:
            for place in places:
                cases = tuple(cotangent if i == place else 0.0 for i in range(1, len(operands)))
                types = (step.types[0], *[step.dtype] * len(cases))
                yield place, builder.apply(lax.select_n_p, (value(operands[0]), *cases), dict(step.params), types, step.dtype)
        case "convert_element_type":
            params = dict(step.params) | {"new_dtype": step.types[0]}
            yield 0, builder.apply(step.primitive, (cotangent,), params, (step.dtype,), step.types[0])
        case _:
            raise NotScalar(f"'{name}' is not linear in what moves")
