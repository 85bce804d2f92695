"""Tasks from the issues of a forge: `run init --from github`, and `run sync` later."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import decode_json
from samuel.base.errors import SamuelError
from samuel.config.model import ForgeSettings
from samuel.forge.forge import Forge, IssueQuery
from samuel.forge.issue_reading import IssueSnapshot, ReadIssue, read_issues
from samuel.forge.issue_text import one_line
from samuel.forge.table import FORGES, open_forge
from samuel.tasks.formats.base import ImportedTasks, LeftOutItem, Mark, Recognition
from samuel.tasks.formats.github import GitHubIssues
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.importing import TaskImport
from samuel.tasks.origin import Origins, TaskOrigin
from samuel.tasks.task import Task


class ForgeReference(msgspec.Struct, frozen=True, kw_only=True):
    """How issues are read again: the origin of their tasks has it as JSON."""

    forge: str
    repository: str
    """`host/owner/name`: later changes of the git remotes do not lead to another one."""
    query: IssueQuery

    def encoded(self) -> str:
        return msgspec.json.encode(self).decode()


class ForgeIssues:
    """The format of tasks that come from a forge. Their source is what `read_issues` gave."""

    summary = "issues that were read from a forge"
    example = ""
    marks = ""
    stable_ids = True

    def __init__(self, name: str) -> None:
        self.name = name

    def recognise(self, source: TaskSource) -> Recognition | None:
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        snapshot = decode_json(source.data, IssueSnapshot)
        by_id = {f"#{read.issue.number}": read for read in snapshot.issues}
        records = [_record(read, by_id) for read in snapshot.issues]
        imported = GitHubIssues().read(TaskSource(msgspec.json.encode(records), name=source.name))
        tasks = tuple(_with_text(task, by_id[task.id]) for task in imported.tasks)
        return imported._replace(tasks=tasks, left_out=_left_out(snapshot), notes=snapshot.notes)

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        return None


def import_issues(
    root: Path, forge_name: str, query: IssueQuery, settings: ForgeSettings, origins: Origins
) -> TaskImport:
    """The tasks of the issues that the query means. Raises SamuelError.

    `origins` are those of the tasks that the project has: an issue among them is its own.
    """
    forge = open_forge(forge_name, root)
    own = [origin for origin in origins.origins if _is_of(origin, forge_name, forge.repository.label)]
    task_import = _import(forge, forge_name, query, settings, _numbers(own), again=False)
    imported = task_import.imported
    if not any(task.status != "completed" for task in imported.tasks):
        chosen = query.describe() or "with these numbers"
        reasons = "\n".join(what for _, what in imported.left_out)
        raise SamuelError(f"`{forge.repository.label}` has no open issue {chosen} that can be taken", reasons)
    return task_import


def import_again(root: Path, origin: TaskOrigin, settings: ForgeSettings) -> TaskImport:
    """The tasks of the issues of an origin as they are now. Raises SamuelError."""
    reference = _reference(origin)
    if reference is None:
        hint = "`samuel run init --from` with `--force` reads them anew"
        raise SamuelError(f"this Samuel cannot read the issues of `{origin.label}` again", hint)
    forge = open_forge(reference.forge, root, reference.repository)
    return _import(forge, reference.forge, reference.query, settings, _numbers([origin]), again=True)


def _import(
    forge: Forge, name: str, query: IssueQuery, settings: ForgeSettings, own: Collection[int], *, again: bool
) -> TaskImport:
    snapshot = read_issues(forge, query, settings, own, again=again)
    reference = ForgeReference(forge=name, repository=forge.repository.label, query=query)
    source = TaskSource(msgspec.json.encode(snapshot), None, forge.repository.label, reference.encoded())
    format = ForgeIssues(name)
    return TaskImport(source, format, "you named this forge", format.read(source))


def _record(read: ReadIssue, by_id: Mapping[str, ReadIssue]) -> dict[str, Any]:
    """The issue as `gh issue list --json` has one; its text is added later."""
    issue = read.issue
    return {
        "number": issue.number,
        "title": one_line(issue.title) or "(no title)",
        "state": issue.state,
        "labels": [{"name": label} for label in issue.labels],
        "milestone": {"title": issue.milestone},
        "url": issue.url,
        "blockedBy": [{"number": number} for number in read.waits if f"#{number}" in by_id],
        "subIssues": [{"number": number} for number in read.children],
    }


def _with_text(task: Task, read: ReadIssue) -> Task:
    text = read.text.description(read.issue.url)
    description = "\n\n".join(filter(None, [text, task.description]))  # which is its labels and its address
    return replace(task, description=description, acceptance=read.text.criteria())


def _left_out(snapshot: IssueSnapshot) -> tuple[LeftOutItem, ...]:
    skipped = [LeftOutItem(0, f"`#{issue.number}` is skipped: {issue.why}") for issue in snapshot.skipped]
    waiting = [
        LeftOutItem(0, f"`#{read.issue.number}` waits for `#{number}`, which is open and not among these issues")
        for read in snapshot.issues
        if read.issue.state == "open"
        for number in read.waits
        if number in snapshot.open_elsewhere
    ]
    return (*skipped, *waiting)


def _reference(origin: TaskOrigin) -> ForgeReference | None:
    """How the issues of an origin are read again; None for a file, and for what another version wrote."""
    try:
        reference = decode_json(origin.reference, ForgeReference)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return reference if reference.forge in FORGES else None


def _is_of(origin: TaskOrigin, forge: str, repository: str) -> bool:
    reference = _reference(origin)
    return reference is not None and (reference.forge, reference.repository) == (forge, repository)


def _numbers(origins: Collection[TaskOrigin]) -> set[int]:
    """The issues that became tasks."""
    ids = (item.id for origin in origins for item in origin.items.values())
    return {int(id[1:]) for id in ids if id.startswith("#") and id[1:].isascii() and id[1:].isdigit()}
