"""BMAD: epics.md with stories, the sprint-status.yaml that tracks them, and a file for each story."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import Problem
from samuel.base.nearest import did_you_mean
from samuel.files import yaml
from samuel.tasks.formats.base import (
    BY_GRAMMAR,
    BY_NAME,
    ImportedTasks,
    LeftOutItem,
    Mark,
    Recognition,
    documents_beside,
    in_order,
    valid_tasks,
)
from samuel.tasks.formats.markdown_tasks import counts_of
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.headings import CRITERIA
from samuel.tasks.outline import OutlineHeading, PrdOutline
from samuel.tasks.task import Task, TaskStatus

SPRINT, EPICS, REVIEW = "sprint-status.yaml", "epics.md", "review"
STATUSES: Mapping[str, TaskStatus] = {
    "backlog": "pending",
    "drafted": "pending",
    "ready-for-dev": "pending",
    "in-progress": "pending",
    REVIEW: "completed",
    "done": "completed",
}
DOCUMENTS = ("prd.md", "architecture.md", "ux-design-specification.md")
_SPRINT_PLACES, _EPICS_PLACES = (
    tuple(f"{place}{name}" for place in ("", "../", f"../{artifacts}/", f"{artifacts}/"))
    for name, artifacts in ((SPRINT, "implementation-artifacts"), (EPICS, "planning-artifacts"))
)
_EPIC = re.compile(r"Epic\s+(\d+)\s*[:.–—-]\s*(.+)", re.IGNORECASE)
_STORY = re.compile(r"Story\s+(\d+)\.(\d+)\s*[:.–—-]\s*(.+)", re.IGNORECASE)
_STORY_LINE = re.compile(r"^#{1,4}[ \t]+Story[ \t]+\d+\.\d+[ \t]*[:.–—-]", re.MULTILINE | re.IGNORECASE)
_KEY = re.compile(r"(\d+)-(\d+)(?:-(.*))?")
_STATUS_LINE = re.compile(r"^Status:[ \t]*([\w-]+)[ \t]*\r?$", re.MULTILINE)
_STEP = re.compile(r"\W*(?:when|then|and|but)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")


class Story(NamedTuple):
    id: str
    title: str
    line: int
    description: str = ""
    acceptance: tuple[str, ...] = ()
    status: str = ""  # as the source has it


class Bmad:
    name = "bmad"
    summary = "BMAD: epics.md, sprint-status.yaml or the file of a story"
    example = "    ## Epic 1: Prices\n    ### Story 1.1: Store prices"
    marks = "the status of the story becomes `review`: its rule is that another model reviews"
    stable_ids = True

    def recognise(self, source: TaskSource) -> Recognition | None:
        if source.path and source.path.name == SPRINT:
            return Recognition(BY_NAME, f"it is a {SPRINT}")
        if source.looks_like_json:
            return None
        if _STORY_LINE.search(source.text):
            if re.search(r"^#{1,3}[ \t]+Epic[ \t]+\d+", source.text, re.MULTILINE):
                return Recognition(BY_GRAMMAR, "it has headings `Epic N: ...` and `Story N.M: ...`")
            if _STATUS_LINE.search(source.text):
                return Recognition(BY_GRAMMAR, "it has a heading `Story N.M: ...` and a line `Status: ...`")
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        files = _BmadFiles(source)
        stories, left_out = list(files.stories()), list[LeftOutItem]()
        tracked = files.tracked()
        problems = _unknown_statuses(files, tracked, stories)
        ids = {story.id for story in stories}
        for id, entry in tracked.items():
            if id not in ids and files.epics is not None:
                left_out.append(LeftOutItem(0, f"`{entry.key}` of {SPRINT} is not in {EPICS}"))
            elif id not in ids:
                stories.append(Story(id, entry.title, entry.line))
        tasks = in_order([_task(story, tracked, files) for story in stories])
        lines = [story.line for story in stories]
        has_status = files.sprint or (stories and stories[0].status)
        return valid_tasks(source, tasks, lines, problems)._replace(
            counts={**({} if files.is_yaml else counts_of(source.outline)), "stories": len(stories)},
            left_out=tuple(left_out),
            notes=() if has_status else (f"there is no {SPRINT}, so nothing can be written back",),
            documents=documents_beside(files.epics or source, DOCUMENTS),
        )

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        files, id = _BmadFiles(source), imported.tasks[index].id
        if files.sprint and (entry := files.tracked().get(id)):
            text, path = files.sprint.exact_text, files.sprint.path
            pattern = rf"^[ \t]+([\"']?){re.escape(entry.key)}\1[ \t]*:[ \t]*([\"']?)([\w-]+)\2[ \t]*(?:#.*)?\r?$"
            match, group = re.search(pattern, text, re.MULTILINE), 3
        else:
            text, path = source.exact_text, source.path
            match, group = _STATUS_LINE.search(text), 1
        if match is None or path is None:
            return None
        status = match[group]
        new = status if STATUSES.get(status) == "completed" else REVIEW
        return Mark(path, match.start(group), match.end(group), new)


class _Tracked(NamedTuple):
    key: str
    title: str
    status: str
    line: int


class _BmadFiles:
    """The files around a source: it may be the epics, the sprint, or the file of one story."""

    def __init__(self, source: TaskSource) -> None:
        self.source = source
        self.is_yaml = source.path is not None and source.path.name.endswith((".yaml", ".yml"))
        self.sprint = source if self.is_yaml else _opened(source, _SPRINT_PLACES)
        self.is_story = not self.is_yaml and _STATUS_LINE.search(source.text) is not None
        self.epics = _opened(source, _EPICS_PLACES) if self.is_yaml else None if self.is_story else source

    def stories(self) -> Iterator[Story]:
        if self.is_story:
            yield _story_of_file(self.source)
        elif self.epics is not None:
            yield from _stories_of_epics(self.epics)

    def tracked(self) -> dict[str, _Tracked]:
        """What sprint-status.yaml says of each story, by its id. Raises ConfigError for broken YAML."""
        if self.sprint is None or self.is_story:
            return {}
        document = yaml.load(self.sprint.data, self.sprint.name)
        statuses = document.mapping().get("development_status")
        entries: dict[str, _Tracked] = {}
        for key, status in statuses.items() if isinstance(statuses, dict) else ():
            if match := _KEY.fullmatch(str(key)):
                title = (match[3] or "").replace("-", " ").strip().capitalize() or str(key)
                line = document.lines.of(("development_status", key))
                entries[f"{match[1]}.{match[2]}"] = _Tracked(str(key), title, str(status), line)
        return entries

    def story_file(self, entry: _Tracked | None) -> TaskSource | None:
        if entry is None or self.sprint is None:
            return None
        return _opened(self.sprint, (f"{entry.key}.md", f"stories/{entry.key}.md"))


def _opened(source: TaskSource, names: Sequence[str]) -> TaskSource | None:
    path = source.beside(*names)
    return TaskSource.of_file(Path(path)) if path else None


def _unknown_statuses(
    files: _BmadFiles, tracked: Mapping[str, _Tracked], stories: Sequence[Story]
) -> list[Problem]:
    named = [(entry.status, files.sprint.name, entry.line) for entry in tracked.values()] if files.sprint else []
    named += [(story.status, files.source.name, story.line) for story in stories if story.status]
    otherwise = f"one of {', '.join(STATUSES)}"
    return [
        Problem(f"`{status}` is not a valid status", file, line, did_you_mean(status, STATUSES, otherwise))
        for status, file, line in named
        if status not in STATUSES
    ]


def _task(story: Story, tracked: Mapping[str, _Tracked], files: _BmadFiles) -> Task:
    entry = tracked.get(story.id)
    if (file := files.story_file(entry)) is not None:
        detailed = _story_of_file(file)
        description = detailed.description or story.description
        story = story._replace(description=description, acceptance=detailed.acceptance or story.acceptance)
    status = entry.status if entry else story.status
    return Task(
        id=story.id,
        title=story.title,
        description=story.description,
        acceptance=story.acceptance,
        status=STATUSES.get(status, "pending"),
    )


def _stories_of_epics(source: TaskSource) -> Iterator[Story]:
    outline, epic = source.outline, ""
    for node in outline.nodes:
        if not isinstance(node, OutlineHeading) or node.parent:
            continue
        if match := _EPIC.fullmatch(node.text.strip("* ")):
            epic = f"Epic {match[1]}: {match[2]}"
        elif match := _STORY.fullmatch(node.text.strip("* ")):
            text, acceptance = _split_criteria(_below(node, outline))
            description = "\n\n".join(part for part in (epic, text) if part)
            yield Story(f"{match[1]}.{match[2]}", match[3].strip(), node.line, description, acceptance)


def _story_of_file(source: TaskSource) -> Story:
    """The story, its tasks and its notes as the description; its numbered criteria as acceptance criteria."""
    outline = source.outline
    headings = [node for node in outline.nodes if isinstance(node, OutlineHeading) and not node.parent]
    first = next((heading for heading in headings if _STORY.fullmatch(heading.text)), None)
    match = _STORY.fullmatch(first.text) if first else None
    status = _STATUS_LINE.search(source.text)
    line = source.text.count("\n", 0, status.start()) + 1 if status else first.line if first else 1
    parts, acceptance = [], tuple[str, ...]()
    for heading in headings:
        if heading.level != 2:
            continue
        lines = _below(heading, outline)
        if CRITERIA.fullmatch(heading.text):
            acceptance = _criteria(lines)
        elif re.match(r"story|tasks|dev notes", heading.text, re.IGNORECASE):
            text = "\n".join(lines).strip("\n")
            parts.append(text if heading.text.lower() == "story" else f"{heading.text}:\n{text}")
    id = f"{match[1]}.{match[2]}" if match else "1"
    title = match[3].strip() if match else source.name
    description = "\n\n".join(part for part in parts if part.strip())
    return Story(id, title, line, description, acceptance, status[1] if status else "")


def _below(heading: OutlineHeading, outline: PrdOutline) -> list[str]:
    numbers = range(heading.below, heading.end + 1)
    return [outline.lines[number - 1].rstrip() for number in numbers if number not in outline.comment_lines]


def _split_criteria(lines: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The text above "Acceptance Criteria", and what stands below it."""
    label = next((index for index, line in enumerate(lines) if line.strip() and CRITERIA.fullmatch(line)), None)
    if label is None:
        return "\n".join(lines).strip("\n"), ()
    return "\n".join(lines[:label]).strip("\n"), _criteria(lines[label + 1 :])


def _criteria(lines: Sequence[str]) -> tuple[str, ...]:
    """One criterion for each item of a list, and for each `Given ... When ... Then`."""
    criteria: list[str] = []
    empty = True
    for line in lines:
        words = line.replace("**", "").strip()
        if not words:
            empty = True
            continue
        goes_on = criteria and ((not empty and not _ITEM.match(line)) or _STEP.match(words))
        if goes_on:
            criteria[-1] += f"\n{words}"
        else:
            criteria.append(_ITEM.sub("", words, count=1))
        empty = False
    return tuple(criteria)
