"""Recipes: Markdown files with front matter, whose text is a template for a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from samuel.base.errors import ConfigError, Problem
from samuel.files.frontmatter import FrontMatter
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.plugins.installed import InstalledPlugin
from samuel.prompts.render import render, shipped, used_names
from samuel.skills.recipe_arguments import Argument, fill_arguments, read_arguments
from samuel.skills.text_files import TextFile, read_directory, shadowed, text_directories
from samuel.skills.tool_lists import tool_names

ENDING = ".md"
TOOLS = ("allowed_tools", "allowed-tools")
_SKILLS = "skills.md.j2"
_OWN_LIST = "State.Skills"  # a recipe that uses it lists the skills itself
SYNTAX = "recipes are Jinja2 templates: {{ name }}, {% if name %}...{% endif %}, {{ name | default('x', true) }}"


class Recipe(NamedTuple):
    names: tuple[str, ...]
    path: Path
    origin: Origin
    title: str = ""
    """The `name` in its front matter."""
    description: str = ""
    arguments: tuple[Argument, ...] | None = None
    """None if it declares none: then it takes the names that its text uses."""
    allowed_tools: tuple[str, ...] | None = None
    agent: str = ""
    more: Mapping[str, Any] = {}
    """Keys of the front matter that are other tools', unchanged."""
    body: str = ""
    body_line: int = 1
    status: HandlerStatus = HandlerStatus.ACTIVE
    reason: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    def prompt(self, context: Mapping[str, Any], arguments: Mapping[str, str]) -> str:
        """The text with the context's names and its arguments filled in; below it, the skills of the project."""
        # Empty lines in place of the front matter: the lines in messages are then those of the file.
        text = "\n" * (self.body_line - 1) + self.body
        try:
            values = fill_arguments(self.arguments, arguments, used_names(text, str(self.path)), self.name)
            rendered = render(text, {**context, **values}, str(self.path)).lstrip("\n")
        except ConfigError as error:
            raise ConfigError(
                [problem._replace(hint=_with_hint(problem.hint)) for problem in error.problems]
            ) from None
        if _OWN_LIST in self.body:
            return rendered
        skills = render(shipped(_SKILLS), context, _SKILLS)
        return f"{rendered.rstrip()}\n{skills}" if skills.strip() else rendered


def _with_hint(hint: str) -> str:
    return f"{hint}; pass arguments with `--arg`" if hint else SYNTAX


def name_of(parts: tuple[str, ...]) -> str:
    """`github/pr.md` is the recipe `github/pr`."""
    return "/".join(parts)[: -len(ENDING)] if parts[-1].endswith(ENDING) else ""


def recipe(text_file: TextFile) -> Recipe:
    """The recipe that a file defines; a broken one, with the reason, if a field has a wrong value."""
    result = Recipe(text_file.names, text_file.path, text_file.origin)
    if text_file.document is None:
        return result._replace(status=HandlerStatus.BROKEN, reason=str(text_file.problem))
    result = result._replace(body=text_file.document.body, body_line=text_file.document.body_line)
    try:
        return result._replace(**_head(text_file.document, str(text_file.path)))
    except ConfigError as error:
        return result._replace(status=HandlerStatus.BROKEN, reason=str(error.problems[0]))


def _head(document: FrontMatter, file: str) -> dict[str, Any]:
    head = dict(document.head)

    def refused(key: str, what: str) -> ConfigError:
        return ConfigError([Problem(what, file, document.lines.get(key, 1))])

    def text(key: str) -> str:
        value = head.pop(key, None)
        if value is not None and not isinstance(value, str):
            raise refused(key, f"`{key}` must be text, not {value!r}")
        return " ".join((value or "").split())

    title, description, agent = text("name"), text("description"), text("agent")
    tools = None
    for key in TOOLS:
        try:
            tools = tool_names(head.pop(key)) if key in head else tools
        except ValueError as error:
            raise refused(key, f"`{key}` {error}") from None
    try:
        arguments = read_arguments(head.pop("arguments", None), head.pop("defaults", None))
    except ValueError as error:
        raise refused("arguments" if "arguments" in document.lines else "defaults", str(error)) from None
    return {
        "title": title,
        "description": description,
        "agent": agent,
        "arguments": arguments,
        "allowed_tools": tools,
        "more": head,
    }


def find_recipes(root: Path, home: Path, plugins: Sequence[InstalledPlugin]) -> list[Recipe]:
    """All recipes, broken and shadowed ones too, the highest precedence first. `plugins` are the usable ones."""
    directories = text_directories("recipes", root, home, plugins)
    return shadowed(recipe(file) for directory in directories for file in read_directory(directory, name_of))
