"""What a failure teaches: the line of its output that says what is wrong."""

from __future__ import annotations

import re

from samuel.base.printable import without_control_sequences

LONGEST = 240
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
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _telling(lines: list[str]) -> str:
    """The line that says most, or the last one that says anything."""
    lines = [line[:MOST_OF_A_LINE].strip() for line in lines]
    lines = [line for line in lines if line and not _NOISE.match(line)]
    for pattern in _TELLING:
        for line in lines:
            if match := pattern.fullmatch(line):
                return match.groupdict().get("line") or line
    return lines[-1] if lines else ""
