"""The experiments with one client: what it does with an answer, and what it does where there is none.

Each runs the client once, or once for each fault. A command of the script leaves a file where it ran.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from samuel.clients.dialect.events import PRE, PROMPT
from samuel.clients.table import CLIENTS
from samuel.proving.matrix.mcp_probe import NAME, TOOL
from samuel.proving.matrix.scratch import MCP_CLIENTS, Scratch
from samuel.proving.model.launch import ScriptedClient
from samuel.proving.model.wire import ToolCall

Cell = Literal["yes", "no", "-", "not run", "inconclusive"]

FAULTS: Mapping[str, str] = {
    "crash": "kill -KILL $$",
    "timeout": "exec sleep 600",
    "garbage": "echo '}{ this is no answer'",
    "missing": "exit 127",
}
"""What stands in for `samuel-emit`, as a line of shell."""

MODS: Mapping[str, str] = {
    "answers first": 'export function register(on) { on("classic.PreToolUse", async ($, e, next) => ({})); }',
    "throws": (
        'export function register(on) { for (const name of ["tool.call", "classic.PreToolUse"])'
        ' on(name, async ($, e, next) => { throw new Error("no"); }); }'
    ),
}
"""Modules that run inside of Claude Code, by what they do."""

_TASK = "Do what the script says."
_STAND_IN = '#!/bin/sh\ncase " $* " in *" {event} "*) {fault};; *" {leaves} "*) rm "$0";; esac\nexit 0\n'


class MatrixRow(NamedTuple):
    """What one client did with the hooks of one event."""

    agent: str
    version: str
    event: str
    """As the client calls it."""
    honoured: Cell = "not run"
    rewritten: Cell = "-"
    guard_crash: Cell = "-"
    """Whether nothing runs where a guard of Samuel's crashes; then where it hangs, or answers garbage."""
    guard_timeout: Cell = "-"
    guard_garbage: Cell = "-"
    crash: Cell = "not run"
    """Whether nothing runs where the program of the client's hook fails in place of Samuel."""
    timeout: Cell = "not run"
    garbage: Cell = "not run"
    missing: Cell = "not run"
    subagents: Cell = "-"
    mcp_tools: Cell = "-"


class Experiments:
    """The experiments with one installed client, each in a directory of its own below `place`."""

    def __init__(
        self, client: ScriptedClient, place: Path, host: Mapping[str, str], *, fails_closed: bool = True
    ) -> None:
        self._client, self._place, self._host, self._fails_closed = client, place, host, fails_closed

    def rows(self, agent: str, version: str) -> list[MatrixRow]:
        """A row for tool calls, and one for prompts where the client has hooks for them."""
        rows = []
        natives = self._natives()
        if native := natives.get(PRE):
            honoured, rewritten = self._answers()
            row = MatrixRow(agent, version, native, honoured, rewritten, *self._failing_guard())
            faults = {fault: self._fault(native, fault) for fault in FAULTS}
            rows.append(row._replace(**faults, subagents=self._subagent(), mcp_tools=self._mcp()))
        if native := natives.get(PROMPT):
            # Where a call says nothing, a prompt that leads to no call does not either.
            conclusive = not rows or rows[0].honoured != "inconclusive"
            row = MatrixRow(agent, version, native, self._prompt() if conclusive else "inconclusive")
            rows.append(row._replace(**{fault: self._fault(native, fault) for fault in FAULTS}))
        return rows

    def controls(self, agent: str, version: str) -> list[MatrixRow]:
        """With a mod that answers in place of the hooks, and with one that fails: the first must show."""
        native = self._natives()[PRE]
        return [
            MatrixRow(f"{agent}, with a mod that {what}", version, native, *self._answers(mod))
            for what, mod in MODS.items()
        ]

    def _answers(self, mod: str = "") -> tuple[Cell, Cell]:
        with self._scratch() as scratch:
            if mod:
                scratch.add_mod(mod)
            scratch.connect(fails_closed=self._fails_closed)
            scratch.add_hooks()
            run = scratch.play(self._shell("echo before > rewritten", "touch denied"), _TASK)
            if not run.reached_model or not scratch.has("rewritten"):
                return "inconclusive", "inconclusive"
            text = (scratch.root / "rewritten").read_text()
            return _cell(not scratch.has("denied")), _cell("after" in text)

    def _failing_guard(self) -> tuple[Cell, ...]:
        names = ("crashes", "hangs", "garbage")
        with self._scratch() as scratch:
            scratch.connect(fails_closed=self._fails_closed)
            scratch.add_hooks()
            run = scratch.play(self._shell(*(f"touch {name}" for name in names)), _TASK)
            # A client that ends at the first denial does not get to the other calls.
            return tuple(
                _cell(not scratch.has(name)) if run.reached_model and run.played >= number else "inconclusive"
                for number, name in enumerate(names)
            )

    def _fault(self, native: str, fault: str) -> Cell:
        with self._scratch() as scratch:
            scratch.connect(fails_closed=self._fails_closed, hangs=fault == "timeout")
            prompts = self._natives().get(PROMPT, "")
            # A program that is missing from the start denies prompts, and then no tool is called; after the prompt
            # it can be gone. For a prompt, what the shell says of a missing program stands in for that.
            leaves = prompts if fault == "missing" and native != prompts else "nothing"
            scratch.stand_in(_STAND_IN.format(event=native, fault=FAULTS[fault], leaves=leaves))
            run = scratch.play(self._shell("touch ran"), _TASK)
            if scratch.has("ran"):
                return "no"
            return "yes" if run.reached_model or native == prompts else "inconclusive"

    def _natives(self) -> dict[str, str]:
        """The first of the client's events for each of Samuel's."""
        natives: dict[str, str] = {}
        for native, event in CLIENTS[self._client.name].events.items():
            natives.setdefault(event, native)
        return natives

    def _prompt(self) -> Cell:
        with self._scratch() as scratch:
            scratch.connect(fails_closed=self._fails_closed)
            scratch.add_hooks()
            scratch.play(self._shell("touch ran"), f"{_TASK} This one is denied.")
            return _cell(not scratch.has("ran"))

    def _subagent(self) -> Cell:
        if self._client.subagent is None:
            return "not run"
        with self._scratch() as scratch:
            scratch.connect(fails_closed=self._fails_closed)
            scratch.add_hooks()
            task = self._client.subagent("Run the commands of the other script.")
            commands = self._shell("touch allowed", "touch denied")
            run = scratch.play([task], _TASK, subagent=commands)
            if not run.reached_model or not scratch.has("allowed"):
                return "inconclusive"
            return _cell(not scratch.has("denied"))

    def _mcp(self) -> Cell:
        if self._client.name not in MCP_CLIENTS:
            return "not run"
        with self._scratch() as scratch:
            scratch.connect(fails_closed=self._fails_closed)
            scratch.add_hooks()
            paths = [str(scratch.root / name) for name in ("allowed", "denied")]
            calls = [ToolCall(f"mcp__{NAME}__{TOOL}", {"path": path}) for path in paths]
            run = scratch.play(calls, _TASK, mcp=True)
            if not run.reached_model or not scratch.has("allowed"):
                return "inconclusive"
            return _cell(not scratch.has("denied"))

    def _shell(self, *commands: str) -> Sequence[ToolCall]:
        return [self._client.shell(command) for command in commands]

    def _scratch(self) -> _ScratchDirectory:
        return _ScratchDirectory(self._place, self._client, self._host)


class _ScratchDirectory:
    """A scratch project that is removed at the end."""

    def __init__(self, place: Path, client: ScriptedClient, host: Mapping[str, str]) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="matrix-", dir=place, ignore_cleanup_errors=True)
        self._client, self._host = client, host

    def __enter__(self) -> Scratch:
        return Scratch(Path(self._directory.name), self._client, self._host)

    def __exit__(self, *raised: object) -> None:
        self._directory.cleanup()


def _cell(holds: bool) -> Cell:
    return "yes" if holds else "no"
