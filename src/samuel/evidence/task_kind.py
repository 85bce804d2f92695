"""What kind of work a task is: its `Kind:`, or what its title says plainly.

Only a fix or a feature is sent back when its tests show nothing. So the words are chosen to be sure: a title that
could be several things has no kind, and the task is never sent back for missing tests.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

TaskKind = Literal["fix", "feature", "refactor", "docs", "chore", "perf", "test"]
TASK_KINDS: tuple[TaskKind, ...] = get_args(TaskKind)

MAX_TITLE = 500  # characters that are read

_OTHER_NAMES: dict[str, TaskKind] = {
    "bug": "fix",
    "bugfix": "fix",
    "hotfix": "fix",
    "feat": "feature",
    "enhancement": "feature",
    "refactoring": "refactor",
    "cleanup": "refactor",
    "style": "chore",
    "doc": "docs",
    "documentation": "docs",
    "build": "chore",
    "ci": "chore",
    "deps": "chore",
    "release": "chore",
    "performance": "perf",
    "tests": "test",
    "testing": "test",
}
# `fix(parser): ...`, `feat!: ...`, `[bug] ...`, `docs - ...`
_PREFIX = re.compile(r"\[?([a-z]{2,15})\]?(?:\([^()]{0,60}\))?!?\s*(?::|\]|\s-\s)\s*", re.IGNORECASE)
# `Fix #233: drop support for 3.5` closes an issue; what is done stands behind it.
_CLOSES = re.compile(r"(?:fix|close|resolve)(?:e?s|e?d)? \(?#\d{1,9}\)?[:,]\s+(?=\S)", re.IGNORECASE)
_NUMBER = re.compile(r"^(?:[#(\[]?[\w.-]*\d[\w.]*[)\]:.]?\s+|[-*]\s+|\[[ x]\]\s+)+", re.IGNORECASE)

# What a title is about, whatever its verb is: these are asked first, and a docs task with "fix" in it is no fix.
_SUBJECTS: tuple[tuple[TaskKind, re.Pattern[str]], ...] = (
    (
        "docs",
        re.compile(
            r"^(?:document(?!s\b)|describe|explain)\b|\b(?:typos?|spelling|docstrings?|readme"
            r"|changelog|code comments)\b|^(?:add|write|create|update|improve|fix)\s+(?:\S+\s+){0,2}docs?\b"
            r"|\b(?:the|in|to|of|api|user|update|write|add|fix|improve)\s+(?:the\s+|our\s+|api\s+|user\s+)*"
            r"(?:docs|documentation|manual|tutorial|guide|comments)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "test",
        re.compile(
            r"^(?:add|write|extend|improve|increase|create|implement|fix|update|adapt|repair"
            r"|stabili[sz]e|unskip|cover)\b"
            r"(?:\s+\S+){0,5}?\s+(?:unit |integration |end-to-end |e2e |regression |missing |more "
            r"|flaky |failing )*"
            r"(?:tests?|test cases?|test coverage|specs?|coverage|snapshots?)\b(?!\s+(?:command"
            r"|runner|button|mode|page))"
            r"|^tests?\b(?:\s+for\b|\s+\S+\s+(?:with|against)\b)|^cover\s",
            re.IGNORECASE,
        ),
    ),
    (
        "perf",
        re.compile(
            r"\b(?:speed up|faster|optimi[sz]e|performance|memory usage|latency|throughput"
            r"|less memory|fewer queries"
            r"|n\+1|benchmark)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "chore",
        re.compile(
            r"^(?:bump|upgrade|pin|downgrade|release|vendor)\b|\b(?:dependenc(?:y|ies)"
            r"|github actions?|ci pipeline"
            r"|workflow file|linter|lints?|clippy|flake8|pylint|isort|rustfmt|gofmt|pyupgrade"
            r"|stylecheck|pre-commit|lockfile|lock file|gitignore|dockerfile"
            r"|docker(?:-compose)?|copyright|editorconfig|licen[cs]e header|makefile|tsconfig"
            r"|scaffold\w*|boilerplate|project (?:structure|skeleton|layout))\b"
            r"|^(?:update|set up|configure|switch to)\s+(?:ci|eslint|prettier|ruff|black|mypy"
            r"|travis|tox|node|python|rust)\b"
            r"|^(?:format|reformat|lint)\s+(?:the\s+)?(?:code|files|everything|sources?)\b",
            re.IGNORECASE,
        ),
    ),
)
_VERBS: tuple[tuple[TaskKind, re.Pattern[str]], ...] = (
    (
        "refactor",
        re.compile(
            r"^(?:refactor|rename|move|extract|inline|split|simplify|clean ?up|tidy|restructure"
            r"|reorgani[sz]e|dedup"
            r"|deduplicate|consolidate|modulari[sz]e|rewrite|port|migrate|convert|modernize"
            r"|decouple|unify|reduce duplication"
            r"|remove|delete|drop|deprecate|get rid of|replace|merge|introduce an? (?:interface|abstraction)"
            r"|(?:add (?:more )?)?(?:type (?:hints|annotations)|typing)|add (?:types|annotations))\b",
            re.IGNORECASE,
        ),
    ),
    (
        "fix",
        re.compile(
            r"^(?:fix|correct|repair|resolve|prevent|avoid|don't|do not|stop|handle|hotfix|patch)\b"
            r"|\b(?:crash(?:es|ed|ing)?|bug|regression|broken|incorrect(?:ly)?|wrong(?:ly)?"
            r"|fails? (?:to|when|if|with|on)"
            r"|does(?: not|n't)|should not|must not|no longer|off[- ]by[- ]one|memory leak"
            r"|race condition|deadlock"
            r"|traceback|raises? \w*Error|throws?|leaks?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "feature",
        re.compile(
            r"^(?:add|implement|support|allow|enable|introduce|create|build|provide|expose|offer"
            r"|accept|let|make it possible"
            r"|new|extend|integrate|include|show|display|print|return|export|import|validate|parse"
            r"|generate|emit|send"
            r"|store|save|load|sort|filter|search)\b|\bshould (?:accept|support|allow|also|return"
            r"|show|print|be able)\b",
            re.IGNORECASE,
        ),
    ),
)


def task_kind(kind: str, title: str) -> TaskKind | None:
    """What the author wrote as the task's `Kind:`, else what its title says; None if that is not plain."""
    if kind.strip():
        return _named(kind)
    text = _NUMBER.sub("", " ".join(title[:MAX_TITLE].split()))
    prefix = _PREFIX.match(text)
    if prefix and (named := _named(prefix[1])) is not None:
        return named
    text = text.strip("`*_ ")
    if closes := _CLOSES.match(text):
        return task_kind("", text[closes.end() :]) or "fix"
    for subject, pattern in _SUBJECTS:
        if pattern.search(text):
            return subject
    return next((verb for verb, pattern in _VERBS if pattern.search(text)), None)


def _named(word: str) -> TaskKind | None:
    word = word.strip().lower()
    return next((kind for kind in TASK_KINDS if kind == word), None) or _OTHER_NAMES.get(word)
