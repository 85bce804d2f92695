"""The simple commands in a command line or a shell script, as words: enough of a shell's grammar to see what runs.

This is for naming files, not for running anything: what cannot be understood is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 4096  # characters of one line
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SEPARATORS = frozenset(("&&", "||", ";", ";;", "|", "|&", "&", "(", ")", "{", "}", "\n"))
_KEYWORDS = frozenset(("if", "then", "else", "elif", "do", "while", "until", "!", "time", "exec", "command", "-"))
# Programs that run the rest of their words; the number is how many words of their own follow their options.
_WRAPPERS = {
    **dict.fromkeys(("env", "nice", "nohup", "sudo", "npx", "bunx", "xvfb-run", "cross-env", "dotenv", "nyc"), 0),
    **dict.fromkeys(("c8", "stdbuf", "setsid", "ionice", "caffeinate", "corepack"), 0),
    "timeout": 1,
}
# The same with a word of their own: `poetry run pytest`.
_RUN_WRAPPERS = {
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi"), ("run",)),
    **dict.fromkeys(("npm", "pnpm", "yarn"), ("exec", "dlx")),
    "bundle": ("exec",),
    "coverage": ("run",),
}
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")


class SimpleCommand(NamedTuple):
    """One program with its arguments, and the directory below the project that it runs in ("" is the root)."""

    words: tuple[str, ...]
    directory: str = ""
    wrappers: tuple[str, ...] = ()
    """The programs that start it: `nyc` of `nyc tape`."""

    @property
    def program(self) -> str:
        """The name without its directory and without a version, as in `python3.12`."""
        name = self.words[0].rpartition("/")[2]
        return re.sub(r"^(python|pytest|ruby|node)-?[\d.]+$", r"\1", name)

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[1:]


def simple_commands(text: str, directory: str = "") -> Iterator[SimpleCommand]:
    """The simple commands of a command line, without wrappers such as `env` or `poetry run`; `cd` is followed."""
    for line in text.replace("\\\n", " ").split("\n"):
        words: list[str] = []
        for word in [*_words(line), "\n"]:
            if word not in _SEPARATORS:
                words.append(word)
                continue
            command, wrappers = _unwrapped(words)
            words = []
            if not command:
                continue
            if command[0] == "cd" and len(command) == 2:
                directory = below(directory, command[1])
            elif script := _shell_argument(command):
                yield from simple_commands(script, directory)
            else:
                yield SimpleCommand(tuple(command), directory, tuple(wrappers))


def below(directory: str, path: str) -> str:
    """`path`, as written in `directory`, relative to the project; what leads outside stays as it is."""
    if path.startswith(("/", "~", "$")):
        return path
    parts = directory.split("/") if directory else []
    for name in path.split("/"):
        if name == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif name not in ("", "."):
            parts.append(name)
    return "/".join(parts)


def _words(line: str) -> list[str]:
    if len(line) > LONGEST:
        return []
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;()")
    lexer.whitespace_split = True
    lexer.commenters = "#" if line.lstrip().startswith("#") else ""
    try:
        return list(lexer)
    except ValueError:  # an unclosed quote: it goes on in the next line
        return line.split()


def _unwrapped(words: list[str]) -> tuple[list[str], list[str]]:
    """The words from the program on that really runs, and the programs that start it."""
    wrappers: list[str] = []
    words = [word for word in words if not re.fullmatch(r"\d?(?:>>?|<)(?:&\d)?.*", word)]
    for _ in range(8):
        while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
            words = words[1:]
        if not words:
            return [], wrappers
        program = words[0].rpartition("/")[2]
        if program in _WRAPPERS:
            words = _after_options(words[1:])[_WRAPPERS[program] :]
        elif len(words) > 2 and words[1] in _RUN_WRAPPERS.get(program, ()):
            words = _after_options(words[2:])
        else:
            break
        wrappers.append(program)
    return words, wrappers


def _after_options(words: list[str]) -> list[str]:
    """Without the options at the beginning. `coverage run -m pytest` keeps its `-m`, which names the program."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-m":
        at += 1
    if words[at : at + 1] == ["-m"]:
        return ["python", *words[at:]]
    return words[at:]


def _shell_argument(words: list[str]) -> str:
    """The commands of `sh -c '...'`."""
    if words[0].rpartition("/")[2] not in _SHELLS:
        return ""
    flags = next((at for at, word in enumerate(words[1:], 1) if re.fullmatch(r"-[a-z]*c[a-z]*", word)), 0)
    return words[flags + 1] if flags and flags + 1 < len(words) else ""
