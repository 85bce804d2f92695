"""Check JSON Schemas of inputs and outputs, and values against them.

Schemas come with a clone. Their references reach nothing outside of themselves, neither a file nor a network, and
their patterns are matched in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from samuel.routing.abilities.references import schemas_per_value

if TYPE_CHECKING:
    from jsonschema_rs import Validator

MOST = 20
"""Violations that are reported."""
MOST_AT_ONCE = 100_000
"""Subschemas that may apply to one value."""


class InvalidSchema(NamedTuple):
    what: str
    path: tuple[str | int, ...]
    """The place in the schema."""


def check_schema(schema: Mapping[str, Any]) -> InvalidSchema | None:
    """The first problem of a schema; None if it is valid."""
    try:
        _validator(schema)
    except ValueError as error:
        return InvalidSchema(_message(error), tuple(getattr(error, "instance_path", ())))
    return None


def violations(schema: Mapping[str, Any], value: object) -> list[str]:
    """How a value violates a schema, each as `$.path: what`. An invalid schema is a violation too."""
    try:
        validator = _validator(schema)
    except ValueError as error:
        return [f"its schema cannot be used: {_message(error)}"]
    try:
        return [
            f"{_path(violation.instance_path)}: {_message(violation)}"
            for violation in islice(validator.iter_errors(value), MOST)
        ]
    except ValueError as error:  # not expressible in JSON, or nested too deeply
        return [f"$: {_message(error)}"]


def _validator(schema: Mapping[str, Any]) -> Validator:
    from jsonschema_rs import RegexOptions, validator_for  # several megabytes that most commands do not need

    try:
        many = schemas_per_value(schema)
    except RecursionError:
        raise ValueError("its references are nested too deeply") from None
    if many > MOST_AT_ONCE:
        raise ValueError(f"its references lead to more than {MOST_AT_ONCE} schemas for one value")
    return validator_for(dict(schema), offline=True, pattern_options=RegexOptions())


def _message(error: ValueError) -> str:
    message = " ".join(str(getattr(error, "message", error)).split())
    return (
        message if len(message) <= 300 else f"{message[:99]}…{message[-200:]}"
    )  # the value comes first, then the problem


def _path(path: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
