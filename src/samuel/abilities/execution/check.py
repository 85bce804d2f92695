"""May an ability be called with this input, here and now? The answer before anything is written or run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from samuel.abilities import placeholders
from samuel.abilities.model import Ability, PromptImplementation, ScriptImplementation
from samuel.abilities.schema import violations
from samuel.errors import SamuelError

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
    """An ability that names its environments runs in no other, and not where nobody said which one this is."""
    if not ability.environments or environment.casefold() in map(str.casefold, ability.environments):
        return None
    here = f"this is `{environment}`" if environment else "no environment is set"
    named = ", ".join(f"`{one}`" for one in ability.environments)
    how = (
        f"`--env {ability.environments[0]}`, SAMUEL_ENV, or `environment` in ~/.samuel/config.toml or samuel.toml"
    )
    return CallRefused(f"`{ability.id}` is for {named}, and {here}", f"{how} says which it is")


def input_of(ability: Ability, given: Any) -> CallRefused | None:
    """What the input has against its schema, or lacks for the arguments of the script."""
    see = f"`samuel ability show {ability.id}` shows its input"
    if not isinstance(given, dict):
        return CallRefused("the input must be a JSON object", see)
    if ability.input_schema is not None and (wrong := violations(ability.input_schema, given)):
        return CallRefused(f"the input does not fit: {'; '.join(wrong)}", see)
    try:
        _fill(ability, with_defaults(ability, given))
    except SamuelError as error:
        return CallRefused(error.message, error.hint)
    return None


def with_defaults(ability: Ability, given: Mapping[str, Any]) -> dict[str, Any]:
    """The input with the defaults of its schema, for placeholders: the program itself gets what was given."""
    properties = (ability.input_schema or {}).get("properties")
    known = properties.items() if isinstance(properties, Mapping) else ()
    defaults = {name: one["default"] for name, one in known if isinstance(one, Mapping) and "default" in one}
    return {**defaults, **given}


def output_of(ability: Ability, output: Any) -> str:
    """What the output has against its schema; "" if nothing."""
    wrong = violations(ability.output_schema, output) if ability.output_schema is not None else []
    return f"its output does not fit: {'; '.join(wrong)}" if wrong else ""


def _fill(ability: Ability, values: Mapping[str, Any]) -> None:
    how = ability.implementation
    texts = (
        how.arguments
        if isinstance(how, ScriptImplementation)
        else (how.prompt,)
        if isinstance(how, PromptImplementation)
        else ()
    )
    for at, text in enumerate(texts):
        word = placeholders.fill(text, values)
        if "\0" in word:
            raise SamuelError("a value of the input has a NUL in it, which no argument can carry")
        if isinstance(how, ScriptImplementation) and "--" not in texts[:at] and _is_made_option(text, word):
            hint = f"in `args_template`, put `--` before `{text}`, or write it like `--name={text}`"
            raise SamuelError(f"the value for `{text}` begins with `-`, and would be taken for an option", hint)


def _is_made_option(template: str, word: str) -> bool:
    """Whether a value, and not the template, makes an option of it: what is data must not steer the program."""
    return word.startswith("-") and not template.startswith("-") and not _NEGATIVE.fullmatch(word)
