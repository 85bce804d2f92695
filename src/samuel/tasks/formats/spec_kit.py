"""spec-kit: the tasks.md of a feature. Phases in order, `[P]` for parallel, `[US1]` for the story of a task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from samuel.tasks import graph
from samuel.tasks.annotations import heading_priority
from samuel.tasks.entries import TaskEntries, TaskEntry, find_boxes
from samuel.tasks.formats.base import BY_GRAMMAR, BY_NAME, ImportedTasks, Recognition, documents_beside, in_order
from samuel.tasks.formats.markdown_tasks import mark_box, tasks_of
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.headings import SectionHeading
from samuel.tasks.outline import PrdOutline
from samuel.tasks.task import Task

FILE = "tasks.md"
DOCUMENTS = ("spec.md", "plan.md", "research.md", "data-model.md", "quickstart.md")
_TASK = re.compile(r"^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]+T\d{3,}\b", re.MULTILINE)
_LABEL = re.compile(r"^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]+T\d{3,}[ \t]+\[(?:P|US\d+)\]", re.MULTILINE)
_PHASE = re.compile(r"^##\s+Phase\b", re.MULTILINE | re.IGNORECASE)
_LABELS = re.compile(r"(?:\[(P|US\d+)\]\s*)")
_FACT = re.compile(r"\*\*(Goal|Purpose|Independent Test)\*\*\s*:\s*(.+)", re.IGNORECASE)
_BLOCKING = re.compile(r"phase\s+\S+\s*[:.–—-]?\s*(?:setup|foundation)|.*blocking prerequisites", re.IGNORECASE)
_LAST = re.compile(r".*\b(?:polish|cross-cutting)\b", re.IGNORECASE)


class SpecKit:
    name = "spec-kit"
    summary = "the tasks.md of a spec-kit feature: phases of boxes `T001 [P] [US1] Title`"
    example = (
        "    ## Phase 3: User Story 1 - Prices (Priority: P1)\n"
        "    - [ ] T012 [P] [US1] Store prices in src/prices.py"
    )
    marks = "the box of the task"
    stable_ids = False

    def recognise(self, source: TaskSource) -> Recognition | None:
        if source.looks_like_json or not _TASK.search(source.text):
            return None
        parts = source.parts()
        if len(parts) > 3 and parts[-1] == FILE and parts[-3] == "specs":
            return Recognition(BY_NAME, "it is a tasks.md below specs/ with boxes like `T001`")
        if parts and parts[-1] == FILE and source.beside("spec.md", "plan.md"):
            return Recognition(BY_NAME, "it is a tasks.md beside a spec.md or a plan.md, with boxes like `T001`")
        if _LABEL.search(source.text) or _PHASE.search(source.text):
            return Recognition(BY_GRAMMAR, "it has boxes like `T001 [P] [US1]`, or phases of boxes like `T001`")
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        outline = source.outline
        selection = find_boxes(outline)
        phases = _Phases(outline)
        imported = tasks_of(source, outline, selection, describe=phases.describe)
        tasks = in_order(_with_gate(imported.tasks, imported.lines, selection))
        return imported._replace(tasks=tasks, documents=documents_beside(source, DOCUMENTS))

    mark_done = staticmethod(mark_box)


class _Phases:
    def __init__(self, outline: PrdOutline) -> None:
        self._outline = outline
        self._facts: dict[int, dict[str, str]] = {}  # by the line of a heading

    def describe(self, entry: TaskEntry, fields: dict[str, Any]) -> None:
        """Take the labels out of the title, and tell the task what its phase is for."""
        labels = _LABELS.findall(entry.title.text)
        entry.title = entry.title._replace(text=_LABELS.sub("", entry.title.text).strip() or entry.title.text)
        lines = [f"Story: {label}" for label in labels if label != "P"]
        phase = phase_of(entry)
        if phase:
            facts = self._facts_of(phase)
            named = [f"{name}: {facts[name]}" for name in ("Goal", "Purpose") if name in facts]
            lines = [phase.heading.text, *lines, *named]
            if test := facts.get("Independent Test"):
                lines.append(f"Independent test: {test}")
                fields.setdefault("test_strategy", test)
            if is_blocking(phase):
                fields.setdefault("priority", "critical")
            elif _LAST.match(phase.heading.text):
                fields.setdefault("priority", "low")
        fields["description"] = "\n".join([*lines, fields["description"]]).strip("\n")

    def _facts_of(self, phase: SectionHeading) -> dict[str, str]:
        heading = phase.heading
        if heading.line not in self._facts:
            end = min((below.heading.line for below in phase.below), default=heading.end + 1)
            facts: dict[str, str] = {}
            for line in self._outline.lines[heading.below - 1 : end - 1]:
                if match := _FACT.match(line.strip()):
                    facts.setdefault(match[1].title(), match[2].strip())
            self._facts[heading.line] = facts
        return self._facts[heading.line]


def phase_of(entry: TaskEntry) -> SectionHeading | None:
    return next((group for group in entry.groups if group.heading.level == 2), None)


def is_blocking(phase: SectionHeading) -> bool:
    return bool(_BLOCKING.match(phase.heading.text)) and not heading_priority(phase.heading.text)


def _with_gate(tasks: Sequence[Task], lines: Sequence[int], selection: TaskEntries) -> tuple[Task, ...]:
    """No story begins before setup and foundation are done: the last task of these waits for all before it, and
    every task behind it waits for that one."""
    phases = {entry.line: phase_of(entry) for entry in selection.entries}
    blocking = [index for index, line in enumerate(lines) if (phase := phases[line]) and is_blocking(phase)]
    if not blocking:
        return tuple(tasks)
    last = blocking[-1]
    waits = {last: [tasks[index].id for index in blocking[:-1]]}
    waits |= {index: [tasks[last].id] for index in range(last + 1, len(tasks))}
    gated = tuple(
        replace(task, depends_on=tuple(dict.fromkeys([*task.depends_on, *waits.get(index, ())])))
        for index, task in enumerate(tasks)
    )
    return tuple(tasks) if graph.problems(gated) else gated  # what the file itself says about waiting comes first
