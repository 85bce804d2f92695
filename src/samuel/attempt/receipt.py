"""The predicate of the receipt of a completed task: gathered when the task is settled, and saved with that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from samuel.agents.find_agent import find
from samuel.attempt.attempt_facts import AttemptFacts
from samuel.attempt.run_files import RunFiles
from samuel.attempt.source_marks import SourceMarks
from samuel.attempt.workplace import Workplace
from samuel.base.errors import UsageError
from samuel.base.paths import VOLATILE_DIRS
from samuel.evidence.room import CleanRoom
from samuel.evidence.task_kind import task_kind
from samuel.git.git import GitFailed
from samuel.git.trees import Trees
from samuel.history.attempt_record import AttemptRecord
from samuel.history.run import Run
from samuel.process.environment import DEFAULT_PATH
from samuel.receipts.environment import environment_facts, program_version
from samuel.receipts.predicate import ReceiptFacts, hook_facts, task_predicate
from samuel.tasks.task import Task


def receipt_predicate(
    place: Workplace,
    files: RunFiles,
    run: Run,
    task: Task,
    facts: AttemptFacts,
    record: AttemptRecord,
    commit: list[str] | None,
) -> dict[str, Any]:
    """The predicate; empty without a git repository. `commit` are the paths that the commit will have."""
    state, trees = files.attempts.state, files.trees
    if trees is None or not state.verified:
        return {}
    commands = [check.command for check in record.checks]
    settings = place.settings
    return task_predicate(
        record,
        ReceiptFacts(
            tree=state.left,
            base=state.verified,
            methodology=settings.name,
            kind=task_kind(task.kind, task.title) or "",
            proof=task.proof or settings.proof,
            checks=task.checks,
            not_owned=facts.not_owned,
            not_committed=[] if commit is None else _not_committed(place, trees, state.left, task.id, commit),
            environment=checks_environment(place, files.room, commands),
            agent_version=_agent_version(place, record.agent),
            hooks=hook_facts(run.pinned.get("chains") or {}),
        ),
    )


def checks_environment(place: Workplace, room: CleanRoom | None, commands: Sequence[str]) -> dict[str, Any]:
    """Facts about where these commands ran."""
    directory, top = (room.root, room.top) if room else (place.root, place.root)
    paths = room.environment if room else (".venv", "venv", "node_modules")
    # A container has tools of its own.
    tools = place.tool_versions.of(commands, directory) if not place.settings.sandbox.image else []
    return {**environment_facts(tools, top, paths), "sandbox": _sandbox(place)}


def _sandbox(place: Workplace) -> dict[str, Any]:
    sandbox = place.settings.sandbox
    return {"kind": sandbox.kind, "image": sandbox.image, "network": sandbox.network}


def _not_committed(place: Workplace, trees: Trees, tree: str, task_id: str, commit: list[str]) -> list[str]:
    """The files that the checks saw in another state than the commit will have them: a person's own changes, for
    example, and the source of the task, in which it is marked as done with the commit."""
    try:
        head = trees.refs.tree_of(place.git.head())
        differing = {path for path in trees.differing(head, tree) if not path.startswith(VOLATILE_DIRS)}
    except GitFailed:
        return []
    marked = SourceMarks(place).files_of(task_id) if place.lane is None else set()
    return sorted((differing - set(commit)) | marked)


def _agent_version(place: Workplace, name: str) -> str:
    try:
        program = find(name, place.agents).command[0]
    except (UsageError, IndexError):  # a run that goes on may have had an agent that samuel.toml names no more
        return ""
    return program_version(program, place.host.get("PATH") or DEFAULT_PATH)
