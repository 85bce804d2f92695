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
from samuel.skills.text_files import TextFile, read_directory, shadowed, text_directories
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
    """The skill that a file defines; a broken one, with the reason, if a required field is missing."""
    result = Skill(text_file.names, text_file.path, text_file.origin)
    if text_file.document is None:
        return result._replace(status=HandlerStatus.BROKEN, reason=str(text_file.problem))
    document, directory = text_file.document, text_file.path.parent.name
    if problem := _problem(document, str(text_file.path)):
        return result._replace(status=HandlerStatus.BROKEN, reason=str(problem), body=document.body)
    head = document.head
    metadata = head.get("metadata")
    return result._replace(
        description=" ".join(head["description"].split()),
        license=_text(head.get("license")),
        compatibility=_text(head.get("compatibility")),
        metadata=metadata if isinstance(metadata, dict) else {},
        allowed_tools=_tools(head.get("allowed-tools")),
        body=document.body,
        warnings=tuple(_warnings(head, directory)),
    )


def _problem(document: FrontMatter, file: str) -> Problem | None:
    """Why a skill cannot be used: agents choose by name and description, so both are required."""
    if not document.head:
        hint = "begin the file with `---`, `name: ...`, `description: ...`, `---`"
        return Problem("it has no front matter", file, 1, hint)
    for key, longest in (("name", LONGEST_NAME), ("description", LONGEST_DESCRIPTION)):
        value, line = document.head.get(key), document.lines.get(key, 1)
        if not isinstance(value, str) or not value.strip():
            what = f"`{key}` must be text, not {value!r}" if value is not None else f"`{key}` is missing"
            return Problem(what, file, line, f"add `{key}: ...` to its front matter")
        if len(value) > longest:
            return Problem(f"`{key}` has {len(value)} characters, at most {longest} are allowed", file, line)
    if not _NAME.fullmatch(document.head["name"]):
        what = f"`{document.head['name']}` is not a valid skill name"
        return Problem(what, file, document.lines["name"], "use lower-case letters, digits and single hyphens")
    return None


def _warnings(head: Mapping[str, Any], directory: str) -> list[str]:
    warnings = []
    if head["name"] != directory:
        warnings.append(f"its `name` is `{head['name']}`, but its directory is `{directory}`")
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


def _tools(value: Any) -> tuple[str, ...] | None:
    try:
        return tool_names(value)
    except ValueError:
        return None


def find_skills(root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[Skill]:
    """All skills, broken and shadowed ones too, the highest precedence first. `plugins` are the usable ones."""
    directories = text_directories("skills", root, home, plugins)
    return shadowed(skill(file) for directory in directories for file in read_directory(directory, name_of, 2))


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
