"""A hook to start from. It works as written, for every event: what it returns is derived from the catalogue.

For an event that can be denied it is a guard, with an example of what to deny.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import UsageError
from samuel.base.paths import DISABLED
from samuel.config.model import RESERVED_NAMES
from samuel.events import EventType, names
from samuel.events.schema import own_fields

TEMPLATES = Path(__file__).parent / "templates"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")

DENIAL = json.dumps({"decision": "deny", "reason": "rm -rf is not allowed here"})  # also valid Python
_JUDGED = {
    names.PRE_ABILITY_CALL: "tool_input",
    names.USER_PROMPT_SUBMIT: "user_message",
    names.PRE_COMPACT: "trigger",
    names.CONFIG_CHANGE: "path",
}
"""The field that a guard usually judges, of each event that can be denied."""


class WrittenHook(NamedTuple):
    """A file as it should be."""

    name: str
    text: str
    mode: int


LANGUAGES = MappingProxyType({"bash": ("bash", "", 0o755), "python": ("py.txt", ".py", 0o644)})
"""How the name of a template ends, how that of a hook's file, and the mode of that file."""


def hook(name: str, event: EventType, language: str) -> WrittenHook:
    """The file of a new hook, in `bash` or `python`."""
    check_name(name)
    kind = "guard" if event.composition.can_deny else "hook"
    template, ending, mode = LANGUAGES[language]
    return WrittenHook(f"{name}{ending}", filled(f"{kind}.{template}", name, event), mode)


def check_name(name: str) -> None:
    """A hook's name is a file's name, and a word in samuel.toml."""
    if name in RESERVED_NAMES:
        raise UsageError(f"`{name}` is the name of the built-in handlers", "choose another name")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"`{name}` cannot name a hook",
            "use letters, digits, `-`, `_` and `.`, and begin with a letter, a digit or `_`",
        )
    for ending in (DISABLED, ".py"):
        if name.endswith(ending):
            raise UsageError(f"`{name}` cannot name a hook", f"leave the ending `{ending}` away")


def taken(name: str, files: Iterable[str]) -> str:
    """The file that has this name already, in any language, also if it is switched off; "" if none has."""
    spellings = {name, f"{name}.py", f"{name}{DISABLED}", f"{name}.py{DISABLED}"}
    return min(spellings.intersection(files), default="")


def example(event: EventType) -> dict[str, Any]:
    """The least that is a whole answer: the keys that must be there, or else a yes."""
    hints = get_type_hints(event.result)
    needed = {
        info.encode_name: _value(hints[info.name])
        for info in msgspec.structs.fields(event.result)
        if info.required
    }
    if needed:
        return needed
    try:
        convert({"ok": True}, event.result)
    except msgspec.ValidationError:  # one of several keys must be there: `continue` or `mode`
        return {msgspec.structs.fields(event.result)[0].encode_name: True}
    return {"ok": True}


def filled(template: str, name: str, event: EventType, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """A template with what can be said of the hook and its event put in."""
    fields = ", ".join(info.encode_name for info in own_fields(event.payload)) or "no fields of its own"
    keys = ", ".join(info.encode_name for info in msgspec.structs.fields(event.result))
    values = {
        "NAME": name,
        "EVENT": event.name,
        "FIELDS": fields,
        "KEYS": keys,
        "FUNCTION": _identifier(name),
        "JSON": json.dumps(example(event)),
        "PYTHON": _literal(example(event)),
        "JUDGED": _JUDGED.get(event.name, ""),
        "DENIAL": DENIAL,
        **more,
    }
    return with_values((TEMPLATES / template).read_text(encoding="utf-8"), values)


def with_values(template: str, values: Mapping[str, str]) -> str:
    """A template with `@NAME@` and the like replaced."""
    return re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], template)


def _identifier(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"hook_{plain}" if plain[0].isdigit() or keyword.iskeyword(plain) else plain


def _literal(value: Mapping[str, Any]) -> str:
    """A Python literal with double quotes."""
    items = ((key, json.dumps(item) if isinstance(item, str) else repr(item)) for key, item in value.items())
    return "{" + ", ".join(f'"{key}": {text}' for key, text in items) + "}"


def _value(kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    return {bool: True, int: 0, str: ""}[kind]
