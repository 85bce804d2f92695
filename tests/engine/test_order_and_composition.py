"""Handlers of one event: their order around the built-in, how results compose, what errors do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.hooks.handler import Outcome
from samuel.testing import SamuelProject

Script = Callable[[str, str], str]


def test_the_built_in_handler_runs_when_there_are_no_hooks(samuel_project: SamuelProject) -> None:
    flag = samuel_project.root / "ran"
    fired = samuel_project.fire("quality.check", commands=[f"touch {flag}", "exit 3"])
    assert flag.exists()
    assert [call.handler.name for call in fired.calls] == ["default"]
    assert fired.result["failures"][0]["command"] == "exit 3"
    assert not fired.ok


def test_handler_below_100_changes_what_the_default_sees(samuel_project: SamuelProject, sh: Script) -> None:
    samuel_project.config('[hooks."before:agent.invoke".order]\nfirst = 50')
    samuel_project.hook("first", sh("before:agent.invoke", """echo '{"prompt": "Mind the gap."}'"""))
    fired = samuel_project.fire("before:agent.invoke", agent="scripted", **in_context(samuel_project))
    assert [call.handler.name for call in fired.calls] == ["first", "default"]
    assert fired.result["prompt"].startswith("Mind the gap.\n\n# project: iteration 0")


def test_handler_below_100_is_what_the_default_builds_on(samuel_project: SamuelProject, sh: Script) -> None:
    samuel_project.config('[hooks."context.task".order]\nfirst = 50')
    samuel_project.hook("first", sh("context.task", """echo '{"toon_blob": "owner: me"}'"""))
    fired = samuel_project.fire("context.task", task={"id": "7"})
    assert [call.handler.name for call in fired.calls] == ["first", "default"]
    assert fired.result["toon_blob"].splitlines()[0] == "owner: me"
    assert 'id: "7"' in fired.result["toon_blob"]


def test_handler_above_100_augments_the_result_of_the_default(samuel_project: SamuelProject, py: Script) -> None:
    body = (
        "import json\nevent = json.load(sys.stdin)\n"
        "print(json.dumps({'prompt': event['prompt'] + '\\nAfter: ' + str(len(event['previous']['prompt']))}))"
    )
    samuel_project.hook("after", py("before:agent.invoke", body))
    fired = samuel_project.fire("before:agent.invoke", agent="scripted", **in_context(samuel_project))
    assert [call.handler.name for call in fired.calls] == ["default", "after"]
    text, _, plugins_text = fired.result["prompt"].rpartition("\nAfter: ")
    assert text.startswith("# project: iteration 0")
    assert plugins_text == str(len(text))


def test_of_two_handlers_with_the_same_configured_order_the_last_wins_with_a_warning(
    samuel_project: SamuelProject, sh: Script
) -> None:
    samuel_project.config('[hooks."quality.check".order]\none = 150\ntwo = 150')
    samuel_project.hook("one", sh("quality.check", """echo '{"checked_by": "one"}'"""))
    samuel_project.hook("two", sh("quality.check", """echo '{"checked_by": "two"}'"""))
    fired = samuel_project.fire("quality.check", commands=["true"])
    assert [call.handler.name for call in fired.calls] == ["default", "two"]
    assert fired.result["checked_by"] == "two"
    (warning,) = fired.warnings
    assert "`two` replaces `one`" in warning
    assert '[hooks."quality.check".order]' in warning


def test_a_handler_that_asks_for_100_replaces_the_default(samuel_project: SamuelProject) -> None:
    samuel_project.python_hook(
        "mine",
        """
        import samuel

        @samuel.hook("quality.check", order=100)
        def mine(event):
            return {"ok": True, "mine": len(event.commands)}
        """,
    )
    fired = samuel_project.fire("quality.check", commands=["false"])
    assert [call.handler.name for call in fired.calls] == ["mine"]
    assert fired.ok
    assert "`mine` replaces `default`" in fired.warnings[0]


def test_chain_goes_on_after_a_handler_that_is_not_strict_crashed(
    samuel_project: SamuelProject, sh: Script
) -> None:
    samuel_project.hook("bad", sh("context.task", "exit 9"))
    samuel_project.hook("good", sh("context.task", """echo '{"seen": true}'"""))
    fired = samuel_project.fire("context.task", task={"id": "1"})
    assert [call.outcome for call in fired.calls] == [Outcome.OK, Outcome.CRASHED, Outcome.OK]
    assert fired.ok
    assert not fired.stopped
    assert fired.result["seen"] is True
    assert fired.warnings == ("`bad` crashed: exit code 9",)


@pytest.mark.parametrize(
    ("body", "outcome"),
    [("exit 9", Outcome.CRASHED), ("""echo '{"ok": false, "reason": "no"}'""", Outcome.FAILED)],
    ids=["crash", "says no"],
)
def test_strict_handler_that_fails_stops_the_event(
    samuel_project: SamuelProject, sh: Script, body: str, outcome: Outcome
) -> None:
    """quality.check is strict by itself. The chain still runs to its end."""
    samuel_project.hook("bad", sh("quality.check", body))
    samuel_project.hook("good", sh("quality.check", """echo '{"seen": true}'"""))
    fired = samuel_project.fire("quality.check", commands=["true"])
    assert [call.outcome for call in fired.calls] == [Outcome.OK, outcome, Outcome.OK]
    assert not fired.ok
    assert fired.stopped
    assert fired.reason.startswith(f"`bad` {outcome}: ")
    assert fired.result["seen"] is True


def test_strict_can_be_configured_for_an_event(samuel_project: SamuelProject, sh: Script) -> None:
    samuel_project.config('[hooks."quality.check"]\nstrict = false\n[hooks."context.task"]\nstrict = true')
    samuel_project.hook(
        "bad", '#!/bin/sh\nif [ "$1" = hook ]; then echo quality.check context.task; exit; fi\nexit 9\n'
    )
    assert not samuel_project.fire("quality.check", commands=[]).stopped
    assert samuel_project.fire("context.task", task={}).stopped


PYTHON_FACTS = """
import samuel

@samuel.hook("context.extra", order=150)
def facts(event):
    return {"extras": [{"name": "python.md", "content": "Use the venv."}], "data": {"Venv": ".venv", "N": 1}}
"""


def test_data_of_context_extra_is_visible_in_the_rendered_template(samuel_project: SamuelProject) -> None:
    samuel_project.python_hook("python", PYTHON_FACTS)
    with samuel_project.open() as app:
        extra = app.fire("context.extra", task={"id": "1"}, context=app.context())
        assert extra.context["Plugins"] == {"python": {"Venv": ".venv", "N": 1}}
        prompt = app.fire("before:agent.invoke", agent="scripted", context=extra.context).result["prompt"]
    assert '- python: {"N": 1, "Venv": ".venv"}' in prompt


@pytest.mark.slow
@pytest.mark.parametrize(
    "template",
    [
        "Venv: {{.Plugins.python.Venv}}!",
        "Venv: {{ .Plugins.python.Venv }}!",
        "Venv: \n{{- .Plugins.python.Venv -}}\n!",
        "Venv: {{ Plugins.python.Venv }}!",
    ],
)
def test_data_of_context_extra_is_visible_in_the_projects_own_template(
    samuel_project: SamuelProject, template: str
) -> None:
    """Names may begin with a dot, as in Go templates."""
    samuel_project.python_hook("python", PYTHON_FACTS)
    own = samuel_project.root / ".samuel/templates/ralph/prompt.md.j2"
    own.parent.mkdir(parents=True)
    own.write_text(template)
    with samuel_project.open() as app:
        extra = app.fire("context.extra", task={"id": "1"}, context=app.context())
        fired = app.fire("before:agent.invoke", agent="scripted", context=extra.context)
    assert fired.result["prompt"].replace(" ", "") == "Venv:.venv!"


def test_ten_handlers_on_one_event_compose(samuel_project: SamuelProject, sh: Script, tmp_path: Path) -> None:
    names = [f"h{number}" for number in range(10)]
    for name in reversed(names):
        samuel_project.hook(
            name, sh("context.extra", f"""echo '{{"extras": [{{"name": "{name}", "content": "x"}}]}}'""")
        )
    fired = samuel_project.fire("context.extra", task={"id": "1"})
    assert [extra["name"] for extra in fired.result["extras"]] == names
    assert fired.warnings == ()
    assert fired.ok


def in_context(project: SamuelProject) -> dict[str, object]:
    with project.open() as app:
        return {"context": app.context()}
