"""What each heading of an outline is: a task, a section with tasks, a group of them, or part of a task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from samuel.tasks.annotations import Title, heading_priority, title
from samuel.tasks.outline import OutlineBlock, OutlineHeading, OutlineItem, OutlineTable, PrdOutline, split_box

HeadingKind = Literal["", "section", "group", "task"]

SECTIONS = (  # the first kind that has tasks counts, together with those before it
    re.compile(
        r"\b(tasks?|implementation|steps?|work items?|to-?dos?|backlog|fix plan|checklist)\b", re.IGNORECASE
    ),
    re.compile(r"\b(stor(?:y|ies))\b", re.IGNORECASE),
    re.compile(r"\b(requirements?|features?|milestones?|roadmap|deliverables|issues)\b", re.IGNORECASE),
)
STORY = re.compile(r"(?:user story|story|task|step|work item)\s+[#(]?\d|US-?\d+", re.IGNORECASE)
GROUP = re.compile(r"(?:phase|milestone|sprint|epic|stage|iteration|week|day|part)\b", re.IGNORECASE)
CRITERIA = re.compile(r"\W*(?:acceptance criteri(?:a|on)|criteria|definition of done|done when)\W*", re.IGNORECASE)
_GROUP_WORDS = re.compile(
    r"(?:high|medium|low|critical)(?: priority)?|p[0-4]|(?:must|should|could) have|done|completed|to ?do"
    r"|in progress|backlog|pending|later|next|now|upcoming|blocked|setup|polish|testing|tests|documentation|docs"
    r"|backend|frontend|infrastructure",
    re.IGNORECASE,
)
_NO_TASKS = re.compile(
    r"(?:non-?\s*goals?|goals?|out of scope|overview|context|background|introduction|summary|notes?|references"
    r"|open questions|risks?|assumptions|constraints|dependencies|execution order|format|path conventions|strategy"
    r"|(?:non-?functional|functional) requirements)\b.*",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?:add|allow|build|change|clean|configure|convert|create|define|delete|design|disable|document|drop"
    r"|enable|ensure|export|expose|extend|extract|fix|handle|implement|import|improve|integrate"
    r"|introduce|make|migrate|move|parse|port|print|publish|read|refactor|release|remove|rename"
    r"|replace|report|return|rewrite|send|serve|set|show|sort|split|store|support|switch|test|update"
    r"|upgrade|use|validate|verify|write)\b",
    re.IGNORECASE,
)


@dataclass(eq=False)
class SectionHeading:
    """A heading with what stands directly below it, and what it is."""

    heading: OutlineHeading
    words: Title
    box: str | None
    above: SectionHeading | None
    kind: HeadingKind = ""
    boxes: int = 0
    numbered_boxes: int = 0
    prose: int = 0  # blocks of text
    marked: bool = False  # it says "Acceptance criteria"
    below: list[SectionHeading] = field(default_factory=list)

    @property
    def in_section(self) -> bool:
        return self.kind == "section" or bool(self.above and self.above.in_section)

    @property
    def task_above(self) -> SectionHeading | None:
        """The nearest heading above this one that is a task."""
        above = self.above
        while above and above.kind != "task":
            above = above.above
        return above


def classify(outline: PrdOutline, tier: int) -> dict[int, SectionHeading]:
    """The headings outside of lists by their line; `tier` says how many kinds of sections count."""
    headings = _with_content(outline)
    for entry in headings.values():
        entry.kind = _kind(entry, tier)
    return headings


def is_ambiguous(headings: Sequence[SectionHeading]) -> bool:
    """Whether the boxes below the task headings may as well be tasks, and the headings names of groups."""
    tasks = [entry for entry in headings if entry.kind == "task"]
    with_boxes = [entry for entry in tasks if entry.boxes]
    if not with_boxes or len(with_boxes) < len(tasks):  # a group always holds something
        return False
    if any(entry.prose or entry.marked or entry.numbered_boxes or entry.below for entry in tasks):
        return False
    verbs = sum(bool(_VERB.match(entry.words.text)) for entry in tasks)
    return 2 * verbs < len(tasks) and not any(STORY.match(entry.heading.text) for entry in tasks)


def _with_content(outline: PrdOutline) -> dict[int, SectionHeading]:
    headings: dict[int, SectionHeading] = {}
    stack: list[SectionHeading] = []
    for node in outline.nodes:
        if isinstance(node, OutlineHeading):
            if node.parent is None:
                while stack and stack[-1].heading.level >= node.level:
                    stack.pop()
                box, text = split_box(node.text)
                readable = box in (" ", "x", "X")
                words = title(text if readable else node.text)
                entry = SectionHeading(node, words, box if readable else None, stack[-1] if stack else None)
                if entry.above:
                    entry.above.below.append(entry)
                    entry.above.marked |= bool(CRITERIA.fullmatch(node.text))
                stack.append(entry)
                headings[node.line] = entry
        elif stack:
            _count(stack[-1], node, outline)
    return headings


def _count(entry: SectionHeading, node: OutlineItem | OutlineTable | OutlineBlock, outline: PrdOutline) -> None:
    if isinstance(node, OutlineItem):
        if node.box is not None:
            entry.boxes += 1
            entry.numbered_boxes += bool(title(node.text).id)
    elif node.parent is None and not (isinstance(node, OutlineBlock) and node.kind in ("comment", "rule")):
        if CRITERIA.fullmatch(outline.lines[node.end - 1]):
            entry.marked = True
        else:
            entry.prose += 1


def _kind(entry: SectionHeading, tier: int) -> HeadingKind:
    """What the heading is, once all above it are classified."""
    text, above = entry.words.text, entry.above
    if entry.task_above:
        return "task" if entry.words.id and not CRITERIA.fullmatch(text) else ""
    if above and above.in_section:
        if _NO_TASKS.fullmatch(text) or CRITERIA.fullmatch(text):
            return ""
        holds_tasks = entry.boxes or any(
            below.words.id or STORY.match(below.heading.text) for below in entry.below
        )
        if GROUP.match(entry.heading.text) and (holds_tasks or not entry.words.id):
            return "group"
        if entry.words.id:
            return "task"
        is_group = _GROUP_WORDS.fullmatch(text) or heading_priority(text) or (holds_tasks and not entry.boxes)
        return "group" if is_group else "task" if text else ""
    if STORY.match(entry.heading.text) and entry.words.id and tier > 1:
        return "task"
    return "section" if any(pattern.search(entry.heading.text) for pattern in SECTIONS[:tier]) else ""
