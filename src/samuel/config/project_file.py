"""Loads samuel.toml into a Config, or reports all of its problems at once.

To add a key: a field in `model.py`, and a line here that takes it.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from samuel.base.errors import UnknownEvent
from samuel.base.printable import shorten
from samuel.config import kinds, loop
from samuel.config.model import (
    DEFAULT,
    DEFAULT_ALIAS,
    REST,
    Config,
    EventSettings,
    ForgeSettings,
    HandlerRef,
    Limits,
    Methodology,
    PluginSettings,
    RankingSettings,
)
from samuel.config.reader import ConfigTable, ProblemReport
from samuel.config.source import read_source
from samuel.events.names import ALL, canonical
from samuel.files.toml.lines import dotted, toml_lines


def load(file: Path) -> Config:
    """The configuration in `file`; the defaults if there is no such file; ConfigError with all of its problems."""
    source = read_source(file)
    if source is None:
        return Config()
    report = ProblemReport(file, toml_lines(source.text))
    config = read_config(file, report.read(source.values))
    report.finish()
    return config


def read_config(file: Path, top: ConfigTable) -> Config:
    """The settings of a whole file, from its top-level table; what is wrong is noted in the table's report."""
    default = Config()
    return Config(
        file=file,
        default_methodology=top.take("default_methodology", kinds.identifier, default.default_methodology),
        environment=top.take("environment", kinds.identifier, default.environment),
        hooks=_hooks(top.table("hooks")),
        methodology=_methodologies(top.table("methodology")),
        distributions=top.take("distributions", kinds.names, default.distributions),
        import_hooks=top.take("import_hooks", kinds.hook_sources, default.import_hooks),
        pass_env=top.take("pass_env", kinds.variables, default.pass_env),
        guardrails=_guardrails(top.table("guardrails")),
        limits=_limits(top.table("limits")),
        lanes=loop.lanes(top.table("lanes")),
        fleet=loop.fleet(top.table("fleet")),
        forge=_forge(top.table("forge")),
        abilities=_abilities(top.table("abilities")),
        agents=loop.agents(top.table("agents")),
        allow_commands=top.table("session").take("allow_commands", kinds.commands, default.allow_commands),
        plugins=_plugins(top.table("plugins")),
        serve_idle=top.table("serve").take("idle", kinds.timeout, default.serve_idle),
    )


def _limits(table: ConfigTable) -> Limits:
    default = msgspec.structs.asdict(Limits())
    return Limits(**{key: table.take(key, kinds.positive, limit) for key, limit in default.items()})


def _forge(table: ConfigTable) -> ForgeSettings:
    default = ForgeSettings()
    return ForgeSettings(
        authors=table.take("authors", kinds.one_of("collaborators", "all"), default.authors),
        working_label=table.table("labels").take("working", kinds.name, default.working_label),
    )


def _abilities(table: ConfigTable) -> RankingSettings:
    default = RankingSettings()
    return RankingSettings(
        ranker=table.take("ranker", kinds.one_of("words", "agent"), default.ranker),
        candidates=table.take("ranker_candidates", kinds.positive, default.candidates),
        timeout=table.take("ranker_timeout", kinds.timeout, default.timeout),
    )


def _plugins(table: ConfigTable) -> dict[str, PluginSettings]:
    plugins = {}
    for name in table:
        own = table.table(name)
        enabled = own.take("enabled", kinds.flag, True)
        config = {key: own.take(key, kinds.data, None) for key in own if key != "enabled"}
        plugins[name] = PluginSettings(config, enabled, table.line(name))
    return plugins


def _guardrails(table: ConfigTable) -> dict[str, object]:
    return {key: table.take(key, kinds.plain, None) for key in table}


def _methodologies(table: ConfigTable) -> dict[str, Methodology]:
    methodologies = {}
    for name in table:
        try:
            kinds.identifier(name)
        except ValueError as error:
            table.refuse(name, f"`{shorten(name)}` cannot name a methodology: it {error}")
        inner = table.table(name)
        methodologies[name] = loop.methodology(name, inner, _hooks(inner.table("hooks")))
    return methodologies


def _hooks(table: ConfigTable) -> dict[str, EventSettings]:
    settings: dict[str, EventSettings] = {}
    spelled: dict[str, str] = {}
    for spelling in table:
        try:
            event = canonical(shorten(spelling))
        except UnknownEvent as error:
            _refuse_event(table, spelling, error)
            continue
        first = spelled.setdefault(event, spelling)
        if first != spelling:
            what = f"`{spelling}` is the same event as `{first}` on line {table.line(first)}"
            table.refuse(spelling, what, "put both into one table")
        settings[event] = _event(table.table(spelling))
    return settings


def _refuse_event(table: ConfigTable, spelling: str, error: UnknownEvent) -> None:
    # `[hooks.quality.check]` is a common mistake: in TOML it is a table `check` in a table `quality`.
    inner = table.table(spelling)
    slips = [
        rest for first, _, rest in (event.partition(".") for event in ALL) if first == spelling and rest in inner
    ]
    for rest in slips:
        quoted = dotted((*table.path, f"{spelling}.{rest}"))
        inner.refuse(rest, f"`{spelling}.{rest}` needs quotes", f"write `[{quoted}]`")
        _event(inner.table(rest))
    if not slips:
        table.refuse(spelling, error.message, error.hint)
        _event(inner)  # to report the problems inside


def _event(table: ConfigTable) -> EventSettings:
    strict = table.take("strict", kinds.flag, None)
    timeout = table.take("timeout", kinds.timeout, None)
    handlers = _handlers(table)
    order, order_lines = _order(table.table("order"))
    return EventSettings(strict, timeout, handlers, order, table.line(), order_lines)


def _handlers(table: ConfigTable) -> tuple[HandlerRef, ...] | None:
    items = table.take("handlers", kinds.array, None)
    if items is None:
        return None
    handlers: dict[str, HandlerRef] = {}
    for index, item in enumerate(items):
        if isinstance(item, str):
            item = {"use": item}  # the short form
        if not isinstance(item, dict):
            what = f"must be a string or a table, not {kinds.type_name(item)}"
            table.refuse("handlers", f"item {index + 1} of `handlers` {what}")
            continue
        entry = table.entry("handlers", index, item)
        use = _handler_name(entry.take("use", kinds.name, ""))
        if "use" not in entry:
            hint = 'name the handler: { use = "..." }'
            entry.refuse("use", f"item {index + 1} of `handlers` has no `use`", hint)
        elif use and use in handlers:
            entry.refuse("use", f"`{use}` is listed twice in `handlers`", "keep one of the two")
        strict = entry.take("strict", kinds.flag, None)
        timeout = entry.take("timeout", kinds.timeout, None)
        mode = entry.take("mode", kinds.one_of("enforce", "observe"), "")
        serial = entry.take("serial", kinds.flag, False)
        background = entry.take("background", kinds.flag, None)
        handlers[use] = HandlerRef(use, strict, timeout, mode, serial, background, entry.line())
    return tuple(handlers.values())


def _order(table: ConfigTable) -> tuple[dict[str, int], dict[str, int]]:
    numbers: dict[str, int] = {}
    lines: dict[str, int] = {}
    for spelling in table:
        number = table.take(spelling, kinds.integer, 0)
        name = _handler_name(spelling)
        if name == REST:
            table.refuse(spelling, f"`{REST}` cannot have a number", "name the handlers one by one")
        elif name in numbers:
            what = f"`{spelling}` is the same handler as the one on line {lines[name]}"
            table.refuse(spelling, what, "keep one of the two")
        numbers[name], lines[name] = number, table.line(spelling)
    return numbers, lines


def _handler_name(name: str) -> str:
    return DEFAULT if name == DEFAULT_ALIAS else name
