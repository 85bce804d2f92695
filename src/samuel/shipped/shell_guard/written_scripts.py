"""Scripts that a call writes and runs: `echo 'rm -rf ~' > x.sh && sh x.sh`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from samuel.shell import ShellCommand

_WRITERS = frozenset({"echo", "printf", "cat", "tee"})
_RUNNERS = re.compile(r"(?:ba|da|z|k|a)?sh|source|\.|(?:python|pypy|perl|ruby|node|php|lua)[\d.]*")
_HERE_DOCUMENT = re.compile(r"<<-?\s*(['\"\\]?)(\w+)\1?[^\n]*\n(.*?)\n\s*\2(?:\n|$)", re.DOTALL)


def written_scripts(lines: Sequence[str], typed: Sequence[ShellCommand]) -> list[tuple[str, str]]:
    """The program that runs a file which the same call writes, and each text that may be in it."""
    names = {os.path.basename(name) for command in typed for name in _written_files(command)}
    runners = {runner for command in typed if (runner := _runner(command, names))} if names else set()
    if not runners:
        return []
    texts = [match[3] for line in lines for match in _HERE_DOCUMENT.finditer(line)]
    texts += (" ".join(command.words[1:]) for command in typed if command.program in ("echo", "printf"))
    return [(runner, text.replace("\\n", "\n")) for runner in sorted(runners) for text in texts]


def _written_files(command: ShellCommand) -> list[str]:
    if command.program not in _WRITERS:
        return []
    files = [redirect.target for redirect in command.redirects if redirect.writes]
    return [*files, *(command.words[1:] if command.program == "tee" else ())]


def _runner(command: ShellCommand, names: set[str]) -> str:
    """What runs one of the files: an interpreter that names it, or the shell."""
    if _RUNNERS.fullmatch(command.program):
        return command.program if any(os.path.basename(word) in names for word in command.words[1:]) else ""
    return "sh" if command.words and "/" in command.words[0] and command.program in names else ""
