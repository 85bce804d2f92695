from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from samuel.base.errors import ConfigError
from samuel.hooks.handler import Outcome
from samuel.prompts.render import MOST, load, render, shipped, used_names
from samuel.testing import SamuelProject

CONTEXT: dict[str, Any] = {"Plugins": {"python": {"Venv": ".venv"}}, "Mode": "implementation", "n": 3}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ Plugins.python.Venv }}", ".venv"),
        ("{{.Plugins.python.Venv}}", ".venv"),
        ("{{ .Plugins.python.Venv }}", ".venv"),
        ("a {{- .Mode -}} b", "aimplementationb"),
        ("{{ 1.5 }} {{ .5 + 1 }}", None),
        ("{% for i in range(n) %}{{ i }}{% endfor %}", "012"),
        ("<b>{{ '<&>' }}</b>\n", "<b><&></b>\n"),
    ],
)
def test_template_names_work_in_jinja_and_in_go_spelling(template: str, text: str | None) -> None:
    if text is None:
        with pytest.raises(ConfigError):
            render(template, CONTEXT)
    else:
        assert render(template, CONTEXT) == text


@pytest.mark.parametrize(
    ("template", "line", "says"),
    [
        ("ok\n{{ Nonesuch }}", 2, "Nonesuch"),
        ("ok\n\n{{ .Plugins.ruby.Venv }}", 3, "ruby"),
        ("{% if %}", 1, ""),
        ("a\n{% for %}", 2, ""),
        ("{{ 1 / 0 }}", 1, "division"),
        ("{{ n + 'x' }}", 1, ""),
    ],
)
def test_what_is_wrong_is_said_with_its_line(template: str, line: int, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        render(template, CONTEXT, "prompt.md.j2")
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("prompt.md.j2", line)
    assert says in problem.what


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.system('true') }}",
        "{{ Plugins.update({'x': 1}) }}",
        "{% include '/etc/passwd' %}",
        "{{ lipsum.__globals__ }}",
        "{{ 'x' * 10 ** 12 }}",
    ],
)
def test_a_template_cannot_do_anything_but_render(template: str) -> None:
    with pytest.raises(ConfigError):
        render(template, CONTEXT)
    assert CONTEXT["Plugins"] == {"python": {"Venv": ".venv"}}


DOUBLING = "{% set x = namespace(a='x') %}{% for i in range(60) %}{% set x.a = x.a ~ x.a %}{% endfor %}{{ x.a }}"


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ 'a' * 999999999 }}", "too much memory"),
        ("{{ 'x' | center(999999999) }}", "too much memory"),
        ("{{ '%999999999d' | format(n) }}", "too much memory"),
        (DOUBLING, "too much memory"),
        ("{{ 'a' * 90000000 }}", "renders to more than"),
        ("{{ lipsum(n=9999) }}", "'lipsum' is undefined"),
        ("{% for i in range(999999999) %}{% endfor %}", "Range too big"),
        ("{{ " + "*".join("n" * 400) + " }}", ""),
        ("{{ " + "(" * 5000 + "n" + ")" * 5000 + " }}", ""),
        ("{{ n }}" + "x" * MOST, "longer than"),
    ],
)
def test_a_template_that_takes_too_much_is_an_error_that_names_it(template: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        render(template, CONTEXT, "prompt.md.j2")
    (problem,) = caught.value.problems
    assert problem.file == "prompt.md.j2"
    assert says in problem.what
    with suppress(ConfigError):  # what it costs to look at its names is bounded in the same way
        used_names(template, "prompt.md.j2")


@pytest.mark.slow
def test_a_template_without_an_end_is_ended(samuel_project: SamuelProject) -> None:
    own = samuel_project.root / ".samuel/templates/ralph"
    own.mkdir(parents=True)
    loops = "".join(f"{{% for {name} in range(99999) %}}" for name in "abcd") + "{% endfor %}" * 4
    (own / "prompt.md.j2").write_text(loops)
    with samuel_project.open() as app:
        fired = app.fire("before:agent.invoke", agent="x", context=app.context())
    assert fired.calls[0].outcome is Outcome.CRASHED
    assert "prompt.md.j2: takes more than 5 seconds of computing" in fired.calls[0].message


def test_a_text_without_tags_is_what_it_is() -> None:
    assert render("plain { text }\r\n", {}) == "plain { text }\n"
    assert used_names("plain") == set()


def test_the_shipped_prompt_follows_the_four_steps(samuel_project: SamuelProject) -> None:
    with samuel_project.open() as app:
        context = app.context()
    bare = render(shipped("prompt.md.j2"), context)
    context["State"] |= {
        "Task": "id: 1.2",
        "Progress": "learned much",
        "Snapshot": "files: 3",
        "Extras": [{"name": "x.md", "content": "extra"}],
    }
    prompt = render(shipped("prompt.md.j2"), context)
    assert prompt.startswith(bare.rstrip())
    for part in ("## Task\n\n```toon\nid: 1.2\n```", "learned much", "```toon\nfiles: 3\n```"):
        assert part in prompt
        assert part not in bare
    steps = [prompt.index(step) for step in ("Deconstruct", "Diagnose", "Develop", "Deliver")]
    assert steps == sorted(steps)
    assert "## x.md\n\nextra" in prompt


def test_the_projects_own_replaces_the_shipped_one(tmp_path: Path) -> None:
    assert load("prompt.md.j2", tmp_path)[0] == shipped("prompt.md.j2")
    (tmp_path / "prompt.md.j2").write_text("mine")
    assert load("prompt.md.j2", tmp_path) == ("mine", str(tmp_path / "prompt.md.j2"))


@pytest.mark.parametrize(("data", "says"), [(b"\xff\xfe", "UTF-8"), (b"x" * 1_100_000, "larger than")])
def test_one_that_cannot_be_read_is_said(tmp_path: Path, data: bytes, says: str) -> None:
    (tmp_path / "prompt.md.j2").write_bytes(data)
    with pytest.raises(ConfigError, match=says):
        load("prompt.md.j2", tmp_path)


@pytest.mark.parametrize("link", ["templates", "templates/ralph", "templates/ralph/prompt.md.j2"])
def test_one_behind_a_link_is_refused(tmp_path: Path, link: str) -> None:
    """What a link of a clone leads to, a key perhaps, would be told to the agent."""
    for directory in ("outside/ralph", "project/templates/ralph"):
        (tmp_path / directory).mkdir(parents=True)
    (tmp_path / "outside/ralph/prompt.md.j2").write_text("secret")
    place, depth = tmp_path / "project" / link, link.count("/")
    if place.is_dir():
        shutil.rmtree(place)
    place.symlink_to(tmp_path / ("outside", "outside/ralph", "outside/ralph/prompt.md.j2")[depth])
    with pytest.raises(ConfigError, match="symbolic link"):
        load("prompt.md.j2", tmp_path / "project/templates/ralph")


def test_a_wrong_template_fails_the_call_with_its_line_and_nothing_else(samuel_project: SamuelProject) -> None:
    own = samuel_project.root / ".samuel/templates/ralph"
    own.mkdir(parents=True)
    (own / "prompt.md.j2").write_text("one\n{{ Typo }}\n")
    with samuel_project.open() as app:
        fired = app.fire("before:agent.invoke", agent="x", context=app.context())
    assert fired.calls[0].outcome is Outcome.CRASHED
    assert "prompt.md.j2:2" in fired.calls[0].message
    assert "Typo" in fired.calls[0].message
