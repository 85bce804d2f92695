"""The arguments of a recipe: declared in its front matter, passed as `--arg name=value`.

    arguments:                        arguments:
      branch:                           - name: branch
        description: What to review       description: What to review
        default: main                     default: main

An argument without a default is required, unless it says `required: false`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from samuel.base.errors import UsageError
from samuel.base.nearest import did_you_mean
from samuel.prompts.prompt_context import PromptContext

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words of the template language, and the names that every template sees.
TAKEN = frozenset(
    (
        *("self", "true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else"),
        *PromptContext.__struct_fields__,
    )
)


class Argument(NamedTuple):
    name: str
    description: str = ""
    default: Any = None
    required: bool = True


def read_arguments(arguments: Any, defaults: Any) -> tuple[Argument, ...] | None:
    """The arguments that a front matter declares; None if it declares none. ValueError with what is wrong."""
    if arguments is None and defaults is None:
        return None
    result = [_argument(name, declaration) for name, declaration in _pairs(arguments)]
    names = [argument.name for argument in result]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"`arguments` has `{twice}` twice")
    if not isinstance(defaults, dict | None):
        raise ValueError("`defaults` must be a mapping of names to values")
    values = defaults or {}
    result = [
        argument._replace(default=values[argument.name], required=False) if argument.name in values else argument
        for argument in result
    ]
    return (*result, *(_argument(name, {"default": values[name]}) for name in values if name not in names))


def fill_arguments(
    arguments: Iterable[Argument] | None, values: Mapping[str, str], used: Collection[str], recipe: str
) -> dict[str, Any]:
    """The value of each argument; UsageError for an argument that is missing or unknown.

    A recipe that declares none takes the names that its text uses; rendering reports those that have no value.
    """
    if arguments is None:
        _refuse_unknown(values, sorted(name for name in used if name not in TAKEN), recipe)
        return dict(values)
    declared = list(arguments)
    _refuse_unknown(values, [argument.name for argument in declared], recipe)
    if missing := [argument for argument in declared if argument.required and argument.name not in values]:
        listed = "; ".join(
            f"`{argument.name}`: {argument.description}" if argument.description else f"`{argument.name}`"
            for argument in missing
        )
        what = "an argument that was" if len(missing) == 1 else "arguments that were"
        example = " ".join(f"--arg {argument.name}=..." for argument in missing)
        raise UsageError(f"the recipe `{recipe}` needs {what} not given: {listed}", f"add `{example}`")
    return {
        argument.name: values.get(argument.name, "" if argument.default is None else argument.default)
        for argument in declared
    }


def _refuse_unknown(names: Iterable[str], valid_names: list[str], recipe: str) -> None:
    for name in names:
        if name not in valid_names:
            listed = ", ".join(f"`{valid}`" for valid in valid_names)
            hint = did_you_mean(name, valid_names, f"it takes {listed or 'none'}")
            raise UsageError(f"the recipe `{recipe}` has no argument `{name}`", hint)


def _pairs(arguments: Any) -> list[tuple[Any, Any]]:
    if arguments is None:
        return []
    if isinstance(arguments, dict):
        return list(arguments.items())
    if isinstance(arguments, list):
        return [
            (argument.get("name"), argument) if isinstance(argument, dict) else (argument, {})
            for argument in arguments
        ]
    raise ValueError("`arguments` must be a mapping or a list")


def _argument(name: Any, declaration: Any) -> Argument:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid argument name; use letters, digits and underscores")
    if name in TAKEN:
        raise ValueError(f"an argument cannot be named `{name}`: templates use that name already")
    if isinstance(declaration, str):
        declaration = {"description": declaration}
    if not isinstance(declaration, dict | None):
        raise ValueError(f"`{name}` must be a mapping with `description`, `default` or `required`")
    declaration = declaration or {}
    default, required = declaration.get("default"), declaration.get("required")
    if not isinstance(required, bool | None):
        raise ValueError(f"`required` of `{name}` must be true or false, not {required!r}")
    return Argument(
        name, str(declaration.get("description") or ""), default, default is None if required is None else required
    )
