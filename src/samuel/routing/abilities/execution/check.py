"""Check whether an ability can be called with an input in an environment, before anything is written or run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from samuel.base.errors import SamuelError
from samuel.base.printable import shell_word
from samuel.routing.abilities import placeholders
from samuel.routing.abilities.model import Ability, PromptImplementation, ScriptImplementation
from samuel.routing.abilities.schema import violations

_NEGATIVE = re.compile(r"-[0-9.]+(?:[eE][-+]?[0-9]+)?")


class CallRefused(NamedTuple):
    reason: str
    suggestion: str = ""


def implemented(ability: Ability) -> CallRefused | None:
    if ability.implementation is not None:
        return None
    hint = "add `implementation:` to its file, or a file below `.system/registry/config/`"
    return CallRefused(f"`{ability.id}` has no implementation", hint)


def in_environment(ability: Ability, environment: str) -> CallRefused | None:
    """An ability with environments runs in no other, and not where no environment is set."""
    if not ability.environments or environment.casefold() in map(str.casefold, ability.environments):
        return None
    here = f"this is `{environment}`" if environment else "no environment is set"
    named = ", ".join(f"`{name}`" for name in ability.environments)
    settings = "SAMUEL_ENV, or `environment` in ~/.samuel/config.toml or samuel.toml"
    hint = f"set it with `--env {ability.environments[0]}`, {settings}"
    return CallRefused(f"`{ability.id}` is for {named}, and {here}", hint)


def input_of(ability: Ability, value: Any) -> CallRefused | None:
    """Why an input is refused: it violates the schema, or lacks a value that an argument or a prompt needs."""
    see = f"`samuel ability show {shell_word(ability.id)}` shows its input"
    if not isinstance(value, dict):
        return CallRefused("the input must be a JSON object", see)
    if ability.input_schema is not None and (wrong := violations(ability.input_schema, value)):
        return CallRefused(f"the input does not fit: {'; '.join(wrong)}", see)
    try:
        _fill(ability, with_defaults(ability, value))
    except SamuelError as error:
        return CallRefused(error.message, error.hint)
    return None


def with_defaults(ability: Ability, values: Mapping[str, Any]) -> dict[str, Any]:
    """The input with the defaults of its schema, for placeholders. The program itself gets no defaults."""
    properties = (ability.input_schema or {}).get("properties")
    schemas = properties.items() if isinstance(properties, Mapping) else ()
    defaults = {
        name: schema["default"] for name, schema in schemas if isinstance(schema, Mapping) and "default" in schema
    }
    return {**defaults, **values}


def output_of(ability: Ability, output: Any) -> str:
    """How the output violates its schema; "" if it does not."""
    wrong = violations(ability.output_schema, output) if ability.output_schema is not None else []
    return f"its output does not fit: {'; '.join(wrong)}" if wrong else ""


def _fill(ability: Ability, values: Mapping[str, Any]) -> None:
    how = ability.implementation
    texts = how.arguments if isinstance(how, ScriptImplementation) else ()
    if isinstance(how, PromptImplementation):
        texts = (how.prompt,)
    for at, text in enumerate(texts):
        word = placeholders.fill(text, values)
        if "\0" in word:
            raise SamuelError("a value of the input contains a NUL, which no argument can contain")
        if isinstance(how, ScriptImplementation) and "--" not in texts[:at] and _becomes_option(text, word):
            hint = f"in `args_template`, put `--` before `{text}`, or write it like `--name={text}`"
            raise SamuelError(f"the value for `{text}` begins with `-`, and would be taken for an option", hint)


def _becomes_option(template: str, word: str) -> bool:
    """Whether the value, not the template, turns an argument into an option: data must not control the program."""
    return word.startswith("-") and not template.startswith("-") and not _NEGATIVE.fullmatch(word)
