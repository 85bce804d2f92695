"""The plugins in examples/ that are text and scripts: installed as they are, fired for real."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from samuel.hooks.handler import HandlerStatus
from samuel.skills.skill import find_skills
from samuel.testing import SamuelProject

EXAMPLES = Path(__file__).parents[3] / "examples/plugins"
MARKER, KEY = "it leaves a conflict marker in the file", "it puts a private key into the file"
GENERATED = "is generated: change what it is made from"


@pytest.fixture
def reviewed(kitchen: Any) -> Any:
    kitchen.project.plugin(EXAMPLES / "code-review", "acme@code-review")
    return kitchen


class TestCodeReview:
    def test_the_review_plugin_brings_its_recipes_skills_and_hooks(self, reviewed: Any) -> None:
        with reviewed.open() as app:
            (skill,) = find_skills(app.paths.root, app.user.home, app.plugins.usable)
            hooks = [handler for handler in app.handlers if handler.owner == "code-review"]
        assert [handler.name for handler in reviewed.find()] == ["code-review/deploy", "code-review/review"]
        assert (skill.name, skill.status, skill.warnings) == ("code-review/code-review", HandlerStatus.ACTIVE, ())
        assert [(handler.name, handler.event, handler.status) for handler in hooks] == [
            ("code-review/review-summary", "TurnEnd", HandlerStatus.ACTIVE),
            ("code-review/validate-diff", "PreAbilityCall", HandlerStatus.ACTIVE),
        ]

    @pytest.mark.slow
    def test_the_review_renders_with_and_without_what_may_be_left_out(self, reviewed: Any) -> None:
        (_, review) = reviewed.find()
        with reviewed.open() as app:
            context = app.context()
        plain = review.prompt(context, {})
        assert "git diff main...HEAD" in plain
        assert "above all" not in plain
        focused = review.prompt({**context, "Guardrails": {"max_file_lines": 300}}, {"focus": "the parser"})
        assert "Look above all at: the parser" in focused
        assert "- max_file_lines: 300" in focused

    @pytest.mark.slow
    def test_the_deploy_has_a_step_for_production_only(self, reviewed: Any) -> None:
        (deploy, _) = reviewed.find()
        with reviewed.open() as app:
            context = app.context()
        assert "must name a tag" in deploy.prompt(context, {"environment": "production"})
        assert "must name a tag" not in deploy.prompt(context, {"environment": "staging"})

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("tool", "tool_input", "reason"),
        [
            ("file_edit", {"file_path": "a.py", "old_text": "<<<<<<< HEAD\n", "new_text": "x"}, ""),
            ("file_edit", {"file_path": "a.py", "new_text": "a\n<<<<<<< HEAD\n"}, MARKER),
            ("Edit", {"file_path": "a.py", "new_string": "a <<<<<<< b"}, ""),
            ("Write", {"file_path": "k", "content": "-----BEGIN RSA PRIVATE KEY-----"}, KEY),
            ("Write", {"file_path": "x/uv.lock", "content": "q"}, f"x/uv.lock {GENERATED}"),
            ("Write", {"file_path": "gen/a.py", "content": "q"}, f"gen/a.py {GENERATED}"),
            ("Write", {"file_path": "src/gen/a.py", "content": "q"}, ""),
            ("bash", {"command": "echo '<<<<<<< '"}, ""),
        ],
    )
    @pytest.mark.sampled(every=3)
    def test_an_edit_is_looked_at_before_it_is_made(
        self, reviewed: Any, tool: str, tool_input: Any, reason: str
    ) -> None:
        reviewed.put(".gitattributes", "*.lock linguist-generated\ngen/*.py linguist-generated=true\n*.c text\n")
        with reviewed.open() as app:
            fired = app.fire("PreAbilityCall", ability_id=tool, tool_input=tool_input)
        assert [call.stderr for call in fired.calls] == [""]
        assert (fired.denied, fired.reason) == (bool(reason), reason)

    @pytest.mark.parametrize(
        ("recipe", "tool", "denied"),
        [
            ("code-review/review", "file_edit", True),
            ("review", "file_edit", True),
            ("code-review/review", "Read", False),
            ("code-review/deploy", "file_edit", False),
        ],
    )
    @pytest.mark.sampled(every=2)
    def test_nothing_is_edited_during_a_review(self, reviewed: Any, recipe: str, tool: str, denied: bool) -> None:
        with reviewed.open() as app:
            tool_input = {"file_path": "a.py", "new_text": "fine"}
            fired = app.fire("PreAbilityCall", ability_id=tool, tool_input=tool_input, recipe_name=recipe)
        assert fired.denied is denied

    @pytest.mark.slow
    def test_a_review_leaves_a_line_behind_and_tells_the_person(self, reviewed: Any) -> None:
        reviewed.agent("echo 'must: a.py:1: it breaks'\necho 'nit: b.md:2: a comma'\n")
        ran = reviewed.run("acme/code-review/review")
        assert ran.recipe == "code-review/review"
        assert ran.messages == ("review: 1 must, 0 should, 1 nit",)
        assert ran.warnings == ()
        log = reviewed.root / ".samuel/run/plugins/code-review/reviews.log"
        (line,) = log.read_text().splitlines()
        assert line.endswith(f" {ran.session_id} review: 1 must, 0 should, 1 nit")

    @pytest.mark.slow
    def test_another_recipe_than_review_leaves_no_line_behind(self, reviewed: Any) -> None:
        reviewed.recipe("other", "Do it.\n")
        assert reviewed.run("other").messages == ()
        assert not (reviewed.root / ".samuel/run/plugins/code-review/reviews.log").exists()


@pytest.mark.slow
def test_notes_has_no_manifest_and_works(kitchen: Any) -> None:
    kitchen.project.plugin(EXAMPLES / "notes", "acme@notes")
    kitchen.agent('echo "Done."; echo "NOTE: the \\"old\\" option is gone"\n')
    ran = kitchen.run("acme@notes/notes", since="v1", version="2")
    assert (ran.recipe, ran.ok, ran.warnings) == ("acme/notes/notes", True, ())
    notes = kitchen.root / ".samuel/run/plugins/acme@notes/notes.md"
    assert notes.read_text().startswith("NOTE: the ")


class TestPython:
    def test_python_context_names_the_version_and_the_dependencies(self, samuel_project: SamuelProject) -> None:
        self.project(samuel_project)
        with samuel_project.open() as app:
            fired = app.fire("context.extra", task={}, context=app.context())
        assert fired.warnings == ()
        assert fired.context["Plugins"] == {
            "python": {"Venv": ".venv", "PyVersion": "3.12.1", "Requirements": ["attrs==1", "click"], "More": 1}
        }

    def test_python_context_is_empty_without_a_python_project(self, samuel_project: SamuelProject) -> None:
        samuel_project.plugin(EXAMPLES / "python-context", "acme@python")
        with samuel_project.open() as app:
            fired = app.fire("context.extra", task={}, context=app.context())
        assert (fired.warnings, fired.context["Plugins"]) == ((), {})

    def test_python_context_reads_a_project_table_too(self, samuel_project: SamuelProject) -> None:
        samuel_project.plugin(EXAMPLES / "python-context", "acme@python")
        text = '[project]\nname = "x"\nrequires-python = ">=3.11"\ndependencies = ["click>=8"]\n'
        (samuel_project.root / "pyproject.toml").write_text(text)
        with samuel_project.open() as app:
            fired = app.fire("context.extra", task={}, context=app.context())
        expected = {"Venv": "", "PyVersion": ">=3.11", "Requirements": ["click>=8"], "More": 0}
        assert fired.context["Plugins"] == {"python": expected}

    def project(self, project: SamuelProject) -> None:
        project.plugin(EXAMPLES / "python-context", "acme@python")
        project.config("[plugins.python]\nmax_requirements = 2\n")
        (project.root / ".venv").mkdir()
        (project.root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.1\n")
        (project.root / "requirements.txt").write_text("attrs==1  # pinned\n-r more.txt\n\nclick\nrich\n")


@pytest.mark.parametrize("hook", ["code-review/hooks/validate-diff", "notes/hooks/remember"])
def test_the_shell_accepts_the_syntax_of_the_hook_scripts(hook: str) -> None:
    shell = (EXAMPLES / hook).read_text().split("\n", 1)[0].rpartition("/")[2].rpartition(" ")[2]
    subprocess.run([shell, "-n", str(EXAMPLES / hook)], check=True)


def test_the_summary_speaks_the_other_protocol_without_samuel(tmp_path: Path) -> None:
    hook = str(EXAMPLES / "code-review/hooks/review-summary")
    assert subprocess.run([hook, "hook"], capture_output=True, text=True, check=True).stdout == "turn_end\n"
    payload = {"event": "turn_end", "conv_id": "c", "cwd": str(tmp_path), "response": "x", "turn_number": 1}
    done = subprocess.run([hook, "run"], input=json.dumps(payload), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"success": True}
    assert list(tmp_path.iterdir()) == []
