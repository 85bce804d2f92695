"""OpenSpec: the tasks.md of a change. Sections are never tasks, every box is one."""

from __future__ import annotations

import re
from typing import Any

from samuel.tasks.entries import TaskEntry, find_boxes
from samuel.tasks.formats.base import (
    BY_GRAMMAR,
    BY_NAME,
    ImportedTasks,
    Recognition,
    SourceDocument,
    documents_beside,
    in_order,
)
from samuel.tasks.formats.markdown_tasks import mark_box, tasks_of
from samuel.tasks.formats.source import TaskSource

FILE = "tasks.md"
DOCUMENTS = ("proposal.md", "design.md")
MAX_SPECS = 20
_SECTION = re.compile(r"^##\s+(\d+)[.)]\s", re.MULTILINE)
_BOX = re.compile(r"^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]+(\d+)\.\d", re.MULTILINE)


class OpenSpec:
    name = "openspec"
    summary = "the tasks.md of an OpenSpec change: numbered sections that hold boxes"
    example = "    ## 1. Storage\n    - [ ] 1.1 Store prices\n    - [x] 1.2 Read prices"
    marks = "the box of the task"
    stable_ids = False

    def recognise(self, source: TaskSource) -> Recognition | None:
        parts = source.parts()
        if parts and parts[-1] == FILE:
            if "openspec" in parts and ("changes" in parts or "initiatives" in parts):
                return Recognition(BY_NAME, "it is the tasks.md of a change below openspec/")
            if source.beside("proposal.md"):
                return Recognition(BY_NAME, "it is a tasks.md beside a proposal.md")
        if source.looks_like_json:
            return None
        sections = set(_SECTION.findall(source.text))
        if sections and sections & set(_BOX.findall(source.text)):
            return Recognition(BY_GRAMMAR, "its sections `## N. Title` hold boxes `- [ ] N.M`")
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        outline = source.outline
        selection = find_boxes(outline)
        imported = tasks_of(source, outline, selection, describe=_name_section, repeated_ids=True)
        notes = () if imported.tasks else ("it has no box, so there is no task",)
        if imported.tasks and all(task.status == "completed" for task in imported.tasks):
            notes = ("all of its tasks are done: `openspec archive` closes the change",)
        return imported._replace(tasks=in_order(imported.tasks), documents=_documents(source), notes=notes)

    mark_done = staticmethod(mark_box)


def _name_section(entry: TaskEntry, fields: dict[str, Any]) -> None:
    if entry.groups and not entry.parent and entry.groups[-1].heading.level > 1:
        section = f"Section: {entry.groups[-1].heading.text}"
        fields["description"] = f"{section}\n{fields['description']}".rstrip()


def _documents(source: TaskSource) -> tuple[SourceDocument, ...]:
    """What else the change has: why, how, and the requirements that it changes."""
    if source.path is None:
        return ()
    specs = sorted((source.path.parent / "specs").glob("*/spec.md"))[:MAX_SPECS]
    requirements = (SourceDocument(f"specs/{path.parent.name}/spec.md", path) for path in specs)
    return (*documents_beside(source, DOCUMENTS), *requirements)
