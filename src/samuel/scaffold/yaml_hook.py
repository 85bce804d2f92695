"""A YAML hook to start from: its declaration, a script that works as written, and the registration script."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from samuel.base import paths
from samuel.base.errors import UsageError
from samuel.events import EventType
from samuel.events.compose import Arrange
from samuel.files import yaml
from samuel.hooks.match import FIELDS
from samuel.scaffold.hook import WrittenHook, check_name, filled
from samuel.sources.yaml_file import LONGEST_NAME

SCRIPTS = "scripts/hooks"
REGISTER = f"{SCRIPTS}/register_hooks.py"
LANGUAGES = MappingProxyType({"bash": ("sh", "sh"), "python": ("py.txt", "py")})
"""How the name of a template ends, and that of the script."""

_EXAMPLES = {
    "ability_id": "code_review_agent",
    "ability_scope": '"billing.*"',
    "operation_key": '"workflow.*"',
    "min_duration_ms": "500",
    "only_if_changed_paths": '["services/**", "!**/*.md"]',
    "status": "failure",
    "stage": "act",
    "recipe_name": '"release-*"',
}

_BLOCKING = "# blocking: true          # a crash, a timeout or an error of this hook stops what fired the event"
_GUARD = "role: guard               # a crash, a timeout or an error of this hook denies too"


def yaml_hook(name: str, event: EventType, language: str) -> list[WrittenHook]:
    """The files of a new hook, by their paths in the project."""
    check_name(name)
    if len(name) > LONGEST_NAME:
        raise UsageError("the name is too long", f"a YAML hook's has at most {LONGEST_NAME} characters")
    guards = event.composition.can_deny
    template_ending, ending = LANGUAGES[language]
    template = f"yaml_{'guard' if guards else 'hook'}.{template_ending}"
    file = f"{name}.{ending}"
    if f"{SCRIPTS}/{file}" == REGISTER:
        raise UsageError(f"`{REGISTER}` is the registration script", "choose another name")
    more = {
        "ID": _as_text(name),
        "FILE": file,
        "FILTERS": "\n".join(_filters(event)),
        "FAULTS": _GUARD if guards else _BLOCKING,
    }
    return [
        WrittenHook(f"{paths.YAML_HOOKS}/{name}.yaml", filled("yaml_hook.yaml", name, event, more), 0o644),
        WrittenHook(f"{SCRIPTS}/{file}", filled(template, name, event), 0o755),
        WrittenHook(REGISTER, filled("register_hooks.py.txt", name, event), 0o755),
    ]


def _as_text(name: str) -> str:
    """YAML takes `404` or `true` for something else."""
    return name if yaml.load(name.encode(), name).values == name else f'"{name}"'


def _filters(event: EventType) -> Iterable[str]:
    """Those that this event can have, as comments."""
    if event.composition.arrange is Arrange.LAST_ONLY:
        return  # one handler alone answers to it, always
    yield f"# Only those events that pass all of these filters; without `match` it sees every {event.name}."
    yield "# match:"
    for name, field in FIELDS.items():
        if field in event.payload.__struct_fields__:
            yield f"#   {name}: {_EXAMPLES[name]}"
    yield "#"
