"""JSON Schemas of inputs and outputs: whether one is sound, and what a value has against it.

Schemas come with a clone. Their references reach nothing outside of themselves, neither a file nor a network, and
their patterns are matched in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from samuel.abilities.references import at_once

if TYPE_CHECKING:
    from jsonschema_rs import Validator

MOST = 20
"""Violations that are told: nobody reads more."""
MOST_AT_ONCE = 100_000
"""Schemas of one that may look at the same value."""


class InvalidSchema(NamedTuple):
    what: str
    path: tuple[str | int, ...]
    """Where in the schema."""


def unsound(schema: Mapping[str, Any]) -> InvalidSchema | None:
    """What is wrong with a schema; None if nothing is."""
    try:
        _validator(schema)
    except ValueError as error:
        return InvalidSchema(_said(error), tuple(getattr(error, "instance_path", ())))
    return None


def violations(schema: Mapping[str, Any], value: object) -> list[str]:
    """What a value has against a schema, each as `$.path: what`. A schema that is unsound is a violation too."""
    try:
        validator = _validator(schema)
    except ValueError as error:
        return [f"its schema cannot be used: {_said(error)}"]
    try:
        return [f"{_path(one.instance_path)}: {_said(one)}" for one in islice(validator.iter_errors(value), MOST)]
    except ValueError as error:  # what JSON cannot say, or nests without end
        return [f"$: {_said(error)}"]


def _validator(schema: Mapping[str, Any]) -> Validator:
    from jsonschema_rs import RegexOptions, validator_for  # several megabytes, and most commands need none of them

    try:
        many = at_once(schema)
    except RecursionError:
        raise ValueError("its references lead on for too long") from None
    if many > MOST_AT_ONCE:
        raise ValueError(f"its references lead to more than {MOST_AT_ONCE} schemas for one value")
    return validator_for(dict(schema), offline=True, pattern_options=RegexOptions())


def _said(error: ValueError) -> str:
    said = " ".join(str(getattr(error, "message", error)).split())
    return said if len(said) <= 300 else f"{said[:99]}…{said[-200:]}"  # the value comes first, then what is wrong


def _path(path: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
