"""One recipe: a Markdown file with front matter, whose text is a template for a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from samuel.errors import ConfigError, Problem
from samuel.files.frontmatter import FrontMatter
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.prompts.render import render, shipped, used_names
from samuel.skills.recipe_arguments import Argument, declared, filled
from samuel.skills.text_files import TextFile
from samuel.skills.tool_lists import tool_names

ENDING = ".md"
TOOLS = ("allowed_tools", "allowed-tools")
_SKILLS = "skills.md.j2"
_OWN_LIST = "State.Skills"  # a recipe that says itself what it wants to say of them
SYNTAX = "recipes are Jinja2 templates: {{ name }}, {% if name %}...{% endif %}, {{ name | default('x', true) }}"


class Recipe(NamedTuple):
    names: tuple[str, ...]
    path: Path
    origin: Origin
    title: str = ""
    """Its front matter's own name for it."""
    description: str = ""
    arguments: tuple[Argument, ...] | None = None
    """None: it declares none, and takes those that its text uses."""
    allowed_tools: tuple[str, ...] | None = None
    agent: str = ""
    more: Mapping[str, Any] = {}
    """What other tools have in a front matter, as it is."""
    body: str = ""
    body_line: int = 1
    status: HandlerStatus = HandlerStatus.ACTIVE
    reason: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    def prompt(self, context: Mapping[str, Any], given: Mapping[str, str]) -> str:
        """The text with the context's names and its arguments filled in; below it, the skills of the project."""
        # Empty lines in place of the front matter: the lines in messages are then those of the file.
        text = "\n" * (self.body_line - 1) + self.body
        try:
            values = filled(self.arguments, given, used_names(text, str(self.path)), self.name)
            rendered = render(text, {**context, **values}, str(self.path)).lstrip("\n")
        except ConfigError as error:
            raise ConfigError([problem._replace(hint=_hint(problem.hint)) for problem in error.problems]) from None
        if _OWN_LIST in self.body:
            return rendered
        skills = render(shipped(_SKILLS), context, _SKILLS)
        return f"{rendered.rstrip()}\n{skills}" if skills.strip() else rendered


def _hint(said: str) -> str:
    return f"{said}; arguments are given with `--arg`" if said else SYNTAX


def name_of(parts: tuple[str, ...]) -> str:
    """`github/pr.md` is the recipe `github/pr`."""
    return "/".join(parts)[: -len(ENDING)] if parts[-1].endswith(ENDING) else ""


def recipe(text: TextFile) -> Recipe:
    """What a file says; broken, with the reason, where it says something that cannot be."""
    found = Recipe(text.names, text.path, text.origin)
    if text.document is None:
        return found._replace(status=HandlerStatus.BROKEN, reason=str(text.problem))
    found = found._replace(body=text.document.body, body_line=text.document.body_line)
    try:
        return found._replace(**_head(text.document, str(text.path)))
    except ConfigError as error:
        return found._replace(status=HandlerStatus.BROKEN, reason=str(error.problems[0]))


def _head(document: FrontMatter, file: str) -> dict[str, Any]:
    said = dict(document.head)

    def refused(key: str, what: str) -> ConfigError:
        return ConfigError([Problem(what, file, document.lines.get(key, 1))])

    def text(key: str) -> str:
        value = said.pop(key, None)
        if value is not None and not isinstance(value, str):
            raise refused(key, f"`{key}` must be text, not {value!r}")
        return " ".join((value or "").split())

    title, description, agent = text("name"), text("description"), text("agent")
    tools = None
    for key in TOOLS:
        try:
            tools = tool_names(said.pop(key)) if key in said else tools
        except ValueError as error:
            raise refused(key, f"`{key}` {error}") from None
    try:
        arguments = declared(said.pop("arguments", None), said.pop("defaults", None))
    except ValueError as error:
        raise refused("arguments" if "arguments" in document.lines else "defaults", str(error)) from None
    return {
        "title": title,
        "description": description,
        "agent": agent,
        "arguments": arguments,
        "allowed_tools": tools,
        "more": said,
    }
