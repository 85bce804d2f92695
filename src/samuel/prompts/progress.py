"""context.progress: progress.md, the memory between agents that never meet.

Samuel appends one entry an iteration:

    ## [2025-01-15T10:23:45Z] iteration 3 · task 1.2 · completed
    <!-- entry: run-1/3 -->
    - completed: 1.2 Parse the header
    - learning: the fixtures are generated; run `make fixtures` first
    - area: src/parser

    ## [2025-01-15T10:31:02Z] iteration 4 · task 1.3 · quality_failed
    <!-- entry: run-1/4 -->
    - failure: `make test`: AssertionError: 1 != 2

A failure is a learning until the same task is completed: then it was solved, and is not carried on.

The comment holds the entry's key: a resumed run that appends the same entry again finds it and does nothing.
Agents and people write into the file too, in any form. What looks like one of the four kinds of lines is
read as one (`* **Learned**: …`, `AREA: …`); everything else is kept and not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from samuel.base.printable import safe, without_control_sequences
from samuel.files import atomic
from samuel.files.atomic import errors_naming
from samuel.files.inside import open_inside
from samuel.files.regular import read_regular
from samuel.prompts.toon_tables import one_line

ROTATE_PAST = 500
KEPT_LINES = 250
MOST_LEARNINGS = 50
MOST_COMPLETIONS = 10
MOST_AREAS = 20
BUDGET = 1000
"""Bytes of the context; the newest come first, and what does not fit is counted."""

_READ = 1 << 20  # an agent may have written without end: the newest megabyte is enough
_HEADING = re.compile(rb"##\s")
_ENTRY = re.compile(r"##\s.*\btask\s+(?P<task>\S+)\s+·\s+(?P<outcome>\w+)\s*$")
_KINDS = {
    "learning": "learning",
    "learned": "learning",
    "lesson": "learning",
    "failure": "failure",
    "completed": "completed",
    "done": "completed",
    "area": "area",
    "areas": "area",
}
_LINE = re.compile(rf"\s*(?:[-*+]\s+)?(?:\[[ xX]\]\s+)?[*_`]*({'|'.join(_KINDS)})[*_`]*\s*:[*_`]*\s*(\S.*)", re.I)
_NOTES_OF_HOOKS = ("[hooks.warning]", "[hooks.timing]")
LONGEST_LEARNING = 240
"""Characters of a learning."""
MOST_OF_A_LINE = 1000
"""Characters of a line that are looked at."""
# The most telling first: of all lines, the first that fits the first pattern that any line fits.
_TELLING = tuple(
    re.compile(pattern)
    for pattern in (
        r"FAILED \S+::\S.*",  # pytest's summary
        r"E {2,}(?P<line>\S.*)",  # pytest's explanation
        r"error(\[\w+\])?: \S.*",  # cargo, rustc
        r".*\berror( \w+)?: \S.*",  # gcc, clang, tsc, mypy
        r"[\w.]*(Error|Exception|Failure)\b: \S.*",  # a traceback of Python, node or Java
        r"--- FAIL: \S.*",  # go test
        r"\S+:\d+(:\d+)?: \S.*",  # go vet, ruff, flake8, shellcheck
        r"not ok \d+\b.*",  # TAP
        r"● \S.*",  # jest
        r"(?i:.*\b(fail|failed|failure|error)\b.*\w.*)",
    )
)
_NOISE = re.compile(
    r"make(\[\d+\])?: \*\*\*|npm (ERR!|error)|\W*$|=+ .* =+$"
    r"|(FAILED|OK|FAIL)\b *(\(.*\))?$|exit (status|code) \d+$"
)
_COMMAND = re.compile(r"(?P<command>`.+`) (ended with exit code \d+|was killed after \S+)$")
_AGENT = re.compile(r"the agent ended with exit code -?\d+(: (?P<reason>.*))?$")


@dataclass(frozen=True)
class ProgressEntry:
    """What one iteration leaves behind."""

    key: str
    """The same for the same iteration of the same run, also after a resume."""
    timestamp: str
    iteration: int
    task_id: str
    outcome: str
    completed: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """What was wrong: a learning until the task is completed."""
    notes: tuple[str, ...] = ()
    """Further lines, as they are: `[hooks.warning] …`."""

    def __str__(self) -> str:
        kinds = (
            ("completed", self.completed),
            ("failure", self.failures),
            ("learning", self.learnings),
            ("area", self.areas),
        )
        lines = [
            f"## [{self.timestamp}] iteration {self.iteration} · task {_one_line(self.task_id)} · {self.outcome}",
            _mark(self.key),
            *(f"- {kind}: {_one_line(text)}" for kind, texts in kinds for text in texts),
            *(f"- {_one_line(note)}" for note in self.notes),
        ]
        return "\n".join(lines) + "\n\n"


def append(path: Path, entry: ProgressEntry) -> bool:
    """Add the entry in one write. False: it was there already. Raises UnsafePath for a link or a pipe."""
    fd = open_inside(path.parent, path.name, flags=os.O_RDWR | os.O_APPEND | os.O_CREAT, mode=0o644)
    try:
        size = os.fstat(fd).st_size
        before = os.pread(fd, _READ, max(0, size - _READ))
        if _mark(entry.key).encode() in before:
            return False
        # An entry without a final line break must not swallow the heading.
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        with errors_naming(path):
            os.write(fd, gap + str(entry).encode(errors="backslashreplace"))
            os.fsync(fd)
    finally:
        os.close(fd)
    return True


def rotate(path: Path, archive_dir: Path, disk: atomic.Disk = atomic.DISK) -> Path | None:
    """Past 500 lines: keep the newest entries, at most 250 lines, and put the rest away. Returns where, or None.

    Call it while no agent runs. The archive is safe on disk before anything is taken out of progress.md, so a kill
    in between loses nothing; the next rotation then finds its own beginning in the archive and replaces it.
    """
    try:
        with open(open_inside(path.parent, path.name, flags=os.O_RDONLY), "rb") as file:
            lines = file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return None
    cut = _first_to_stay(lines)
    if not cut:
        return None
    old = b"".join(lines[:cut])
    archive_dir.mkdir(parents=True, exist_ok=True)
    archive = next(file for file in _archives(archive_dir) if _may_hold(file, old))
    atomic.write_bytes(archive, old, disk=disk)
    atomic.write_bytes(path, b"".join(lines[cut:]), disk=disk)
    return archive


def newest(content: bytes) -> bytes:
    """What a rotation would leave of the file."""
    lines = content.splitlines(keepends=True)
    return b"".join(lines[_first_to_stay(lines) :])


def _first_to_stay(lines: Sequence[bytes]) -> int:
    if len(lines) <= ROTATE_PAST:
        return 0
    cut = len(lines) - KEPT_LINES
    return next((number for number in range(cut, len(lines)) if _HEADING.match(lines[number])), cut)


def context(path: Path, budget: int = BUDGET) -> str:
    """progress-context.md: what was learned, completed and looked at, newest first. Empty when there is none."""
    texts_by_kind: dict[str, dict[str, None]] = {"learning": {}, "completed": {}, "area": {}}
    for kind, text in _newest_first(path):
        texts_by_kind[kind].setdefault(text)
    sections = (
        ("Learnings", list(texts_by_kind["learning"]), MOST_LEARNINGS, 0.6),
        ("Completed", list(texts_by_kind["completed"]), MOST_COMPLETIONS, 0.25),
        ("Areas analysed", list(texts_by_kind["area"]), MOST_AREAS, 0.15),
    )
    parts, spare = [], 0.0
    for title, texts, most, share in sections:
        part = _section(title, texts, most, share * budget + spare)
        spare += share * budget - len(part.encode())
        parts.append(part)
    return "".join(parts)


def _section(title: str, texts: list[str], most: int, allowed: float) -> str:
    if not texts:
        return ""
    lines: list[str] = []
    allowed -= len(f"## {title}\n- (99999 older)\n\n")
    for text in texts[:most]:
        line = f"- {one_line(text, 240)}\n"
        allowed -= len(line.encode())
        if allowed < 0:
            break
        lines.append(line)
    older = f"- ({len(texts) - len(lines)} older)\n" if len(lines) < len(texts) else ""
    return f"## {title}\n{''.join(lines)}{older}\n"


def _newest_first(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with open(open_inside(path.parent, path.name, flags=os.O_RDONLY), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _READ))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return
    named = False  # reading upwards: has this entry said what it completed?
    failures: list[str] = []  # of this entry
    completed: set[str] = set()  # tasks: what failed in them before is solved
    for line in reversed(text.splitlines()):
        if any(note in line for note in _NOTES_OF_HOOKS):
            continue
        if line.startswith("## "):
            entry = _ENTRY.match(line)
            task = entry["task"] if entry else ""
            if entry and entry["outcome"] == "completed":
                completed.add(task)
                if not named:
                    yield "completed", f"task {task}"
            if task not in completed:
                yield from (("learning", f"task {task}: {failure}" if task else failure) for failure in failures)
            named, failures = False, []
        elif match := _LINE.fullmatch(line):
            kind = _KINDS[match[1].lower()]
            named |= kind == "completed"
            if kind == "failure":
                failures.append(match[2].strip())
            else:
                yield kind, match[2].strip()


def _archives(directory: Path) -> Iterator[Path]:
    number = 1
    while True:
        yield directory / f"progress-{number:04}.md"
        number += 1


def _may_hold(file: Path, old: bytes) -> bool:
    """A new name, or what a rotation that was killed half-way wrote: the beginning of the same lines."""
    try:
        return old.startswith(read_regular(file))
    except FileNotFoundError:
        return True


def _mark(key: str) -> str:
    return f"<!-- entry: {_one_line(key).replace('--', '- -')} -->"


def _one_line(text: str) -> str:
    return safe(" ".join(text.split()), keep="")


def learning(failure: str) -> str:
    """One line that says what was wrong, from a task's `last_failure`; "" if the failure teaches nothing."""
    _, _, text = failure.partition(": ")
    head, *output = without_control_sequences(text).splitlines() or [""]
    head = head.strip()
    line = _telling(output)
    if command := _COMMAND.match(head):
        head = f"{command['command']}{'' if line else ' failed'}"
    elif agent := _AGENT.match(head):
        head = "" if line else agent["reason"] or ""
        line = line or ""
    elif head:
        line = ""  # a message of a hook or of the loop, which says it all
    words = ": ".join(part for part in (head, line) if part)
    return words if len(words) <= LONGEST_LEARNING else f"{words[: LONGEST_LEARNING - 1]}…"


def _telling(lines: list[str]) -> str:
    """The line that says most, or the last one that says anything."""
    lines = [line[:MOST_OF_A_LINE].strip() for line in lines]
    lines = [line for line in lines if line and not _NOISE.match(line)]
    for pattern in _TELLING:
        for line in lines:
            if match := pattern.fullmatch(line):
                return match.groupdict().get("line") or line
    return lines[-1] if lines else ""
