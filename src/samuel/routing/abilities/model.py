"""The record of one ability.

High-level abilities (workflows, agents) cover a piece of work and may call others; low-level ones are single
operations. Both have one name space: an ability is called by its id or by its operation key.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, get_args

import msgspec


class Level(StrEnum):
    HIGH = "high"
    LOW = "low"


class ScriptImplementation(msgspec.Struct, frozen=True, tag="script"):
    """A program of the project: the input as JSON on stdin, the output as JSON on stdout."""

    path: str
    """Below the project's root."""
    arguments: tuple[str, ...] = ()
    """`{name}` in an argument is replaced by that value of the input."""
    timeout: float | None = None
    env: dict[str, str] = {}
    """`"$NAME"` is replaced by the variable of that name in the environment of Samuel."""


class PythonImplementation(msgspec.Struct, frozen=True, tag="python"):
    """A Python function that takes the input and returns the output."""

    function: str
    """`module:function`, or `path/to/file.py:function` below the project's root."""
    timeout: float | None = None
    env: dict[str, str] = {}


class PromptImplementation(msgspec.Struct, frozen=True, tag="agent"):
    """A prompt to the configured agent."""

    prompt: str
    timeout: float | None = None
    env: dict[str, str] = {}


Implementation = ScriptImplementation | PythonImplementation | PromptImplementation

KINDS: dict[type[Implementation], str] = {
    kind: str(kind.__struct_config__.tag) for kind in get_args(Implementation)
}


class Ability(msgspec.Struct, frozen=True):
    id: str
    level: Level
    summary: str
    file: str
    """The file that defines it, below the project's root."""
    operation_key: str = ""
    type: str = ""
    """`workflow` or `agent`; only high-level abilities have one."""
    version: str = ""
    when_to_use: str = ""
    """The text in ABILITY.md."""
    area: str = ""
    """The scope in ABILITY.md."""
    modules: tuple[str, ...] = ()
    environments: tuple[str, ...] = ()
    """The environments where it may be called; everywhere if empty."""
    keywords: tuple[str, ...] = ()
    negative_keywords: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    notes: str = ""
    calls: tuple[str, ...] = ()
    """Operation keys or ids of the abilities that it may call, if it is high-level."""
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    implementation: Implementation | None = None
    implementation_file: str = ""
    """The file with its implementation: its own, or one below `config/`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it can be called by: its id, and its operation key."""
        return (self.id,) if self.operation_key in ("", self.id) else (self.id, self.operation_key)

    @property
    def all_scopes(self) -> tuple[str, ...]:
        scopes = dict.fromkeys((*self.modules, *self.scopes, self.area))
        return tuple(scope for scope in scopes if scope)

    @property
    def kind(self) -> str:
        return KINDS[type(self.implementation)] if self.implementation else ""
