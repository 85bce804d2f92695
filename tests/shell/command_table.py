"""The table of shell commands in commands.txt: its entries, and how a reading is written in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from samuel.shell import Reading, ShellCommand

FILE = Path(__file__).parent / "commands.txt"


class Entry(NamedTuple):
    section: str
    text: str
    reading: tuple[str, ...]
    """The lines below the command."""


def entries() -> Iterator[Entry]:
    section, text, reading = "", "", []  # type: tuple[str, str, list[str]]
    for line in [*FILE.read_text(encoding="utf-8").splitlines(), "## end"]:
        if line.startswith(("$ ", "## ")) and text:
            yield Entry(section, text, tuple(reading))
            text, reading = "", []
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("$ "):
            text = line[2:]
        elif line.startswith(">") and text and not reading:
            text += f"\n{line[2:]}"
        elif line.startswith("    "):
            reading.append(line[4:])


def reading_lines(reading: Reading) -> tuple[str, ...]:
    runs = [_command_line(command) for command in reading.commands]
    return (*runs, *(f"?? {reason}" for reason in dict.fromkeys(part.reason for part in reading.opaque)))


def with_readings(read: dict[str, tuple[str, ...]]) -> str:
    """The file, with what the reader says now."""
    head = FILE.read_text(encoding="utf-8").partition("\n## ")[0].rstrip()
    lines, section = [head], ""
    for entry in entries():
        if entry.section != section:
            section = entry.section
            lines.append(f"\n## {section}")
        typed = entry.text.replace("\n", "\n> ")
        lines += [f"$ {typed}".replace("> \n", ">\n"), *(f"    {line}" for line in read[entry.text])]
    return "\n".join(lines) + "\n"


def _command_line(command: ShellCommand) -> str:
    words = [_word(command, index) for index in range(len(command.words))]
    files = [
        f"{item.operator} {item.target if item.literal else f'⟨{item.target}⟩'}" for item in command.redirects
    ]
    return " ".join((*words, *(("…",) if command.open_ended else ()), *files)).replace("\n", "⏎")


def _word(command: ShellCommand, index: int) -> str:
    word = command.words[index]
    if index in command.unknown:
        return f"⟨{word}⟩"
    return f"⟦{word}⟧" if index in command.patterns else quote(word)
