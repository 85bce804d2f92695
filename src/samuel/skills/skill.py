"""One skill: a directory with a SKILL.md, as agentskills.io describes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from samuel.errors import Problem
from samuel.files.frontmatter import FrontMatter
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.skills.text_files import TextFile
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
        """What it is called by: its directory's name, after the plugin's if it came with one."""
        return self.names[0]


def name_of(parts: tuple[str, ...]) -> str:
    """`review/SKILL.md` is the skill `review`."""
    return parts[0] if len(parts) == 2 and parts[1] == FILE else ""


def skill(text: TextFile) -> Skill:
    """What a file says; broken, with the reason, where it leaves out what every skill has."""
    found = Skill(text.names, text.path, text.origin)
    if text.document is None:
        return found._replace(status=HandlerStatus.BROKEN, reason=str(text.problem))
    document, directory = text.document, text.path.parent.name
    if problem := _problem(document, str(text.path)):
        return found._replace(status=HandlerStatus.BROKEN, reason=str(problem), body=document.body)
    said = document.head
    metadata = said.get("metadata")
    return found._replace(
        description=" ".join(said["description"].split()),
        license=_text(said.get("license")),
        compatibility=_text(said.get("compatibility")),
        metadata=metadata if isinstance(metadata, dict) else {},
        allowed_tools=_tools(said.get("allowed-tools")),
        body=document.body,
        warnings=tuple(_warnings(said, directory)),
    )


def _problem(document: FrontMatter, file: str) -> Problem | None:
    """What keeps it from being used: an agent chooses by the name and the description, so both must be there."""
    if not document.head:
        hint = "begin the file with `---`, `name: ...`, `description: ...`, `---`"
        return Problem("it has no front matter", file, 1, hint)
    for key, longest in (("name", LONGEST_NAME), ("description", LONGEST_DESCRIPTION)):
        value, line = document.head.get(key), document.lines.get(key, 1)
        if not isinstance(value, str) or not value.strip():
            what = f"`{key}` must be text, not {value!r}" if value is not None else f"`{key}` is missing"
            return Problem(what, file, line, f"add `{key}: ...` to its front matter")
        if len(value) > longest:
            return Problem(f"`{key}` has {len(value)} characters, {longest} is the most", file, line)
    if not _NAME.fullmatch(document.head["name"]):
        what = f"`{document.head['name']}` is no name of a skill"
        return Problem(what, file, document.lines["name"], "lower-case letters, digits and single hyphens")
    return None


def _warnings(said: Mapping[str, Any], directory: str) -> list[str]:
    found = []
    if said["name"] != directory:
        found.append(f"its `name` is `{said['name']}`, and its directory is called `{directory}`")
    for key in ("license", "compatibility"):
        if key in said and not isinstance(said[key], str):
            found.append(f"`{key}` is no text")
    if len(_text(said.get("compatibility"))) > LONGEST_COMPATIBILITY:
        found.append(f"`compatibility` has more than {LONGEST_COMPATIBILITY} characters")
    if "metadata" in said and not isinstance(said["metadata"], dict):
        found.append("`metadata` is no mapping")
    if said.get("allowed-tools") is not None and _tools(said["allowed-tools"]) is None:
        found.append("`allowed-tools` is no list of tools")
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _tools(value: Any) -> tuple[str, ...] | None:
    try:
        return tool_names(value)
    except ValueError:
        return None
