"""What recipes are called, what they declare, and what comes of their text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from samuel.base.errors import ConfigError, SamuelError, UsageError
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.plugins.installed import GLOBAL, LOCAL, examine
from samuel.skills.recipe import Recipe, find_recipes
from samuel.skills.recipe_arguments import Argument
from samuel.skills.text_files import choose

CONTEXT: dict[str, Any] = {"Project": {"Name": "demo"}, "Plugins": {}}


def read(tmp_path: Path, text: str) -> Recipe:
    file = tmp_path / ".samuel/recipes/r.md"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    (recipes_found,) = find_recipes(tmp_path, tmp_path / "nobody", [])
    return recipes_found


class TestPlaces:
    def test_nested_names_and_precedence(self, tmp_path: Path) -> None:
        root, home = tmp_path / "project", tmp_path / "home"
        local, user = root / ".samuel/plugins/acme@tools", home / ".samuel/plugins/acme@tools"
        for base in (
            *(root / ".samuel", root / ".kodelet", local),
            *(home / ".samuel", home / ".kodelet", user),
        ):
            (base / "recipes/github").mkdir(parents=True)
            (base / "recipes/github/pr.md").write_text(str(base))
            (base / "recipes/note.txt").write_text("no recipe")
        (root / ".samuel/recipes/fix.md").write_text("x")
        recipes_found = find_recipes(root, home, [examine(local, LOCAL), examine(user, GLOBAL)])
        assert [(recipe.name, recipe.origin, recipe.status) for recipe in recipes_found] == [
            ("fix", Origin.PROJECT, HandlerStatus.ACTIVE),
            ("github/pr", Origin.PROJECT, HandlerStatus.ACTIVE),
            ("github/pr", Origin.PROJECT, HandlerStatus.SHADOWED),
            ("acme/tools/github/pr", Origin.PROJECT_PLUGIN, HandlerStatus.ACTIVE),
            ("github/pr", Origin.USER, HandlerStatus.SHADOWED),
            ("github/pr", Origin.USER, HandlerStatus.SHADOWED),
            ("acme/tools/github/pr", Origin.USER_PLUGIN, HandlerStatus.SHADOWED),
        ]
        assert choose(recipes_found, "github/pr", "recipe").body == str(root / ".samuel")
        assert choose(recipes_found, "acme@tools/github/pr", "recipe").body == str(local)

    @pytest.mark.parametrize(
        "name", ["../r", "/r", "r/../r", "./r", "", "r/", "a\x00b", "r\x1b", ".samuel/recipes/../../x"]
    )
    def test_a_recipe_name_is_never_a_path(self, tmp_path: Path, name: str) -> None:
        recipe = read(tmp_path, "x")
        with pytest.raises(UsageError, match="is not a valid recipe name"):
            choose([recipe], name, "recipe")

    def test_a_link_out_of_the_project_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "secret.md").write_text("secret")
        (tmp_path / "project/.samuel/recipes").mkdir(parents=True)
        (tmp_path / "project/.samuel/recipes/a.md").symlink_to(tmp_path / "secret.md")
        (tmp_path / "project/.samuel/recipes/b").symlink_to(tmp_path)
        (recipe,) = find_recipes(tmp_path / "project", tmp_path / "nobody", [])
        assert (recipe.name, recipe.status, recipe.body) == ("a", HandlerStatus.BROKEN, "")


class TestFrontMatter:
    def test_every_field_of_a_recipe_is_read(self, tmp_path: Path) -> None:
        recipe = read(
            tmp_path,
            "---\nname: Review it\ndescription: >\n  Review\n  a branch\nagent: codex\n"
            "arguments:\n  branch: {description: What, default: main}\n  base: To compare with\n"
            "  focus: {required: false}\n  depth: {default: 3}\n  all: {default: 1, required: true}\n"
            "defaults: {base: trunk, extra: x}\n"
            "allowed_tools: [Read, 'Bash(git diff:*)']\nallowed_commands: [git]\nhooks: {turn_end: {once: true}}\n"
            "---\nText\n",
        )
        assert (recipe.name, recipe.title, recipe.description, recipe.agent) == (
            "r",
            "Review it",
            "Review a branch",
            "codex",
        )
        assert recipe.arguments == (
            Argument("branch", "What", "main", required=False),
            Argument("base", "To compare with", "trunk", required=False),
            Argument("focus", "", None, required=False),
            Argument("depth", "", 3, required=False),
            Argument("all", "", 1, required=True),
            Argument("extra", "", "x", required=False),
        )
        assert recipe.allowed_tools == ("Read", "Bash(git diff:*)")
        assert recipe.more == {"allowed_commands": ["git"], "hooks": {"turn_end": {"once": True}}}

    def test_arguments_may_be_declared_as_a_list(self, tmp_path: Path) -> None:
        text = "---\narguments:\n- name: a\n  description: An a\n- b\n---\n"
        assert read(tmp_path, text).arguments == (Argument("a", "An a"), Argument("b"))

    @pytest.mark.parametrize(
        ("tools_text", "tools"),
        [
            ("allowed_tools: []", ()),
            ("allowed-tools: Read, Bash(git log:*) Write", ("Read", "Bash(git log:*)", "Write")),
            ("other: 1", None),
        ],
    )
    def test_an_empty_list_of_tools_differs_from_a_missing_one(
        self, tmp_path: Path, tools_text: str, tools: Any
    ) -> None:
        assert read(tmp_path, f"---\n{tools_text}\n---\n").allowed_tools == tools

    @pytest.mark.parametrize(
        ("head", "line", "says"),
        [
            ("name: [x]", 2, "`name` must be text"),
            ("a: 1\ndescription: 3", 3, "`description` must be text, not 3"),
            ("agent: {a: b}", 2, "`agent` must be text"),
            ("allowed_tools: 3", 2, "`allowed_tools` must be a list of tools"),
            ("allowed_tools: [--dangerously-skip-permissions]", 2, "which is not a tool name"),
            ("allowed_tools: Read, --verbose", 2, "which is not a tool name"),
            ('allowed_tools: ["Read\\x00"]', 2, "which is not a tool name"),
            ("arguments: 3", 2, "`arguments` must be a mapping or a list"),
            ("arguments: [3]", 2, "3 is not a valid argument name"),
            ("arguments: {a-b: x}", 2, "'a-b' is not a valid argument name"),
            ("arguments: {../x: x}", 2, "'../x' is not a valid argument name"),
            ("arguments: {Project: x}", 2, "cannot be named `Project`"),
            ("arguments: {self: x}", 2, "cannot be named `self`"),
            ("arguments: [a, a]", 2, "has `a` twice"),
            ("arguments: {a: [x]}", 2, "`a` must be a mapping"),
            ("arguments: {a: {required: 'yes'}}", 2, "`required` of `a` must be true or false"),
            ("defaults: [x]", 2, "`defaults` must be a mapping"),
            ("a: &a 1", 2, "anchors and aliases"),
        ],
    )
    def test_an_invalid_recipe_is_listed_with_the_line_and_the_reason(
        self, tmp_path: Path, head: str, line: int, says: str
    ) -> None:
        recipe = read(tmp_path, f"---\n{head}\n---\nText\n")
        assert recipe.status is HandlerStatus.BROKEN
        assert recipe.reason.startswith(f"{recipe.path}:{line}: ")
        assert says in recipe.reason
        with pytest.raises(SamuelError, match="cannot be used"):
            choose([recipe], "r", "recipe")


class TestRendering:
    ARGUMENTS = """---
arguments:
  branch: {description: What to review}
  base: {default: main}
  n: {default: 2}
---
"""

    @pytest.mark.slow
    def test_a_recipe_renders_arguments_in_both_spellings_and_the_context(self, tmp_path: Path) -> None:
        text = self.ARGUMENTS + "{{ branch }} {{.base}} {{ n + 1 }} of {{ Project.Name }}\n"
        assert read(tmp_path, text).prompt(CONTEXT, {"branch": "x"}) == "x main 3 of demo\n"

    def test_an_argument_may_have_the_name_of_a_rendering_parameter(self, tmp_path: Path) -> None:
        text = "---\narguments: [name, text, context, more]\n---\n{{ name }}{{ text }}{{ context }}{{ more }}"
        arguments = {"name": "a", "text": "b", "context": "c", "more": "d"}
        assert read(tmp_path, text).prompt(CONTEXT, arguments) == "abcd"

    def test_the_value_of_an_argument_is_not_rendered_as_a_template(self, tmp_path: Path) -> None:
        text = self.ARGUMENTS + "{{ branch }}"
        assert read(tmp_path, text).prompt(CONTEXT, {"branch": "{{ Project.Name }}"}) == "{{ Project.Name }}"

    def test_a_missing_argument_is_named_with_its_description(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError) as caught:
            read(tmp_path, self.ARGUMENTS).prompt(CONTEXT, {"base": "x"})
        assert str(caught.value) == (
            "the recipe `r` needs an argument that was not given: `branch`: What to review\nadd `--arg branch=...`"
        )

    def test_an_unknown_argument_is_refused_with_the_nearest_name(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"no argument `brnach`\ndid you mean `branch`\?"):
            read(tmp_path, self.ARGUMENTS).prompt(CONTEXT, {"brnach": "x"})

    @pytest.mark.slow
    def test_a_recipe_without_declared_arguments_takes_those_its_text_uses(self, tmp_path: Path) -> None:
        recipe = read(tmp_path, "Say {{.what}} in {{ Project.Name }}")
        assert recipe.prompt(CONTEXT, {"what": "hi"}) == "Say hi in demo"
        with pytest.raises(UsageError, match=r"no argument `waht`\ndid you mean `what`\?"):
            recipe.prompt(CONTEXT, {"waht": "hi"})
        with pytest.raises(UsageError, match="no argument `Project`"):
            recipe.prompt(CONTEXT, {"Project": "mine"})

    @pytest.mark.parametrize(
        ("text", "line", "says"),
        [
            ("---\narguments: {}\n---\nok\n{{ branch }}\n", 5, "'branch' is undefined"),
            ("ok\n{{.branch}}", 2, "'branch' is undefined"),
            ("---\na: b\n---\n\n{% if %}", 5, ""),
            ('---\na: b\n---\n{{bash "git" "status"}}', 4, ""),
        ],
    )
    def test_a_template_error_names_the_line_of_the_recipe_file(
        self, tmp_path: Path, text: str, line: int, says: str
    ) -> None:
        recipe = read(tmp_path, text)
        with pytest.raises(ConfigError) as caught:
            recipe.prompt(CONTEXT, {})
        (problem,) = caught.value.problems
        assert (problem.file, problem.line) == (str(recipe.path), line)
        assert says in problem.what
        assert "Jinja2" in problem.hint or "`--arg`" in problem.hint

    def test_a_recipe_template_cannot_reach_python_internals(self, tmp_path: Path) -> None:
        recipe = read(tmp_path, "{{ cycler.__init__.__globals__.os.system('true') }}")
        with pytest.raises(ConfigError):
            recipe.prompt(CONTEXT, {})
