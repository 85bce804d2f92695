"""The managed block of AGENTS.md and of the files that other agents read instead.

Samuel owns what is between two marks; the rest belongs to the user and stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from samuel.base.errors import ConfigError, Problem, UnsafePath
from samuel.config.model import Config
from samuel.files import atomic
from samuel.files.inside import refuse_links
from samuel.files.regular import read_regular
from samuel.routing.abilities.registry import has_registry
from samuel.routing.knowledge.reading import find_root

SOURCE = "AGENTS.md"
MIRRORS = ("CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")
CREATED = ("CLAUDE.md", "GEMINI.md")  # the others are kept in step where they exist
MOST = 1024 * 1024

BEGIN = "<!-- samuel:begin (written by `samuel sync`; edit outside of this block) -->"
END = "<!-- samuel:end -->"
# The marks also where git made line ends of another kind.
_BEGIN = re.compile(r"^<!-- samuel:begin\b.*-->[ \t]*(?=\r?$)", re.MULTILINE)
_END = re.compile(r"^<!-- samuel:end\b.*-->[ \t]*(?=\r?$)", re.MULTILINE)


def content(config: Config, root: Path) -> str:
    """How to work here, for any agent."""
    settings = config.chosen(config.default_methodology)
    lines = ["## Working in this project", "", "Tasks are worked one at a time; `samuel run tasks` lists them."]
    if settings.quality_checks:
        lines += ["Before a task counts as done, these must pass:", ""]
        lines += [f"- `{command}`" for command in settings.quality_checks]
        lines.append("")
    lines += [
        "Claim a finished task with `samuel run done ID`. Do not edit samuel.toml, `.samuel/` or the task file."
    ]
    if has_registry(root):
        lines.append(
            'Find what can be done here with `samuel ability route "TEXT"`; do it with `samuel ability call ID`.'
        )
    if find_root(root) is not None:
        lines.append('Find what is written down about something with `samuel knowledge route "TEXT"`.')
    if config.guardrails:
        lines += ["", "Guardrails:", ""]
        lines += [f"- {key}: {value}" for key, value in config.guardrails.items()]
    return "\n".join(lines)


def plan(root: Path, text: str) -> dict[str, str]:
    """Path -> new content, of every file that would change."""
    changes = {}
    for name in (SOURCE, *MIRRORS):
        path = root / name
        if "/" in name:
            refuse_links(root, name.rpartition("/")[0])
        if not os.path.lexists(path) and name not in (SOURCE, *CREATED):
            continue
        if name != SOURCE and path.is_symlink() and os.path.realpath(path) == os.path.realpath(root / SOURCE):
            continue  # it says the same by itself
        old = _read(path)
        new = with_block(old, text, name)
        if new != old or not path.exists():
            changes[name] = new
    return changes


def with_block(text: str, content: str, file: str) -> str:
    """The text with the block in its place, or at its end if it has none yet."""
    block = f"{BEGIN}\n{content.rstrip()}\n{END}"
    begins, ends = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    if not begins and not ends:
        return f"{text.rstrip()}\n\n{block}\n" if text.strip() else f"{block}\n"
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        line = text.count("\n", 0, (begins or ends)[0].start()) + 1
        hint = f"there must be one `{BEGIN}` and one `{END}` after it, or neither"
        raise ConfigError([Problem("the marks of the managed block do not match", file, line, hint)])
    return text[: begins[0].start()] + block + text[ends[0].end() :]


def write(root: Path, changes: Mapping[str, str]) -> Sequence[str]:
    for name, text in changes.items():
        atomic.write_text(root / name, text)
    return list(changes)


def _read(path: Path) -> str:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UnsafePath(f"`{path.name}` is a link or not a file", "replace it by a file of its own, or remove it")
    try:
        data = read_regular(path, MOST + 1, follow=False)
    except FileNotFoundError:
        return ""
    if len(data) > MOST:
        raise ConfigError([Problem(f"larger than {MOST} bytes", path.name)])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError([Problem("not UTF-8", path.name, 0, "save it as UTF-8")]) from None
