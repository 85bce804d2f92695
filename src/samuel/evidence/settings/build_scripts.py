"""The part of a Makefile or another build script that a check runs.

These files are programs, so the part is found by its words: a rule, command or block that mentions tests. The list
of sources, which new source needs, is no part of it; what changes how every command runs is.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from samuel.evidence.settings.relevant import RelevantSettings

_CHECK_WORD = re.compile(
    r"tests?\b|tests?_|_test|Test|spec\b|specs\b|check|lint|verif|validat|cover|e2e|junit|\bci\b|\bqa\b",
    re.IGNORECASE,
)
_FILE_WORD = re.compile(
    r"-[lLIW][\w./+$(){}-]*|-std=\S+|-pthread|[\w./%*$(){}:=,@+-]*[./*][\w./%*$(){}:=,@+-]*|\d[\w.-]*"
)
_HARMLESS_VARIABLES = re.compile(r"VERSION|NAME|PREFIX|\w*DIR|DESTDIR|PACKAGE")
_ASSIGNMENT = re.compile(
    r"(?P<modifiers>(?:export\s+|override\s+|private\s+)*+)(?P<name>[\w.-]+)\s*+[:?+!]{0,3}=\s*(?P<value>.*)"
)
_RULE = re.compile(r"(?P<targets>[^\s:=#][^:=#]{0,2000}?)\s*:{1,2}(?!=)(?P<needed>[^=;]*)(?:;(?P<recipe>.*))?$")
_DIRECTIVE = re.compile(
    r"\s*(?:-include|sinclude|include|ifeq|ifneq|ifdef|ifndef|else|endif|define|endef|export|unexport|vpath|undefine|load)\b|\s*\$[({]"
)
_TOOL_USE = re.compile(r"^\t[@+ -]*\$[({]([\w.-]+)[)}]", re.MULTILINE)
_PROGRAMS = frozenset(
    (
        "SHELL",
        ".SHELLFLAGS",
        "MAKEFLAGS",
        "MAKE",
        "PATH",
        "MAKEFILES",
        "GNUMAKEFLAGS",
        "VPATH",
        "CC",
        "CXX",
        "LD",
        "AR",
    )
)
MAX_LINES = 20_000


class _Block(NamedTuple):
    """A rule with its recipe, an assignment or a directive."""

    key: str
    lines: tuple[str, ...]
    is_relevant: bool


def makefile_part(text: str) -> RelevantSettings:
    """The rules that mention tests, and what changes how all recipes run: the shell, programs, flags, conditions.

    Left out are variables that list files, rules that only build, and prerequisites that are added to `.PHONY`.
    """
    blocks = _blocks(text)
    relevant = [block for block in blocks if block.is_relevant and not block.key.startswith((".PHONY", "list "))]
    lists = {
        block.key: block for block in blocks if block.is_relevant and block.key.startswith((".PHONY", "list "))
    }
    growing = {
        key: frozenset(word for word in " ".join(block.lines).split() if _CHECK_WORD.search(word))
        for key, block in lists.items()
    }
    return RelevantSettings(
        [(block.key, [line.strip() for line in block.lines]) for block in relevant], growing=growing
    )


def merged_makefile(rest: str, settings: str) -> str:
    """The Makefile `rest` with the relevant blocks of `settings` in the place of its own.

    Raises ValueError if they differ in their conditions: what is between these could not be told apart.
    """
    own, others = _blocks(rest), _blocks(settings)
    if _directives(own) != _directives(others):
        raise ValueError("the conditions are not the same")
    waiting = {block.key: block for block in others if block.is_relevant}
    parts: list[str] = []
    for block in own:
        if not block.is_relevant:
            parts += block.lines
        elif (other := waiting.pop(block.key, None)) is not None:
            parts += other.lines
    for block in waiting.values():
        parts += block.lines
    return "\n".join(parts).rstrip("\n") + "\n"


def _directives(blocks: list[_Block]) -> list[str]:
    return [block.key for block in blocks if block.key.startswith("directive ")]


def _blocks(text: str) -> list[_Block]:
    lines = re.sub(r"\\\n[ \t]*", " ", text).split("\n")
    if len(lines) > MAX_LINES:
        raise ValueError("it is too long")
    tools = {*_TOOL_USE.findall(text)}
    grouped: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("\t") and grouped and grouped[-1][0].startswith("rule "):
            grouped[-1][1].append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            grouped.append(("", [line]))
        elif _DIRECTIVE.match(line) and not _ASSIGNMENT.fullmatch(line.strip()):
            grouped.append((f"directive {line.strip()}", [line]))
        elif assignment := _ASSIGNMENT.fullmatch(line.strip()):
            grouped.append((_variable_key(assignment, tools), [line]))
        elif rule := _RULE.match(line):
            targets = " ".join(rule["targets"].split())
            grouped.append((".PHONY" if targets == ".PHONY" else f"rule {targets}", [line]))
        else:
            grouped.append((f"line {line.strip()}", [line]))
    numbers: Counter[str] = Counter()
    blocks = []
    for key, block_lines in grouped:
        numbers[key] += 1
        number = f" ({numbers[key]})" if numbers[key] > 1 else ""
        blocks.append(_Block(f"{key}{number}", tuple(block_lines), _is_relevant(key, block_lines)))
    return blocks


def _variable_key(assignment: re.Match[str], tools: set[str]) -> str:
    """`files X` for a variable that lists files, `list X` if the files are tests, else `variable X`."""
    name, words = assignment["name"], assignment["value"].partition("#")[0].split()
    if assignment["modifiers"].strip() or name in _PROGRAMS or name in tools:
        return f"variable {name}"
    if all(map(_FILE_WORD.fullmatch, words)) or _HARMLESS_VARIABLES.fullmatch(name):
        return f"list {name}" if _CHECK_WORD.search(assignment[0]) else f"files {name}"
    return f"variable {name}"


def _is_relevant(key: str, lines: list[str]) -> bool:
    if not key or key.startswith("files "):
        return False
    if key.startswith("rule "):
        return key.startswith("rule .") or key[5:].strip() == "%" or any(map(_CHECK_WORD.search, lines))
    return True


# other build scripts

_COMMAND = re.compile(r"^[ \t]*(?P<name>[A-Za-z_]\w*)\s*\(", re.MULTILINE)
_FLAGS = re.compile(
    r"\bNDEBUG\b|_FLAGS|CMAKE_BUILD_TYPE|compile_definitions|add_definitions|compile_options", re.IGNORECASE
)
_DEPENDENCY = re.compile(
    r"\b(?:\w*[tT]est(?:Implementation|CompileOnly|RuntimeOnly|Compile|Runtime|Api|AnnotationProcessor))\b|<PackageReference"
    r"|only: (?::|\[)|libraryDependencies|build-depends|^\s*(?:import|from|require)\b|\.package\("
)
_DECIDES = re.compile(
    r"\b(?:exclude\w*|enabled|onlyIf|ignoreFailures?|failOn\w*|filter|skip\w*|jvmArgs|systemProperty|Remove=|maxHeap)\b"
)
MAX_COMMAND = 5000


def cmake_part(text: str) -> RelevantSettings:
    """The commands that mention tests or set flags, of CMake, Meson or Bazel."""
    plain = re.sub(r"#[^\n]*", "", text)
    commands = []
    for command in _COMMAND.finditer(plain):
        body = _in_parentheses(plain, command.end())
        if _CHECK_WORD.search(command["name"] + body) or _FLAGS.search(command["name"] + body):
            commands.append((command["name"], " ".join(body.split())))
    return RelevantSettings(commands)


def _in_parentheses(text: str, start: int) -> str:
    depth = 1
    for mark in re.finditer(r"[()]", text[start : start + MAX_COMMAND]):
        depth += 1 if mark[0] == "(" else -1
        if not depth:
            return text[start : start + mark.start()]
    return text[start : start + MAX_COMMAND]


def script_part(text: str) -> RelevantSettings:
    """The lines that mention tests, with the lines below them that are indented deeper."""
    lines: list[str] = []
    inside: int | None = None
    for line in text.split("\n")[:MAX_LINES]:
        plain = line.strip()
        if not plain or plain.startswith(("//", "#", "*", "/*")):
            continue
        indentation = len(line) - len(line.lstrip())
        if inside is not None and indentation <= inside:
            inside = None
        if inside is None and not _DEPENDENCY.search(line) and (_CHECK_WORD.search(line) or _DECIDES.search(line)):
            inside = indentation
            lines.append(plain)
        elif inside is not None:
            lines.append(plain)
    return RelevantSettings(lines)
