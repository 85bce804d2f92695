"""A rule of `shell_guard`, as a person reads it, and the areas that rules belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import FileUse, GuardedCommand

Decision = Literal["deny", "ask"]


class GuardRule(NamedTuple):
    """One thing that an agent must not do, or must ask about.

    A rule looks at each command by `patterns` or `about_command`, at each file that is used by `about_file`, or at
    the whole call by `about_call`, which returns the part of it that the rule is about.
    """

    id: str
    decision: Decision
    example: str
    """A command that the rule stops."""
    why: str
    """What could be lost, for the agent and the person who is asked: a sentence without its full stop."""
    patterns: tuple[str, ...] = ()
    """Commands, as `command_pattern` reads them."""
    about_command: Callable[[GuardedCommand, GuardedShellCall], bool] | None = None
    programs: tuple[str, ...] = ()
    """The programs that `about_command` is asked about; empty for all."""
    about_file: Callable[[FileUse, GuardedShellCall], bool] | None = None
    about_call: Callable[[GuardedShellCall], str] | None = None


class GuardArea(NamedTuple):
    name: str
    rules: tuple[GuardRule, ...]
