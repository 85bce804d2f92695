"""The page about the Python API: what `samuel` and `samuel.testing` export, with signatures and docstrings."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import fields
from page import NOTE, table

import samuel
from samuel import testing
from samuel.base import errors
from samuel.events import EVENTS

LINE = 100

# Of App, what programs that use Samuel as a library need. The rest of it serves Samuel's own commands.
APP = ("fire", "context", "close")
APP_ATTRIBUTES = """\
Attributes: `warnings`, a list of what a person should know about the project; `config`, the settings of
samuel.toml; `handlers`, all handlers whatever their state; `chains`, by the name of the event, the handlers in the
order in which they are called.
"""

# What the fields of records are for. A field that is missing here is an error.
FIELDS: dict[str, dict[str, str]] = {
    "Fired": {
        "event": "The payload that was fired, as the last handler saw it.",
        "ok": "True if no handler denied, no strict handler failed, and the composed result does not say no.",
        "stopped": "True after a denial or a strict failure: whatever fired the event must not go on.",
        "result": "The composed result of all handlers.",
        "calls": "One [HandlerCall](#handlercall) for each handler that was called, in order.",
        "warnings": "What a person should know: handlers that failed, were refused or were replaced.",
        "reason": "Why it was stopped; empty otherwise.",
        "context": "The [PromptContext](context.md) with the `data` of the handlers; empty if none was passed.",
        "background": "The names of the handlers that were started [in the background](../how-to/background.md).",
    },
    "HandlerCall": {
        "handler": "The handler: its `name`, `event`, `origin`, `runtime`, `order` and more.",
        "position": "Its place in the chain, from 1.",
        "outcome": "How the call ended, see [Outcome](#outcome).",
        "duration_ms": "How long it took.",
        "strict": "True if a fault of this handler stops the event.",
        "result": "What the handler returned.",
        "message": "Why it failed or denied; empty otherwise.",
        "stderr": "The end of what it wrote to stderr.",
        "phase": "On `PreAbilityCall`: `rewrite` or `guard`.",
        "would": "What an [observed](../how-to/observe-a-guard.md) handler would have done: `verdict`, `reason` "
        "and `result`. None for others.",
        "background": "True if [nobody waited](../how-to/background.md) for it.",
    },
}

OUTCOMES = "The eight outcomes are described under [Outcomes](outcomes.md)."

TOP = """\
# Python API

Everything that `samuel` and `samuel.testing` export, with signatures and docstrings from the code. With it you can
open a project from Python, fire events, write handlers and test them. [Use Samuel as a
library](../how-to/embed.md) and [Test your hook](../how-to/test-your-hook.md) show it in use; [What stays
stable](stability.md) says what you can rely on.

Names that are not on this page are internal and may change in any release.
"""


def api_page() -> str:
    parts = [NOTE, TOP, "## samuel\n"]
    for name in samuel.__all__:
        parts += PARTS[name]() if name in PARTS else section(name, getattr(samuel, name))
    parts += ["## samuel.testing\n", docstring(testing)]
    for name in testing.__all__:
        parts += section(name, getattr(testing, name))
    return "\n".join(parts)


def section(name: str, value: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if inspect.isclass(value):
        yield from class_section(value)
    elif fixture := getattr(value, "_fixture_function", None):
        fixture_type = (
            str(inspect.signature(fixture).return_annotation).removeprefix("Iterator[").removesuffix("]")
        )
        yield f"A pytest fixture, a [{fixture_type}](#{fixture_type.lower()}). {docstring(fixture)}"
    else:
        yield signature(name, value)
        yield docstring(value)


def class_section(cls: type[Any]) -> Iterator[str]:
    if issubclass(cls, enum.Enum):
        yield f"{docstring(cls)}\n{', '.join(f'`{member.name}` (`{member.value}`)' for member in cls)}.\n"
        yield f"{OUTCOMES}\n"
        return
    if issubclass(cls, msgspec.Struct):
        yield docstring(cls)
        rows = [
            (f"`{field.name}`", f"`{cls.__annotations__[field.name]}`", FIELDS[cls.__name__][field.name])
            for field in fields(cls)
        ]
        yield table(("field", "type", "what it is"), rows)
    else:
        yield signature(cls.__name__, cls if dataclasses.is_dataclass(cls) else cls.__init__)
        yield docstring(cls)
        if cls.__init__.__doc__:
            yield docstring(cls.__init__)
        if cls is samuel.App:
            yield APP_ATTRIBUTES
    yield from members(cls)


def members(cls: type[Any]) -> Iterator[str]:
    """The public methods and properties that say what they do, in the order of the code."""
    for name, value in vars(cls).items():
        function = value.fget if isinstance(value, property) else value
        if isinstance(value, cached_property):
            function = value.func
        if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        if cls is samuel.App and name not in APP:
            continue
        if inspect.isfunction(value):
            yield signature(f"{cls.__name__}.{name}", value)
        else:
            returns = inspect.signature(function).return_annotation
            yield f"```py\n{cls.__name__}.{name}: {returns}\n```\n"
        yield docstring(function)


def signature(name: str, function: Callable[..., Any]) -> str:
    """A signature as a person would write it: on one line if it fits, else one parameter a line."""
    full = inspect.signature(function)
    parameters = [parameter for parameter in full.parameters.values() if parameter.name != "self"]
    returns = full.return_annotation
    arrow = "" if returns in (inspect.Signature.empty, None, "None") else f" -> {returns}"
    words: list[str] = []
    for number, parameter in enumerate(parameters):
        keyword = parameter.kind is parameter.KEYWORD_ONLY
        before = [earlier.kind for earlier in parameters[:number]]
        if keyword and parameter.KEYWORD_ONLY not in before and parameter.VAR_POSITIONAL not in before:
            words.append("*")
        words.append(spelled(parameter))
    line = f"{name}({', '.join(words)}){arrow}"
    if len(line) > LINE:
        inside = "".join(f"    {word},\n" for word in words)
        line = f"{name}(\n{inside}){arrow}"
    return f"```py\n{line}\n```\n"


def spelled(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    word = f"{stars}{parameter.name}: {parameter.annotation}"
    if parameter.default is parameter.empty:
        return word
    default = parameter.default
    plain = default is None or isinstance(default, bool | int | float | str | tuple)
    return f"{word} = {json.dumps(default) if isinstance(default, str) else default if plain else '...'}"


def docstring(documented: Any) -> str:
    text = inspect.cleandoc(documented.__doc__ or "")
    assert text, f"{documented!r} has no docstring"
    return f"{text}\n"


def errors_section() -> Iterator[str]:
    yield "### Errors\n"
    tree = inspect.cleandoc(errors.__doc__ or "")
    intro, _, rest = tree.partition("\n\n")
    drawing, _, end = rest.partition("\n\n")
    drawing = textwrap.dedent(drawing)
    yield f"{intro} `samuel` exports `SamuelError`, `UsageError`, `UnknownEvent` and `ConfigError`.\n"
    yield f"```text\n{drawing}\n```\n"
    yield f"{end}\n"
    yield (
        "Every one has `message` and `hint`: what happened, and what to do about it. `ConfigError` also has "
        "`problems`, each with `what`, `file`, `line` and `hint`.\n"
    )


def events_section() -> Iterator[str]:
    yield "### events\n"
    yield (
        "The payloads, as classes: `app.fire(samuel.events.QualityCheck(commands=[...]))` is the same as "
        '`app.fire("quality.check", commands=[...])`, and a type checker knows the fields.\n'
    )
    rows = [(f"[`{event.name}`](events.md)", f"`samuel.events.{event.payload.__name__}`") for event in EVENTS]
    yield table(("event", "payload"), rows)


def version_section() -> Iterator[str]:
    yield "### \\_\\_version\\_\\_\n"
    yield "The version as text, for example `0.1.0`.\n"


def open_section() -> Iterator[str]:
    yield "### open\n"
    yield (
        "`samuel.open(...)` is [`samuel.App(...)`](#app). Use it in a `with` statement, so that workers are ended "
        "and the journal is closed:\n"
    )
    yield '```py\nwith samuel.open(".") as app:\n    fired = app.fire("quality.check", commands=["true"])\n```\n'


def shell_section() -> Iterator[str]:
    yield "### shell\n"
    yield (
        "`samuel.shell.commands(text)` says which commands a shell would run for a text. "
        "[Shell commands](shell.md) describes what it returns.\n"
    )


def nothing() -> Iterator[str]:
    """For names that another section covers."""
    return iter(())


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "ConfigError": nothing,
    "SamuelError": errors_section,
    "UnknownEvent": nothing,
    "UsageError": nothing,
    "__version__": version_section,
    "events": events_section,
    "open": open_section,
    "shell": shell_section,
}
