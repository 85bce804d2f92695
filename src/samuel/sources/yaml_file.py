"""Parses a `.system/hooks/*.yaml` into a hook, or into the list of everything that is wrong with it.

    id, event_type                      its name, and its events: one, or a list of them
    enabled, environments               whether it is active, and where
    order, timeout, role, blocking      its place in the chain; with `blocking` its failure denies
    mode                                `observe`: what it decides is only recorded
    serial                              whether it must never run in two lanes at once
    background                          whether its answer is not awaited
    match                               which of these events it receives (hooks/match.py)
    handler: kind: script               command, shell, protocol
             kind: python               function, file
             kind: builtin              name: one of those that come with Samuel (shipped/table.py)
    config                              settings of the handler, `plugin.config` of its events
    summary, effects                    for people

Nothing is run, and no file is looked up.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import UnknownEvent
from samuel.base.nearest import did_you_mean
from samuel.base.printable import shorten
from samuel.clients.table import HOOK_FORMATS
from samuel.config import kinds
from samuel.config.model import RESERVED_NAMES
from samuel.config.reader import ConfigTable, ProblemReport
from samuel.events import EventType, PostAbilityCall, event_type
from samuel.events.compose import Arrange
from samuel.events.event import Stage
from samuel.files import yaml
from samuel.files.command_files import is_file
from samuel.hooks.handler import BACKGROUND_HINT, HandlerMode, Role, background_refusal, observation_refusal
from samuel.hooks.match import FIELDS
from samuel.sources.yaml_hook import BUILTIN, PYTHON, SCRIPT, ShippedHook, ShippedHooks, YamlHook

STATUSES = get_args(get_type_hints(PostAbilityCall)["status"])
STAGES = get_args(Stage)
LONGEST_NAME = 100
PROTOCOLS = {
    f"{hook_format.client}/{client_event}": event
    for hook_format in HOOK_FORMATS.values()
    for client_event, event in hook_format.events.items()
}
KINDS = (SCRIPT, PYTHON, BUILTIN)

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")


def read_hook(data: bytes, file: str, shipped_hooks: ShippedHooks) -> YamlHook:
    """The hook; ConfigError with everything that is wrong with the file."""
    document = yaml.load(data, file)
    report = ProblemReport(Path(file), document.lines)
    # `match:` with nothing but comments below it has no value.
    top = report.read({key: value for key, value in document.mapping().items() if value is not None})
    spelled, events = _events(top)
    handler = _handler(top, shipped_hooks)
    shipped = shipped_hooks.get(handler["command"]) if handler["kind"] == BUILTIN else None
    hook = YamlHook(
        id=top.require("id", name, ""),
        events=tuple(event.name for event in events),
        spelled=spelled,
        enabled=top.take("enabled", kinds.flag, True),
        environments=top.take("environments", kinds.patterns, ()),
        blocking=top.take("blocking", kinds.flag, False),
        role=top.take("role", role, Role.OBSERVE if shipped and shipped.only_suggests else None),
        mode=_mode(top, events),
        order=top.take("order", kinds.integer, None),
        timeout=top.take("timeout", kinds.timeout, None),
        serial=top.take("serial", kinds.flag, False),
        background=top.take("background", kinds.flag, False),
        match=_match(top, events),
        summary=" ".join(top.take("summary", kinds.text, "").split()),
        config=_config(top, events, handler, shipped),
        required_key=shipped.required_key if shipped else "",
        **handler,
    )
    top.take("effects", kinds.any_value, None)  # documentation for people and models
    _check_protocol(top, hook)
    _check_background(top, hook, events)
    report.finish()
    return hook


def _events(top: ConfigTable) -> tuple[tuple[str, ...], list[EventType]]:
    spelled = top.require("event_type", kinds.patterns, ())
    events: list[EventType] = []
    for name in spelled:
        try:
            event = event_type(name)
        except UnknownEvent as error:
            top.refuse("event_type", error.message, error.hint)
            continue
        if event in events:
            top.refuse("event_type", f"`{shorten(name)}` is listed twice", "keep one of the two")
        events.append(event)
    return spelled, events


def _match(top: ConfigTable, events: list[EventType]) -> dict[str, Any]:
    table = top.table("match")
    filters = {key: value for key, kind in FILTERS.items() if (value := table.take(key, kind, None)) is not None}
    for event in events:
        if filters and event.composition.arrange is Arrange.LAST_ONLY:
            what = f"only one handler answers `{event.name}`, so it cannot be filtered"
            top.refuse("match", what, "leave `match` out")
        for key in filters:
            if FIELDS[key] not in event.payload.__struct_fields__:
                what = f"`{key}` looks at `{FIELDS[key]}`, which `{event.name}` does not have"
                table.refuse(key, what, f"`samuel hooks schema {event.name}` lists what it has")
    return filters


def _mode(top: ConfigTable, events: list[EventType]) -> HandlerMode:
    mode = top.take("mode", kinds.one_of(*HandlerMode), HandlerMode.ENFORCE)
    for event in events:
        if mode == HandlerMode.OBSERVE and (why := observation_refusal(event)):
            top.refuse("mode", why, "leave `mode` out")
    return HandlerMode(mode)


def _handler(top: ConfigTable, shipped_hooks: ShippedHooks) -> dict[str, Any]:
    if "handler" not in top:
        top.refuse("handler", "`handler` is missing", "say what it runs: `kind` and `command` below `handler:`")
    table = top.table("handler")
    if "handler" not in top:
        return {"kind": "", "command": ""}
    kind = table.require("kind", kinds.one_of(*KINDS), "")
    if not kind:
        for key in ("command", "shell", "protocol", "function", "file", "name"):
            table.take(key, kinds.any_value, None)  # one problem is enough: these keys are known
        return {"kind": "", "command": ""}
    if kind == BUILTIN:
        return {"kind": kind, **_builtin(table, shipped_hooks)}
    return {"kind": kind, **(_script(table) if kind == SCRIPT else _python(table))}


def _script(table: ConfigTable) -> dict[str, Any]:
    shell = table.take("shell", kinds.flag, False)
    protocol = table.take("protocol", kinds.one_of(*PROTOCOLS), "")
    return {**_command_words(table, shell=shell), "protocol": protocol}


def _command_words(table: ConfigTable, *, shell: bool) -> dict[str, Any]:
    command = table.require("command", command_line, "")
    if not command:
        return {"command": ""}
    if shell and not isinstance(command, str):
        table.refuse("command", "`command` is a list, and a shell takes text", "write it as text")
        return {"command": ""}
    if isinstance(command, str):
        line = command.strip()
        return {"command": line, "words": (line,) if shell else _split(table, line), "shell": shell}
    _check_program(table, command)
    return {"command": shlex.join(command), "words": command}


def _check_protocol(top: ConfigTable, hook: YamlHook) -> None:
    if hook.protocol and hook.events and hook.events != (PROTOCOLS[hook.protocol],):
        what = f"the protocol `{hook.protocol}` is for `{PROTOCOLS[hook.protocol]}` alone"
        top.refuse("event_type", what, f"write `event_type: {PROTOCOLS[hook.protocol]}`")


def _check_background(top: ConfigTable, hook: YamlHook, events: list[EventType]) -> None:
    for event in events if hook.background else ():
        if why := background_refusal(event, hook.role, blocking=hook.blocking):
            top.refuse("background", why, BACKGROUND_HINT)


def _split(table: ConfigTable, line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError:
        table.refuse("command", "`command` has an unclosed quotation mark")
        return ()
    _check_program(table, words)
    return words


def _check_program(table: ConfigTable, words: tuple[str, ...]) -> None:
    program = words[0] if words else ""
    if not program:
        table.refuse("command", "`command` names no program")
    elif "/" in program and ".." in program.split("/"):
        table.refuse(
            "command", f"`{shorten(program)}` leads out of the project", "write it from the project's root"
        )


def _python(table: ConfigTable) -> dict[str, Any]:
    target, file = table.require("function", kinds.name, ""), table.take("file", python_file, "")
    if not target:
        return {"command": ""}
    where, _, function = target.rpartition(":")
    if file and where:
        table.refuse("file", "both `function` and `file` say where it is", "keep one of the two")
    elif not file and not where:
        hint = "`package.module:function`, or `scripts/hooks/name.py:function`"
        table.refuse("function", f"`{shorten(target)}` does not say where it is", hint)
    elif not _FUNCTION.fullmatch(function):
        table.refuse("function", f"`{shorten(function)}` cannot be the name of a function")
    elif not file and is_file(where):
        try:
            file = python_file(where)
        except ValueError as error:
            table.refuse("function", f"`function` {error}")
    elif not file and not _MODULE.fullmatch(where):
        table.refuse("function", f"`{shorten(where)}` is neither a module nor a `.py` file")
    module = "" if file else where
    return {
        "command": f"{file or module}:{function}",
        "file": file,
        "module": module,
        "function": function,
    }


def _builtin(table: ConfigTable, shipped_hooks: ShippedHooks) -> dict[str, Any]:
    hook_name = table.require("name", name, "")
    shipped = shipped_hooks.get(hook_name)
    if shipped is not None:
        return {
            "command": hook_name,
            "module": shipped.function,
            "function": shipped.function.rpartition(":")[2],
        }
    if hook_name:
        hint = did_you_mean(hook_name, shipped_hooks, f"there are {', '.join(shipped_hooks)}")
        table.refuse("name", f"`{hook_name}` is not a hook that comes with Samuel", hint)
    return {"command": hook_name}


def _config(
    top: ConfigTable, events: list[EventType], handler: dict[str, Any], shipped: ShippedHook | None
) -> dict[str, Any]:
    """The values below `config`: checked for a hook that comes with Samuel, any table for others."""
    if handler["kind"] != BUILTIN:
        return top.take("config", own_config, {})
    table = top.table("config")
    if shipped is None:
        list(table)  # its unknown name is problem enough: which keys are right cannot be said
        return {}
    if any(event.name not in shipped.events for event in events):
        what = f"`{handler['command']}` is for {' and '.join(f'`{event}`' for event in shipped.events)} alone"
        spelled = shipped.events[0] if len(shipped.events) == 1 else f"[{', '.join(shipped.events)}]"
        top.refuse("event_type", what, f"write `event_type: {spelled}`")
    # As it comes back from the cache: a list stays a list.
    config: dict[str, Any] = decode_json(msgspec.json.encode(shipped.read_config(table)))
    return config


# What the values must be


def name(value: object) -> str:
    """A hook's name is a word in samuel.toml."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {kinds.type_name(value)}; put it in quotes")
    if not _NAME.fullmatch(value) or len(value) > LONGEST_NAME:
        raise ValueError(f"must be made of letters, digits, `.`, `-` and `_`, at most {LONGEST_NAME} of them")
    if value in RESERVED_NAMES:
        raise ValueError(f"must not be `{value}`, which is the name of the built-in handlers")
    return value


def own_config(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a table, not {kinds.type_name(value)}")
    return value


def globs(value: object) -> list[str]:
    return list(kinds.patterns(value))


def words_of(*words: str) -> Callable[[object], list[str]]:
    check = kinds.one_of(*words)
    return lambda value: [check(item) for item in globs(value)]


def role(value: object) -> Role:
    return Role(kinds.one_of(*Role)(value))


def milliseconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise ValueError("must be a number of milliseconds, 0 or more")
    return value


def command_line(value: object) -> str | tuple[str, ...]:
    """Text that is split into words as a shell would, or the words themselves."""
    if not isinstance(value, (str, list)):
        raise ValueError(f"must be a string or a list of strings, not {kinds.type_name(value)}")
    if not value or (isinstance(value, str) and not value.strip()):
        raise ValueError("must not be empty")
    return kinds.commands(value) if isinstance(value, list) else value


def python_file(value: object) -> str:
    """A path below the project's root, as plain names."""
    path = kinds.inner_path(value)
    if not path.endswith(".py"):
        raise ValueError("must name a `.py` file")
    return path


FILTERS: dict[str, Callable[[object], Any]] = {
    "ability_id": globs,
    "ability_scope": globs,
    "operation_key": globs,
    "min_duration_ms": milliseconds,
    "only_if_changed_paths": globs,
    "status": words_of(*STATUSES),
    "stage": words_of(*STAGES),
    "recipe_name": globs,
}
