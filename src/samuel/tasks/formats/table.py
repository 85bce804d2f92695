"""All formats, and which of them fits a source."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from samuel.base.errors import ConfigError, UsageError
from samuel.base.nearest import did_you_mean
from samuel.tasks.formats.base import Recognition, TaskFormat
from samuel.tasks.formats.beads import Beads
from samuel.tasks.formats.bmad import Bmad
from samuel.tasks.formats.github import GitHubIssues
from samuel.tasks.formats.markdown import Checklist, Markdown
from samuel.tasks.formats.openspec import OpenSpec
from samuel.tasks.formats.prd_json import PrdJson
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.formats.spec_kit import SpecKit
from samuel.tasks.formats.task_master import TaskMaster

GENERAL: tuple[TaskFormat, ...] = (Markdown(), Checklist())  # looked at where no other format fits
FORMATS: tuple[TaskFormat, ...] = (
    *GENERAL,
    OpenSpec(),
    SpecKit(),
    Bmad(),
    PrdJson(),
    TaskMaster(),
    Beads(),
    GitHubIssues(),
)


class FittingFormat(NamedTuple):
    format: TaskFormat
    why: str


def built_in_format(name: str) -> TaskFormat | None:
    return next((format for format in FORMATS if format.name == name), None)


def format_named(name: str) -> TaskFormat:
    """The built-in format with this name. Raises UsageError."""
    if format := built_in_format(name):
        return format
    names = [format.name for format in FORMATS]
    raise UsageError(f"there is no format `{name}`", did_you_mean(name, names, f"one of {', '.join(names)}"))


def fitting_formats(source: TaskSource) -> list[FittingFormat]:
    """The formats that fit the source best: one, as a rule; several if they fit equally well."""
    recognised = _recognised(source, [format for format in FORMATS if format not in GENERAL])
    recognised = recognised or _recognised(source, GENERAL)
    best = max((recognition.fit for _, recognition in recognised), default=0)
    return [
        FittingFormat(format, recognition.why) for format, recognition in recognised if recognition.fit == best
    ]


def _recognised(source: TaskSource, formats: Sequence[TaskFormat]) -> list[tuple[TaskFormat, Recognition]]:
    recognised = []
    for format in formats:
        with suppress(ConfigError):  # it cannot be read, so that it is not of this format
            if recognition := format.recognise(source):
                recognised.append((format, recognition))
    return recognised


def nearest_examples(source: TaskSource) -> str:
    """What would have been accepted, nearest to what the source is."""
    kinds: Sequence[TaskFormat] = [format for format in FORMATS if format.name != "markdown"]
    if source.looks_like_json:
        examples = [format for format in kinds if format.example.lstrip().startswith(("{", "["))]
        shapes = "\n".join(f"  {format.name}:\n{format.example}" for format in examples)
        return f"in JSON these are accepted:\n{shapes}"
    return FORMATS[0].example
