"""Gathering what the receipt of a task says, when its attempt is settled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from samuel.agents.find_agent import find
from samuel.base.errors import UsageError
from samuel.base.paths import VOLATILE_DIRS
from samuel.config.model import AgentSettings, Methodology
from samuel.confine.containers.engine import image_identity
from samuel.evidence.room import CleanRoom
from samuel.evidence.sealed import SealedCheck
from samuel.evidence.task_kind import task_kind
from samuel.files.regular import read_regular
from samuel.git.git import Git, GitFailed
from samuel.git.trees import Trees
from samuel.history.attempt_record import AttemptRecord
from samuel.history.run import Run
from samuel.process.environment import DEFAULT_PATH
from samuel.receipts.environment import ToolVersions, environment_facts, program_version
from samuel.receipts.predicate import ReceiptFacts, hook_facts, task_predicate
from samuel.tasks.task import Task


class CheckedProject(Protocol):
    """The project in which checks ran."""

    @property
    def root(self) -> Path: ...
    @property
    def settings(self) -> Methodology: ...
    @property
    def agents(self) -> Mapping[str, AgentSettings]: ...
    @property
    def host(self) -> Mapping[str, str]: ...
    @property
    def git(self) -> Git: ...
    @property
    def sealed_checks(self) -> Sequence[SealedCheck]: ...
    @property
    def tool_versions(self) -> ToolVersions: ...


class JudgedWork(NamedTuple):
    """The work on a task, after its checks passed."""

    tree: str
    base: str
    """The tree that it began with."""
    not_owned: Sequence[str] = ()
    """The tests that it changed, and that its task does not own."""
    commit: Sequence[str] | None = None
    """The paths that its commit will have; None if it gets none."""
    marked: Sequence[str] = ()
    """The files in which its task is marked as done, with that commit."""


def task_receipt(
    project: CheckedProject,
    trees: Trees,
    room: CleanRoom | None,
    run: Run,
    task: Task,
    record: AttemptRecord,
    work: JudgedWork,
) -> dict[str, Any]:
    """The predicate of the receipt. `room` is where the checks ran; None for the project itself."""
    settings = project.settings
    return task_predicate(
        record,
        ReceiptFacts(
            tree=work.tree,
            base=work.base,
            methodology=settings.name,
            kind=task_kind(task.kind, task.title) or "",
            proof=task.proof or settings.proof,
            checks=task.checks,
            not_owned=work.not_owned,
            not_committed=_not_committed(project.git, trees, work),
            acceptance=_acceptance_files(trees, record, work.tree),
            sealed=sealed_facts(project.sealed_checks),
            environment=checks_environment(project, room, [check.command for check in record.checks]),
            agent_version=_agent_version(project, record.agent),
            hooks=hook_facts(run.pinned.get("chains") or {}),
        ),
    )


def checks_environment(project: CheckedProject, room: CleanRoom | None, commands: Sequence[str]) -> dict[str, Any]:
    """Facts about where these commands run."""
    directory, top = (room.root, room.top) if room else (project.root, project.root)
    paths = room.environment_paths if room else (".venv", "venv", "node_modules")
    sandbox = project.settings.sandbox
    # A container has tools of its own.
    tools = project.tool_versions.of(commands, directory) if not sandbox.image else []
    image_id = image_identity(project.host, sandbox.image) if sandbox.image else ""
    facts = {"kind": sandbox.kind, "image": sandbox.image, "imageId": image_id, "network": sandbox.network}
    return {**environment_facts(tools, top, paths), "sandbox": facts}


def sealed_facts(checks: Sequence[SealedCheck]) -> list[dict[str, Any]]:
    """The names of sealed checks, and digests of their programs, which a receipt must not show."""
    return [{"name": check.name, "digest": _program_digest(check)} for check in checks]


def _program_digest(check: SealedCheck) -> dict[str, str]:
    try:
        return {"sha256": hashlib.sha256(read_regular(Path(check.argv[0]))).hexdigest()} if check.argv else {}
    except OSError:
        return {}


def _acceptance_files(trees: Trees, record: AttemptRecord, tree: str) -> dict[str, str]:
    """The files with the acceptance tests of an attempt, each with its blob in the tree of the work."""
    paths = record.acceptance.files if record.acceptance else ()
    entries = trees.entries(tree, paths) if paths else {}
    return {path: entry.object for path, entry in entries.items()}


def _not_committed(git: Git, trees: Trees, work: JudgedWork) -> list[str]:
    """The files that the checks saw in another state than the commit will have them: a person's own changes, for
    example, and the source of the task, in which it is marked as done with the commit."""
    if work.commit is None:
        return []
    try:
        head = trees.refs.tree_of(git.head())
        differing = {path for path in trees.differing(head, work.tree) if not path.startswith(VOLATILE_DIRS)}
    except GitFailed:
        return []
    return sorted((differing - set(work.commit)) | set(work.marked))


def _agent_version(project: CheckedProject, name: str) -> str:
    try:
        program = find(name, project.agents).command[0]
    except (UsageError, IndexError):  # a run that goes on may have had an agent that samuel.toml names no more
        return ""
    return program_version(program, project.host.get("PATH") or DEFAULT_PATH)
