"""A recipe's run is one session: who is told what, who may stop it, and what the agent gets."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from samuel.history.notices import AgentOutputChunk, LoopWarning
from samuel.skills.recipe import find_recipes
from samuel.testing import Recorder

REVIEW = """\
---
description: Review a branch
arguments: {branch: {description: What}}
---
Review {{ branch }} of {{ Project.Name }}.
"""
SESSION = [
    "before:agent.invoke",
    "SessionStart",
    "UserPromptSubmit",
    "agent.invoke",
    "TurnEnd",
    "SessionStop",
    "SessionEnd",
    "after:agent.invoke",
]


def payloads(recorder: Recorder) -> list[dict[str, Any]]:
    """What was fired, as a handler gets it."""
    return [json.loads(msgspec.json.encode(event)) for event in recorder.begun]


# Writes down every payload it is shown, of every event there is.
WITNESS = """\
import json, msgspec, samuel, samuel.events

@samuel.hook(*[event.name for event in samuel.events.EVENTS if event.name != "agent.invoke"])
def witness(event):
    with open("../witness.jsonl", "ab") as file:
        file.write(msgspec.json.encode(event) + b"\\n")
"""


class TestEveryPayload:
    def test_every_event_of_a_recipe_has_its_name_and_one_session(self, kitchen: Any) -> None:
        kitchen.recipe("github/review", REVIEW)
        recorder = Recorder()
        ran = kitchen.run("github/review", branch="x", options={"sinks": [recorder]})
        assert ran.ok
        fired = payloads(recorder)
        assert [payload["event"] for payload in fired] == SESSION
        assert {payload["recipe_name"] for payload in fired} == {"github/review"}
        assert {payload["session_id"] for payload in fired} == {ran.session_id}

    @pytest.mark.slow
    def test_the_recipe_name_reaches_a_hook(self, kitchen: Any, tmp_path: Path) -> None:
        kitchen.recipe("review", REVIEW)
        kitchen.project.python_hook("witness", WITNESS)
        assert kitchen.run("review", branch="x").ok
        hook_payloads = [json.loads(line) for line in (tmp_path / "witness.jsonl").read_text().splitlines()]
        assert [payload["event"] for payload in hook_payloads] == [
            name for name in SESSION if name != "agent.invoke"
        ]
        assert {payload["recipe_name"] for payload in hook_payloads} == {"review"}

    def test_events_outside_of_a_recipe_have_no_recipe_name(self, kitchen: Any, tmp_path: Path) -> None:
        kitchen.project.python_hook("witness", WITNESS)
        with kitchen.open() as app:
            for event in ("SessionStart", "before:loop"):
                fields = {"prd_path": "x", "max_iterations": 1} if event == "before:loop" else {}
                app.fire(event, **fields)
        hook_payloads = [json.loads(line) for line in (tmp_path / "witness.jsonl").read_text().splitlines()]
        assert [payload["event"] for payload in hook_payloads] == ["SessionStart", "before:loop"]
        assert not any("recipe_name" in payload for payload in hook_payloads)

    def test_the_recipe_name_reaches_a_kodelet_hook(self, kitchen: Any, sh: Any) -> None:
        kitchen.recipe("review", REVIEW)
        kitchen.project.hook("theirs", sh("turn_end", "cat > ../theirs.json"))
        ran = kitchen.run("review", branch="x")
        hook_payloads = json.loads((kitchen.root.parent / "theirs.json").read_text())
        assert (hook_payloads["event"], hook_payloads["recipe_name"], hook_payloads["conv_id"]) == (
            "turn_end",
            "review",
            ran.session_id,
        )
        assert hook_payloads["response"] == "Review x of project.\n"


class TestTheAgent:
    def test_the_agent_gets_the_recipes_text_and_nothing_else(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        ran = kitchen.run("review", branch="x")
        assert (ran.exit_code, ran.stdout, ran.changed_files) == (0, "Review x of project.\n", ("made.txt",))
        assert Path(ran.stdout_path).read_text() == ran.stdout
        assert AgentOutputChunk(b"Review x of project.\n") in kitchen.reports

    def test_handlers_may_change_the_prompt_of_a_recipe(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        adds = Recorder(
            "before:agent.invoke", order=300, returns=lambda event: {"prompt": event.prompt + "More.\n"}
        )
        prompt_recorder = Recorder("UserPromptSubmit")
        ran = kitchen.run("review", branch="x", options={"handlers": [adds, prompt_recorder]})
        assert ran.stdout == "Review x of project.\nMore.\n"
        assert prompt_recorder.events[0].user_message == ran.stdout  # a guard sees what the agent gets

    def test_what_a_handler_contributes_reaches_the_later_ones(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        gives = Recorder("before:agent.invoke", name="gives", returns={"data": {"a": 1}})
        takes = Recorder("after:agent.invoke", name="takes")
        kitchen.run("review", branch="x", options={"handlers": [gives, takes]})
        assert takes.events[0].context["Plugins"] == {"gives": {"a": 1}}

    @pytest.mark.slow
    def test_the_agent_of_a_recipe_is_inside_a_run_and_cannot_trust_anything(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        kitchen.agent("samuel trust --yes; echo code $?; env | grep ^SAMUEL_ | sort\n")
        ran = kitchen.run("review", branch="x")
        assert "code 1" in ran.stdout
        assert "cannot change what is trusted" in ran.stderr
        assert f"SAMUEL_SESSION_ID={ran.session_id}" in ran.stdout
        assert "SAMUEL_RECIPE=review" in ran.stdout

    def test_a_failing_agent_fails_the_recipe(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        kitchen.agent("echo no >&2; exit 7\n")
        recorder = Recorder()
        ran = kitchen.run("review", branch="x", options={"sinks": [recorder]})
        assert (ran.ok, ran.exit_code, ran.stderr, ran.stopped) == (False, 7, "no", "")
        assert [payload["event"] for payload in payloads(recorder)] == SESSION

    @pytest.mark.parametrize(("head", "chosen", "agent"), [("", "", "mine"), ("agent: filed", "", "filed")])
    def test_the_recipe_chooses_the_agent_before_the_project(
        self, kitchen: Any, head: str, chosen: str, agent: str
    ) -> None:
        kitchen.recipe("review", f"---\n{head}\n---\nText\n")
        assert kitchen.run("review", chosen).agent == agent

    def test_the_agent_option_has_precedence_over_the_recipe(self, kitchen: Any) -> None:
        kitchen.recipe("review", "---\nagent: nobody\n---\nText\n")
        ran = kitchen.run("review", "filed")
        assert (ran.agent, ran.stdout) == ("filed", "Text\n")

    def test_two_recipes_at_once_do_not_read_each_others_prompt(self, kitchen: Any) -> None:
        """Each session has files of its own."""
        kitchen.recipe("a", "First.\n")
        kitchen.recipe("b", "Second.\n")
        first, second = kitchen.run("a", "filed"), kitchen.run("b", "filed")
        assert (first.stdout, second.stdout) == ("First.\n", "Second.\n")
        assert Path(first.stdout_path).read_text() == "First.\n"
        assert Path(kitchen.root, f".samuel/run/prompts/{first.session_id}.md").read_text() == "First.\n"

    def test_a_recipe_can_run_the_scripted_agent(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        kitchen.put(".samuel/scripted/recipe/run.sh", "cat > told.txt\n")
        ran = kitchen.run("review", "scripted", branch="x")
        assert ran.ok
        assert (kitchen.root / "told.txt").read_text() == "Review x of project.\n"
        assert ran.changed_files == ("told.txt",)

    def test_a_recipe_runs_in_a_project_without_state(self, kitchen: Any) -> None:
        kitchen.project.config(
            '[methodology.ralph]\nagent = "mine"\n[methodology.other]\nagent = "mine"\n'
            '[agents.mine]\ncommand = ["./agent.sh"]\nprompt = "stdin"\n'
        )
        kitchen.recipe("review", REVIEW)
        assert kitchen.run("review", branch="x").ok


class TestWhoMayStopIt:
    def test_a_guard_that_denies_the_prompt_stops_the_recipe(self, kitchen: Any, sh: Any) -> None:
        kitchen.recipe("review", REVIEW)
        kitchen.project.hook("no", sh("user_message_send", """echo '{"blocked": true, "reason": "not today"}'"""))
        recorder = Recorder()
        ran = kitchen.run("review", branch="x", options={"sinks": [recorder]})
        assert (ran.ok, ran.exit_code, ran.stopped) == (False, None, "not today")
        assert [payload["event"] for payload in payloads(recorder)] == [
            "before:agent.invoke",
            "SessionStart",
            "UserPromptSubmit",
            "SessionEnd",
        ]
        assert not (kitchen.root / "made.txt").exists()

    def test_a_strict_handler_that_fails_stops_the_recipe(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        strict = Recorder("before:agent.invoke", strict=True, returns={"ok": False, "reason": "no"})
        recorder = Recorder()
        ran = kitchen.run("review", branch="x", options={"handlers": [strict], "sinks": [recorder]})
        assert ran.exit_code is None
        assert ran.stopped
        assert [payload["event"] for payload in payloads(recorder)] == ["before:agent.invoke"]

    def test_an_empty_prompt_stops_the_recipe(self, kitchen: Any) -> None:
        kitchen.recipe("empty", "---\ndescription: x\n---\n\n")
        assert kitchen.run("empty").stopped == "there is no prompt: its text is empty"

    def test_a_recipe_without_a_handler_for_agent_invoke_fails(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        with (kitchen.root / "samuel.toml").open("a") as config:
            config.write('[hooks."agent.invoke"]\nhandlers = []\n')
        ran = kitchen.run("review", branch="x")
        assert (ran.exit_code, ran.ok) == (None, False)
        assert ran.stopped.startswith("no handler runs on `agent.invoke`")

    def test_an_agent_that_removes_the_repository_fails_the_recipe(self, kitchen: Any) -> None:
        subprocess.run(["git", "init", "-q", "."], cwd=kitchen.root, check=True)
        kitchen.recipe("review", REVIEW)
        kitchen.agent("rm -rf .git\n")
        ran = kitchen.run("review", branch="x")
        assert (ran.exit_code, ran.ok) == (0, False)
        assert ran.stopped.startswith(f"the git repository `{kitchen.root}/.git` cannot be used: ")

    def test_an_agent_may_create_the_repository(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        kitchen.agent("git init -q .; echo changed > made.txt\n")
        ran = kitchen.run("review", branch="x")
        assert (ran.ok, "made.txt" in ran.changed_files) == (True, True)

    def test_an_untrusted_agent_is_refused(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)
        recorder = Recorder()
        ran = kitchen.run("review", branch="x", options={"trust_everything": False, "sinks": [recorder]})
        assert ran.exit_code is None
        assert "`agent:mine` has not been agreed to" in ran.stopped
        assert payloads(recorder)[-1]["event"] == "SessionEnd"
        assert not (kitchen.root / "made.txt").exists()

    @pytest.mark.slow
    def test_an_interrupted_recipe_still_fires_the_end_of_the_session(self, kitchen: Any) -> None:
        kitchen.recipe("review", REVIEW)

        def interrupted(event: Any) -> None:
            raise KeyboardInterrupt

        stops, recorder = Recorder("TurnEnd", returns=interrupted), Recorder()
        with pytest.raises(KeyboardInterrupt):
            kitchen.run("review", branch="x", options={"handlers": [stops], "sinks": [recorder]})
        events = [payload["event"] for payload in payloads(recorder)]
        assert events[-3:] == ["TurnEnd", "SessionStop", "SessionEnd"]


def test_unknown_keys_of_a_sandbox_are_ignored(kitchen: Any) -> None:
    kitchen.recipe("review", REVIEW)
    answers = Recorder("before:agent.invoke", returns={"sandbox": {"kind": "host", "note": "mine"}})
    assert kitchen.run("review", branch="x", options={"handlers": [answers]}).ok


class TestAllowedTools:
    def test_tools_that_an_agent_cannot_be_limited_to_are_a_variable_and_a_warning(self, kitchen: Any) -> None:
        kitchen.recipe("look", "---\nallowed_tools: [Read, 'Bash(git log:*)']\n---\nLook.\n")
        kitchen.agent('printf %s "$SAMUEL_ALLOWED_TOOLS"\n')
        assert kitchen.run("look").stdout == "Read\nBash(git log:*)"
        note = "the agent `mine` cannot be held to the tools Read, Bash(git log:*)"
        assert LoopWarning(note) in kitchen.reports

    def test_a_handler_cannot_remove_the_limit_of_tools(self, kitchen: Any) -> None:
        kitchen.recipe("look", "---\nallowed_tools: [Read]\n---\nLook.\n")
        kitchen.agent('printf %s "$SAMUEL_ALLOWED_TOOLS"\n')
        loosens = Recorder("before:agent.invoke", returns={"env": {"SAMUEL_ALLOWED_TOOLS": "Bash"}})
        assert kitchen.run("look", options={"handlers": [loosens]}).stdout == "Read"

    def test_a_recipe_without_allowed_tools_does_not_limit_them(self, kitchen: Any) -> None:
        kitchen.recipe("look", "Look.\n")
        kitchen.agent('printf %s "${SAMUEL_ALLOWED_TOOLS-unset}"\n')
        assert kitchen.run("look").stdout == "unset"
        assert not [report for report in kitchen.reports if isinstance(report, LoopWarning)]


def test_messages_and_warnings_of_handlers_are_reported(kitchen: Any, sh: Any) -> None:
    kitchen.recipe("review", REVIEW)
    kitchen.project.hook("speaks", sh("TurnEnd", """echo '{"messages_to_user": ["3 findings"]}'"""))
    kitchen.project.hook("breaks", sh("SessionStop", "exit 3"))
    ran = kitchen.run("review", branch="x")
    assert ran.ok
    assert ran.messages == ("3 findings",)
    assert ran.warnings == ("`breaks` crashed: exit code 3",)


def test_a_loop_that_was_started_inside_a_recipe_renders_its_own_prompt(
    kitchen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMUEL_RECIPE", "release")
    with kitchen.open() as app:
        state = {**app.context()["State"], "Agent": "mine", "RunId": "r"}
        fired = app.fire(
            "before:agent.invoke", agent="mine", iteration=1, context={**app.context(), "State": state}
        )
    assert fired.event.recipe_name == "release"
    assert fired.result["prompt"]


SKILL = "---\nname: tidy\ndescription: How to tidy up\n---\n"


def test_a_recipe_lists_the_skills_as_the_loop_does(kitchen: Any) -> None:
    kitchen.put(".samuel/skills/tidy/SKILL.md", SKILL)
    kitchen.recipe("look", "Look around.\n")
    kitchen.recipe("own", "{% for one in State.Skills %}{{ one.Name }}{% endfor %}!\n")
    section = (
        "\n## Skills\nRead the file of a skill before you do what it is for:\n"
        "- tidy (`.samuel/skills/tidy/SKILL.md`): How to tidy up\n"
    )
    with kitchen.open() as app:
        look, own = (
            payload.prompt(app.context(), {}) for payload in find_recipes(app.paths.root, app.user.home, ())
        )
        rendered = app.fire("before:agent.invoke", agent="mine", context=app.context()).result["prompt"]
    assert look == f"Look around.\n{section}"
    assert own == "tidy!\n"
    assert section in rendered
