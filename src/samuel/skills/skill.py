"""Skills: directories with a SKILL.md, as agentskills.io describes it, and how the prompt names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from samuel.base.errors import Problem
from samuel.files.frontmatter import FrontMatter
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.plugins.installed import InstalledPlugin
from samuel.skills.text_files import SKILLS, TextFile, read_directory, shadowed, text_directories
from samuel.skills.tool_lists import tool_names

FILE = "SKILL.md"
LONGEST_NAME, LONGEST_DESCRIPTION, LONGEST_COMPATIBILITY = 64, 1024, 500

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Skill(NamedTuple):
    names: tuple[str, ...]
    path: Path
    origin: Origin
    description: str = ""
    license: str = ""
    compatibility: str = ""
    metadata: Mapping[str, Any] = {}
    allowed_tools: tuple[str, ...] | None = None
    body: str = ""
    status: HandlerStatus = HandlerStatus.ACTIVE
    reason: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name that it is displayed by: that of its directory, after the plugin's if it belongs to one."""
        return self.names[0]


def name_of(parts: tuple[str, ...]) -> str:
    """`review/SKILL.md` is the skill `review`."""
    return parts[0] if len(parts) == 2 and parts[1] == FILE else ""


def skill(text_file: TextFile) -> Skill:
    """The skill that a file defines, as Claude Code takes it; without a description a broken one.

    What the format does not allow and agents take all the same is a warning.
    """
    result = Skill(text_file.names, text_file.path, text_file.origin)
    if text_file.document is None:
        return result._replace(status=HandlerStatus.BROKEN, reason=str(text_file.problem))
    document, directory = text_file.document, text_file.path.parent.name
    if problem := _problem(document, str(text_file.path)):
        return result._replace(status=HandlerStatus.BROKEN, reason=str(problem), body=document.body)
    head, names = document.head, text_file.names
    own_name = _one_line(head.get("name"))
    if own_name and own_name != directory and own_name.isprintable() and "/" not in own_name:
        names = (*names, *(f"{name.removesuffix(directory)}{own_name}" for name in names))
    metadata = head.get("metadata")
    return result._replace(
        names=names,
        description=_description(document),
        license=_text(head.get("license")),
        compatibility=_text(head.get("compatibility")),
        metadata=metadata if isinstance(metadata, dict) else {},
        allowed_tools=_tools(head.get("allowed-tools")),
        body=document.body,
        warnings=tuple(_warnings(document, directory)),
    )


def _problem(document: FrontMatter, file: str) -> Problem | None:
    """Why a skill cannot be used: agents choose by its description, so there must be one."""
    for key in ("name", "description"):
        value, line = document.head.get(key), document.lines.get(key, 1)
        if value is not None and not isinstance(value, str):
            what = f"`{key}` must be text, not {value!r}"
            return Problem(what, file, line, f"write `{key}: ...` in its front matter")
    if _description(document):
        return None
    if not document.head:
        hint = "begin the file with `---`, `name: ...`, `description: ...`, `---`"
        return Problem("it has no front matter and no text", file, 1, hint)
    line = document.lines.get("description", 1)
    return Problem("`description` is missing", file, line, "add `description: ...` to its front matter")


def _description(document: FrontMatter) -> str:
    """Its description, or the first paragraph of its text."""
    return _one_line(document.head.get("description")) or _first_paragraph(document.body)[:LONGEST_DESCRIPTION]


def _first_paragraph(body: str) -> str:
    """The first lines of a text that are not a heading, as one line."""
    paragraphs = re.split(r"\n\s*\n", re.sub(r"^#.*$", "", body, flags=re.MULTILINE))
    return next((" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip()), "")


def _warnings(document: FrontMatter, directory: str) -> list[str]:
    head, warnings = document.head, []
    if document.invalid:
        line, what = document.invalid.line, document.invalid.what
        warnings.append(f"its front matter was read line by line: {what} (line {line})")
    name, description = _one_line(head.get("name")), _one_line(head.get("description"))
    if not name:
        warnings.append(f"`name` is missing; it is called `{directory}` like its directory")
    elif not _NAME.fullmatch(name):
        warnings.append(f"`{name}` is not a name by the format: lower-case letters, digits and single hyphens")
    if name and name != directory:
        warnings.append(f"its `name` is `{name}`, but its directory is `{directory}`")
    if not description:
        warnings.append("`description` is missing; the first paragraph is used")
    for key, value, longest in (
        ("name", name, LONGEST_NAME),
        ("description", description, LONGEST_DESCRIPTION),
    ):
        if len(value) > longest:
            warnings.append(f"`{key}` has {len(value)} characters, more than the {longest} of the format")
    for key in ("license", "compatibility"):
        if key in head and not isinstance(head[key], str):
            warnings.append(f"`{key}` is not text")
    if len(_text(head.get("compatibility"))) > LONGEST_COMPATIBILITY:
        warnings.append(f"`compatibility` has more than {LONGEST_COMPATIBILITY} characters")
    if "metadata" in head and not isinstance(head["metadata"], dict):
        warnings.append("`metadata` is not a mapping")
    if head.get("allowed-tools") is not None and _tools(head["allowed-tools"]) is None:
        warnings.append("`allowed-tools` is not a list of tools")
    return warnings


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _one_line(value: Any) -> str:
    return " ".join(_text(value).split())


def _tools(value: Any) -> tuple[str, ...] | None:
    try:
        return tool_names(value)
    except ValueError:
        return None


def find_skills(root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[Skill]:
    """All skills, broken and shadowed ones too, the highest precedence first. `plugins` are the usable ones."""
    directories = text_directories(SKILLS, root, home, plugins)
    texts = (file for directory in directories for file in read_directory(directory, name_of, 2, by_line=True))
    return shadowed(map(skill, texts))


class Listing(NamedTuple):
    """The skills as the prompt's template sees them."""

    listed: list[dict[str, str]]
    left_out: tuple[str, ...]
    """The names of the skills that exceed the limit."""


def for_prompt(skills: Iterable[Skill], root: Path, bytes_left: int) -> Listing:
    """Name, description and file of the active skills, as many as fit into a number of bytes."""
    listed: list[dict[str, str]] = []
    left_out: list[str] = []
    for item in skills:
        if item.status is not HandlerStatus.ACTIVE:
            continue
        inside = item.path.is_relative_to(root)
        path = str(item.path.relative_to(root) if inside else item.path)
        bytes_left -= len(f"{item.name}{item.description}{path}".encode())
        if bytes_left < 0:
            left_out.append(item.name)
        else:
            listed.append({"Name": item.name, "Description": item.description, "Path": path})
    return Listing(listed, tuple(left_out))
