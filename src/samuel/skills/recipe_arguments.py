"""What a recipe wants to be told: declared in its front matter, given as `--arg name=value`.

    arguments:                        arguments:
      branch:                           - name: branch
        description: What to review       description: What to review
        default: main                     default: main

An argument without a default must be given, unless it says `required: false`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from samuel.errors import UsageError
from samuel.nearest import did_you_mean
from samuel.prompts.prompt_context import PromptContext

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words of the template language, and the names that a template sees anyway.
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


def declared(arguments: Any, defaults: Any) -> tuple[Argument, ...] | None:
    """What a front matter says of them; None if it says nothing. ValueError with what is wrong."""
    if arguments is None and defaults is None:
        return None
    found = [_argument(name, said) for name, said in _pairs(arguments)]
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"`arguments` has `{twice}` twice")
    if not isinstance(defaults, dict | None):
        raise ValueError("`defaults` must be a mapping of names to values")
    given = defaults or {}
    found = [one._replace(default=given[one.name], required=False) if one.name in given else one for one in found]
    return (*found, *(_argument(name, {"default": given[name]}) for name in given if name not in names))


def filled(
    arguments: Iterable[Argument] | None, given: Mapping[str, str], used: Collection[str], recipe: str
) -> dict[str, Any]:
    """The value of each argument; UsageError for one that is missing or that the recipe does not have.

    A recipe that declares none has those that its text uses: a name that is left out is found when it is rendered.
    """
    if arguments is None:
        _refuse_unknown(given, sorted(name for name in used if name not in TAKEN), recipe)
        return dict(given)
    wanted = list(arguments)
    _refuse_unknown(given, [one.name for one in wanted], recipe)
    if missing := [one for one in wanted if one.required and one.name not in given]:
        told = "; ".join(
            f"`{one.name}`: {one.description}" if one.description else f"`{one.name}`" for one in missing
        )
        what = "an argument that was" if len(missing) == 1 else "arguments that were"
        example = " ".join(f"--arg {one.name}=..." for one in missing)
        raise UsageError(f"the recipe `{recipe}` needs {what} not given: {told}", f"add `{example}`")
    return {one.name: given.get(one.name, "" if one.default is None else one.default) for one in wanted}


def _refuse_unknown(given: Iterable[str], known: list[str], recipe: str) -> None:
    for name in given:
        if name not in known:
            listed = ", ".join(f"`{one}`" for one in known)
            hint = did_you_mean(name, known, f"it takes {listed or 'none'}")
            raise UsageError(f"the recipe `{recipe}` has no argument `{name}`", hint)


def _pairs(arguments: Any) -> list[tuple[Any, Any]]:
    if arguments is None:
        return []
    if isinstance(arguments, dict):
        return list(arguments.items())
    if isinstance(arguments, list):
        return [(one.get("name"), one) if isinstance(one, dict) else (one, {}) for one in arguments]
    raise ValueError("`arguments` must be a mapping or a list")


def _argument(name: Any, said: Any) -> Argument:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"an argument is called {name!r}: letters, digits and underscores make a name")
    if name in TAKEN:
        raise ValueError(f"an argument cannot be called `{name}`: templates have that name already")
    if isinstance(said, str):
        said = {"description": said}
    if not isinstance(said, dict | None):
        raise ValueError(f"`{name}` must be a mapping with `description`, `default` or `required`")
    said = said or {}
    default, required = said.get("default"), said.get("required")
    if not isinstance(required, bool | None):
        raise ValueError(f"`required` of `{name}` must be true or false, not {required!r}")
    return Argument(
        name, str(said.get("description") or ""), default, default is None if required is None else required
    )
