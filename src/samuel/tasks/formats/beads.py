"""beads: issues as JSON lines (`.beads/issues.jsonl`, `bd export`), or as one JSON list (`bd ready --json`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from samuel.base.decoding import decode_json
from samuel.base.errors import ConfigError, Problem
from samuel.tasks.formats.base import (
    BY_GRAMMAR,
    BY_NAME,
    ImportedTasks,
    LeftOutItem,
    Mark,
    Recognition,
    line_numbers,
    valid_tasks,
)
from samuel.tasks.formats.json_records import JsonRecord
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.task import PRIORITIES, Task, TaskStatus

BLOCKING = ("blocks", "conditional-blocks", "waits-for")
PARENT = "parent-child"
TOMBSTONE = "tombstone"
NO_WORK = ("message", "molecule", "gate", "event", "role", "agent")  # types of issues
STATUSES: Mapping[str, tuple[TaskStatus, str]] = {
    "open": ("pending", ""),
    "in_progress": ("pending", ""),
    "hooked": ("pending", ""),
    "blocked": ("blocked", "blocked in the source"),
    "deferred": ("blocked", "deferred in the source"),
    "closed": ("completed", ""),
}


class _Issue(NamedTuple):
    values: Any
    start: int  # in the text
    line: int


class Beads:
    name = "beads"
    summary = "issues of beads: JSON lines, or the list that `bd ready --json` prints"
    example = '    {"id": "bd-a1", "title": "Store prices", "status": "open", "priority": 1, "issue_type": "task"}'
    marks = "`status` of the issue becomes `closed`"
    stable_ids = True

    def recognise(self, source: TaskSource) -> Recognition | None:
        if not source.looks_like_json:
            return None
        if ".beads" in source.parts():
            return Recognition(BY_NAME, "it is below .beads/")
        if '"issue_type"' not in source.text and '"depends_on_id"' not in source.text:
            return None
        issues = list(_issues(source, limit=1))
        values = issues[0].values if issues else None
        if isinstance(values, dict) and {"id", "title", "status"} <= values.keys():
            return Recognition(BY_GRAMMAR, "it is JSON with an `issue_type` for each issue")
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        problems: list[Problem] = []
        records, left_out_lines = [], dict[str, list[int]]()
        for issue in _issues(source):
            if why := _no_task(issue.values):
                left_out_lines.setdefault(why, []).append(issue.line)
            else:
                records.append(JsonRecord(issue.values, source.name, issue.line, "issue", problems))
        tasks, missing = _tasks(records)
        left_out = [LeftOutItem(lines[0], _counted(why, lines)) for why, lines in left_out_lines.items()]
        total = len(records) + sum(map(len, left_out_lines.values()))
        return valid_tasks(source, tasks, [record.line for record in records], problems)._replace(
            counts={"issues": total}, left_out=tuple(sorted([*left_out, *missing]))
        )

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        id = imported.tasks[index].id
        issues = (issue for issue in _issues(source) if isinstance(issue.values, dict))
        issue = next((issue for issue in issues if str(issue.values.get("id", "")).strip() == id), None)
        place = source.json_at(issue.start).at(("status",)) if issue else None
        if place is None or source.path is None:
            return None
        return Mark(source.path, place.start, place.end, '"closed"')


def _issues(source: TaskSource, limit: int | None = None) -> Iterator[_Issue]:
    """The objects of the source: one a line, or the elements of a list."""
    text, start = source.exact_text, source.line_starts[0]
    if text[start:].lstrip()[:1] == "[":
        for element, value in zip(source.json_root.members, source.json, strict=True):
            yield _Issue(value, element.start, source.line_of(element.start))
        return
    ends = [*source.line_starts[1:], len(text)]
    lines = enumerate(zip(source.line_starts, ends, strict=True), start=1)
    rows = ((line, begin, text[begin:end]) for line, (begin, end) in lines if text[begin:end].strip())
    for line, begin, row in islice(rows, limit):
        try:
            yield _Issue(decode_json(row.encode()), begin, line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ConfigError([source.json_problem(row.strip(), str(error), line)]) from None


def _no_task(values: Any) -> str:
    """What an issue is instead of work; "" if it is work."""
    if not isinstance(values, dict):
        return ""
    kind = str(values.get("issue_type") or "")
    reasons = (
        ("memory", values.get("_type") == "memory"),
        ("tombstone", values.get("status") == TOMBSTONE),
        ("template", values.get("is_template") is True),
        ("pinned issue", values.get("pinned") is True or values.get("status") == "pinned"),
        ("ephemeral issue", values.get("ephemeral") is True),
        (f"issue of the type {kind}", kind in NO_WORK),
    )
    return next((name for name, holds in reasons if holds), "")


def _counted(why: str, lines: Sequence[int]) -> str:
    plural = "" if len(lines) == 1 else "s"
    what = why.replace("memory", "memorie") if len(lines) > 1 else why
    what = what.replace("issue of", f"issue{plural} of") if " of " in what else f"{what}{plural}"
    return f"{len(lines)} {what} left out ({line_numbers(lines)})"


def _tasks(records: Sequence[JsonRecord]) -> tuple[list[Task], list[LeftOutItem]]:
    open_ids = {record.text("id").strip(): record.values.get("status") != "closed" for record in records}
    blockers: dict[str, list[str]] = {}
    parents: dict[str, str] = {}
    missing: list[LeftOutItem] = []
    for record in records:
        id = record.text("id").strip()
        for dependency in record.items("dependencies"):
            edge = dependency if isinstance(dependency, dict) else {}
            kind = str(edge.get("type") or edge.get("dependency_type") or "blocks")
            other = str(edge.get("depends_on_id") or edge.get("id") or "").strip()
            if kind not in (*BLOCKING, PARENT) or not other or other == id:
                continue
            if other not in open_ids:
                if open_ids[id] and kind != PARENT:
                    what = f"`{id}` is blocked by `{other}`, which is not in the list; it may be closed"
                    missing.append(LeftOutItem(record.line, what))
            elif kind == PARENT:
                parents[id] = other
            else:
                blockers.setdefault(id, []).append(other)
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        if open_ids[child]:
            children.setdefault(parent, []).append(child)
    waits = {id: _waits(id, blockers, parents, children) if is_open else () for id, is_open in open_ids.items()}
    return [_task(record, waits, parents, children) for record in records], missing


def _waits(
    id: str, blockers: Mapping[str, list[str]], parents: Mapping[str, str], children: Mapping[str, list[str]]
) -> tuple[str, ...]:
    """What an open issue waits for: its blockers, those of the issues above it, and its open children."""
    own = blockers.get(id, [])
    inherited, above, passed = list[str](), parents.get(id, ""), {id}
    while above and above not in passed:
        passed.add(above)
        siblings = children.get(above, [])
        inherited += (other for other in blockers.get(above, []) if other not in siblings and other not in passed)
        above = parents.get(above, "")
    below = [child for child in children.get(id, []) if id not in blockers.get(child, [])]
    return tuple(dict.fromkeys([*own, *inherited, *below]))


def _task(
    record: JsonRecord,
    waits: Mapping[str, tuple[str, ...]],
    parents: Mapping[str, str],
    children: Mapping[str, list[str]],
) -> Task:
    id = record.text("id", needed=True).strip()
    status, reason = record.choice("status", STATUSES, STATUSES["open"])
    needed = waits.get(id, ())
    if record.values.get("status") == "blocked" and needed:
        status, reason = "pending", ""  # by what it waits for, not by a person
    priority = record.number("priority", 2)
    if not 0 <= priority <= 4:
        record.refuse(f"`{priority}` is not a valid priority", "0 is the most urgent, 4 the least")
    parts = [record.text("description")]
    parts += [f"{name.title()}:\n{text}" for name in ("design", "notes") if (text := record.text(name).strip())]
    return Task(
        id=id,
        title=record.title(),
        description="\n\n".join(part.strip() for part in parts if part.strip()),
        status=status,
        last_failure=reason,
        priority=PRIORITIES[min(max(priority, 0), 3)],
        rank=int(priority == 4),  # below all others that are low
        parent_id=parents.get(id, ""),
        depends_on=needed,
        acceptance=record.texts("acceptance_criteria"),
        completed_at=record.text("closed_at") if status == "completed" else "",
        no_change=bool(children.get(id)),
    )
