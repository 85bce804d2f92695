"""All rules of `shell_guard`, and how they are applied to a call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from samuel.shipped.shell_guard.areas import (
    deleting,
    git_work,
    infrastructure,
    own_files,
    processes,
    remote_code,
    rights,
    secrets,
    unreadable,
)
from samuel.shipped.shell_guard.command_pattern import CommandPattern, command_pattern, matches
from samuel.shipped.shell_guard.guard_rule import GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import GuardedCommand

AREAS = (
    own_files.RULES,
    deleting.RULES,
    git_work.RULES,
    remote_code.RULES,
    secrets.RULES,
    rights.RULES,
    infrastructure.RULES,
    processes.RULES,
    unreadable.RULES,
)
"""In the order of the list that people see. Of two rules that match, one that denies wins, then the first."""

GUARD_RULES: dict[str, GuardRule] = {rule.id: rule for area in AREAS for rule in area.rules}


class GuardFinding(NamedTuple):
    """A rule that a call breaks, and the part of the call that breaks it."""

    rule: GuardRule
    text: str


class _ByProgram(NamedTuple):
    patterns: dict[str, list[tuple[GuardRule, CommandPattern]]]
    functions: dict[str, list[GuardRule]]
    of_all_programs: list[GuardRule]


@cache
def _by_program() -> _ByProgram:
    index = _ByProgram(defaultdict(list), defaultdict(list), [])
    for rule in GUARD_RULES.values():
        for text in rule.patterns:
            pattern = command_pattern(text)
            for program in pattern.programs:
                index.patterns[program].append((rule, pattern))
        if rule.about_command is not None:
            for program in rule.programs:
                index.functions[program].append(rule)
            if not rule.programs:
                index.of_all_programs.append(rule)
    return index


def findings(call: GuardedShellCall, off: Sequence[str] = ()) -> Iterator[GuardFinding]:
    """The rules that a call breaks, without those that are switched off."""
    for command in call.commands:
        yield from (finding for finding in _about(command, call) if finding.rule.id not in off)
    for rule in GUARD_RULES.values():
        if rule.id in off:
            continue
        if rule.about_file is not None:
            yield from (GuardFinding(rule, use.text) for use in call.file_uses if rule.about_file(use, call))
        if rule.about_call is not None and (text := rule.about_call(call)):
            yield GuardFinding(rule, text)


def _about(command: GuardedCommand, call: GuardedShellCall) -> Iterator[GuardFinding]:
    index = _by_program()
    if command.arguments[-1:] == ("--help",):
        return
    for rule, pattern in index.patterns.get(command.program, ()):
        if matches(pattern, command.arguments):
            yield GuardFinding(rule, command.text)
    for rule in (*index.functions.get(command.program, ()), *index.of_all_programs):
        if rule.about_command is not None and rule.about_command(command, call):
            yield GuardFinding(rule, command.text)


def strictest(all_findings: Iterator[GuardFinding]) -> GuardFinding | None:
    """The first rule that denies; the first that asks if none does."""
    first_asking: GuardFinding | None = None
    for finding in all_findings:
        if finding.rule.decision == "deny":
            return finding
        first_asking = first_asking or finding
    return first_asking
