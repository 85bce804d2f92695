"""GitHub issues, as `gh issue list --json number,title,body,...` prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from samuel.base.errors import Problem
from samuel.tasks.annotations import heading_priority
from samuel.tasks.formats.base import BY_GRAMMAR, ImportedTasks, LeftOutItem, Mark, Recognition, valid_tasks
from samuel.tasks.formats.json_records import JsonRecord
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.task import Task, TaskStatus

STATES: Mapping[str, TaskStatus] = {"open": "pending", "closed": "completed"}
_WAITS = re.compile(
    r"\b(?:depends on|blocked by|requires|after)\b:?\s+((?:(?:https://\S+/issues/|#)\d+(?:\s*(?:,|and|&)\s*)?)+)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:#|/issues/)(\d+)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_LABEL = re.compile(r"(?:priority|prio)?\s*[:/ -]?\s*(.+)", re.IGNORECASE)


class GitHubIssues:
    name = "github"
    summary = "issues of GitHub, as `gh issue list --json number,title,body,labels` prints them"
    example = '    [{"number": 12, "title": "Store prices", "body": "Depends on #11", "labels": [{"name": "P1"}]}]'
    marks = ""
    stable_ids = True

    def recognise(self, source: TaskSource) -> Recognition | None:
        if not source.looks_like_json or '"number"' not in source.text:
            return None
        values = source.json
        first = values[0] if isinstance(values, list) and values else values
        if isinstance(first, dict) and {"number", "title"} <= first.keys():
            return Recognition(BY_GRAMMAR, "it is JSON with a `number` and a `title` for each issue")
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        values = source.json
        issues = values if isinstance(values, list) else [values]
        is_list = isinstance(values, list)
        lines = [source.line_of(element.start) for element in source.json_root.members] if is_list else [1]
        problems: list[Problem] = []
        records = [
            JsonRecord(issue, source.name, line, "issue", problems)
            for issue, line in zip(issues, lines, strict=True)
        ]
        numbered = [(record.number("number", 0), record) for record in records]
        for number, record in numbered:
            if record.values and number < 1:
                record.refuse("this issue has no `number`", "ask gh for it: `--json number,title,body`")
        numbered.sort(key=lambda issue: issue[0])  # an API has an order of its own
        tasks, left_out = _tasks(numbered)
        return valid_tasks(source, tasks, [record.line for _, record in numbered], problems)._replace(
            counts={"issues": len(issues)},
            left_out=tuple(left_out),
            notes=("nothing is written back: close the issues with `gh issue close`",),
        )

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        return None


def _tasks(issues: Sequence[tuple[int, JsonRecord]]) -> tuple[list[Task], list[LeftOutItem]]:
    existing = {number for number, _ in issues}
    closed = {number for number, record in issues if str(record.values.get("state")).lower() == "closed"}
    parents: dict[int, int] = {}
    for number, record in issues:
        parents |= {child: number for child in _numbers(record.values.get("subIssues")) if child in existing}
        for above in _numbers([record.values.get("parent")]):
            if above in existing:
                parents[number] = above
    children: dict[int, list[int]] = {}
    for child, parent in sorted(parents.items()):
        if child not in closed:
            children.setdefault(parent, []).append(child)
    waits_of = {
        number: list(dict.fromkeys([*_numbers(record.values.get("blockedBy")), *waited_for(record.text("body"))]))
        for number, record in issues
    }
    tasks, left_out = [], []
    for number, record in issues:
        is_open, waits = number not in closed, waits_of[number]
        for other in waits if is_open else ():
            if other not in existing:
                what = f"`#{number}` waits for `#{other}`, which is not in the list; it may be closed"
                left_out.append(LeftOutItem(record.line, what))
        below = [child for child in children.get(number, ()) if is_open and number not in waits_of[child]]
        needed = [other for other in waits if other in existing and other != number and is_open]
        tasks.append(_task(record, number, [*needed, *below], parents.get(number), bool(below)))
    return tasks, left_out


def _task(record: JsonRecord, number: int, needed: Iterable[int], parent: int | None, has_children: bool) -> Task:
    labels = [_name(label) for label in record.items("labels")]
    status = record.choice("state", STATES, "pending")
    milestone = _name(record.values.get("milestone"))
    facts = [
        *([f"Labels: {', '.join(labels)}"] if labels else []),
        *([f"Milestone: {milestone}"] if milestone else []),
        *([url] if (url := record.text("url")) else []),
    ]
    body = record.text("body").replace("\r\n", "\n").strip()
    return Task(
        id=f"#{number}",
        title=record.title(),
        description="\n\n".join(part for part in (body, "\n".join(facts)) if part),
        status=status,
        priority=label_priority(labels) or "medium",  # type: ignore[arg-type]  # of PRIORITIES
        depends_on=tuple(dict.fromkeys(f"#{other}" for other in needed)),
        parent_id=f"#{parent}" if parent else "",
        no_change=has_children,
    )


def label_priority(labels: Iterable[str]) -> str:
    """The priority that one of the labels says, such as `P1` or `priority: high`; "" if none does."""
    for label in labels:
        match = _LABEL.fullmatch(label.strip())
        if match and (priority := heading_priority(match[1])):
            return priority
    return ""


def _numbers(issues: object) -> Iterator[int]:
    """The numbers of linked issues: a list of objects, or an object with `nodes`."""
    if isinstance(issues, dict):
        issues = issues.get("nodes")
    for issue in issues if isinstance(issues, list) else ():
        number = issue.get("number") if isinstance(issue, dict) else issue
        if isinstance(number, int) and not isinstance(number, bool) and number > 0:
            yield number


def waited_for(body: str) -> Iterator[int]:
    """The issues that the text says it waits for."""
    for match in _WAITS.finditer(_CODE.sub("", body)):
        yield from (int(number) for number in _NUMBER.findall(match[1]) if len(number) < 12)


def _name(value: Any) -> str:
    name = value.get("name") or value.get("title") if isinstance(value, dict) else value
    return str(name) if name else ""
