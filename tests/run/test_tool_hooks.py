"""The tool calls of a looped agent are put to the project's hooks, and what they judged is counted.

The agent is a stand-in that takes hooks, calls them and reports as Claude Code does; the clients themselves are in
`tests/live`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from samuel import hook
from samuel.agents.find_agent import find
from samuel.app import Overrides
from samuel.attempt.turn.tool_hooks import accepting_unguarded
from samuel.base.errors import SamuelError
from samuel.cli.edge import run as run_command
from samuel.cli.root import samuel
from samuel.events.endings import ExitReason
from samuel.history.attempt_record import AttemptRecord, RunRecord
from samuel.history.history import History
from samuel.history.notices import IterationFailed
from samuel.history.run import Run
from samuel.journal import EventRecord, newest_first
from samuel.report.html import to_html
from samuel.report.markdown import to_markdown
from samuel.report.model import build_report
from samuel.setup.readiness import refuse_unguarded

from .conftest import LoopProject

GUARD = """\
from samuel import hook

@hook("PreAbilityCall", role="guard")
def guard(event):
    if "victim" in event.tool_input["command"]:
        return {"decision": "deny", "reason": "the victim stays"}
"""

# Each line of the script is a shell command that the model of the stand-in asks for.
CLIENT = """\
import json, os, subprocess, sys

settings = json.loads(sys.argv[sys.argv.index("--settings") + 1]) if "--settings" in sys.argv else {}
heeds = "--deaf" not in sys.argv

def call_hooks(event, **fields):
    for entry in settings.get("hooks", {}).get(event, ()):
        for hook in entry["hooks"]:
            payload = {"session_id": "own", "cwd": os.getcwd(), "hook_event_name": event, "tool_name": "Bash",
                       "transcript_path": "t", "permission_mode": "bypassPermissions", **fields}
            answer = subprocess.run(hook["command"], shell=True, input=json.dumps(payload), text=True, cwd="/",
                                    capture_output=True, env={"PATH": "/usr/bin:/bin"})
            print(json.dumps({"type": "system", "hook": answer.stdout + answer.stderr}))
            yield answer.returncode == 2 or '"deny"' in answer.stdout
    if os.path.exists("own-bridge"):  # of the user, who connected the client by `samuel bridge add`
        payload = {"session_id": open("own-bridge").read(), "hook_event_name": event, "prompt": "p", **fields}
        answer = subprocess.run([".samuel/run/bin/samuel", "emit", "--as", "claude", event], text=True,
                                input=json.dumps({"tool_name": "Bash", **payload}), capture_output=True)
        yield '"deny"' in answer.stdout or answer.returncode == 2

if heeds:
    list(call_hooks("UserPromptSubmit"))

for number, command in enumerate(open("script.txt").read().splitlines()):
    call = {"tool_use_id": f"toolu_{number}", "tool_input": {"command": command}}
    part = {"type": "tool_use", "id": call["tool_use_id"], "name": "Bash", "input": call["tool_input"]}
    print(json.dumps({"type": "assistant", "message": {"id": str(number), "content": [part]}}), flush=True)
    if heeds and any(call_hooks("PreToolUse", **call)):
        continue
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if heeds:
        list(call_hooks("PostToolUse", tool_response={"stdout": done.stdout, "stderr": ""}, **call))
"""

AGENT = '[agents.mine]\ncommand = ["{python}", "client.py"OPTIONS]\nprompt = "stdin"\n'
DONE = '.samuel/run/bin/samuel run done "$SAMUEL_TASK_ID"'


class GuardedLoop:
    """A loop with a guard, and with the stand-in as its agent."""

    def __init__(self, loop: LoopProject) -> None:
        self.loop = loop
        self.victim = loop.root / "victim.txt"
        self.victim.write_text("alive")
        (loop.root / "client.py").write_text(CLIENT)
        hooks = loop.root / ".samuel/hooks"
        hooks.mkdir(parents=True)
        (hooks / "guard.py").write_text(GUARD)
        self.configure('hooks = "claude"')
        loop.tasks("1")

    def configure(self, agent: str, settings: str = "", options: str = "") -> None:
        text = AGENT.replace("OPTIONS", options)
        methodology = '[methodology.ralph]\nagent = "mine"\npause = "0s"\nmax_task_attempts = 1'
        self.loop.project.config(f"{methodology}\n{settings}\n{text}{agent}\n")

    def run(self, *commands: str) -> Run:
        (self.loop.root / "script.txt").write_text("\n".join(commands))
        return self.loop.run(iterations=1)

    @property
    def record(self) -> RunRecord:
        return self._history.load(self._history.find()).run

    @property
    def attempt(self) -> AttemptRecord:
        (attempt,) = self._history.load(self._history.find()).attempts
        return attempt

    @property
    def _history(self) -> History:
        with self.loop.open() as app:
            return History.of(app.workplace.state, app.workplace.record)

    @property
    def failures(self) -> list[str]:
        return [report.why for report in self.loop.reports if isinstance(report, IterationFailed)]

    def calls(self) -> list[EventRecord]:
        """The calls that were put to the hooks, the first one first."""
        with self.loop.open() as app:
            records = list(newest_first(self.loop.root, app.paths.journal))[::-1]
        return [record for record in records if isinstance(record, EventRecord) and "AbilityCall" in record.event]


@pytest.fixture
def guarded(loop: LoopProject) -> GuardedLoop:
    return GuardedLoop(loop)


def test_a_guard_judges_the_tool_calls_of_a_looped_agent_with_the_names_of_the_run(guarded: GuardedLoop) -> None:
    run = guarded.run("echo hi > hi.txt", "rm victim.txt", DONE)
    assert guarded.victim.exists()
    assert run.exit_reason is ExitReason.QUEUE_EMPTY
    calls = guarded.calls()
    assert [call.event for call in calls] == ["PreAbilityCall"] * 3
    payload: dict[str, Any] = json.loads(bytes(calls[0].payload))
    assert (payload["run_id"], payload["session_id"]) == (run.run_id, run.session_id)
    assert (payload["methodology"], payload["ability_id"]) == ("ralph", "shell")
    assert (payload["extra"]["task_id"], payload["extra"]["iteration"]) == ("1", "1")
    assert payload["extra"]["client_session"] == "own"
    attempt = guarded.attempt
    assert attempt.coverage is not None
    assert attempt.coverage.words == "3 of 3 tool calls judged"
    assert attempt.denials == ("guard denied PreAbilityCall: the victim stays",)
    assert not list((guarded.loop.root / ".samuel/run/bridge").rglob("samuel-emit"))


def test_an_agent_has_a_hook_after_its_tool_calls_if_the_run_has_a_handler_for_it(guarded: GuardedLoop) -> None:
    hook = guarded.loop.root / ".samuel/hooks/guard.py"
    hook.write_text(f"{GUARD}\n@hook('PostAbilityCall')\ndef observer(event):\n    pass\n")
    guarded.run("echo hi > hi.txt", "rm victim.txt", DONE)
    pre, post = "PreAbilityCall", "PostAbilityCall"
    assert [call.event for call in guarded.calls()] == [pre, post, pre, pre, post]


@hook("PostAbilityCall")
def of_program(event: object) -> None:
    """A handler of the program that starts the run: the hooks of an agent cannot reach it."""


@pytest.mark.parametrize(
    ("handler", "handlers", "events"),
    [
        ("", (), ("PreAbilityCall",)),
        ("", (of_program,), ("PreAbilityCall",)),
        ("@hook('PostAbilityCall')\ndef observer(event):\n    pass\n", (), ("PreAbilityCall", "PostAbilityCall")),
        (
            "@hook('PostAbilityCall', role='rewrite')\ndef f(event):\n    pass\n",
            (),
            ("PreAbilityCall", "PostAbilityCall"),
        ),
    ],
    ids=["none", "of the program", "observer", "rewriter"],
)
def test_run_registers_a_hook_after_tool_calls_only_if_a_hook_file_handles_them(
    guarded: GuardedLoop, handler: str, handlers: tuple[Any, ...], events: tuple[str, ...]
) -> None:
    (guarded.loop.root / ".samuel/hooks/guard.py").write_text(f"{GUARD}\n{handler}")
    with guarded.loop.open(handlers=handlers) as app:
        assert app.workplace.tool_hooks.events == events


@pytest.mark.slow
@pytest.mark.parametrize(("session", "times"), [("own", 1), ("of another client", 2)])
def test_a_bridge_of_the_user_tells_only_what_the_run_does_not(
    guarded: GuardedLoop, session: str, times: int
) -> None:
    (guarded.loop.root / "own-bridge").write_text(session)
    guarded.run("echo hi > hi.txt", DONE)
    assert [call.event for call in guarded.calls()].count("PreAbilityCall") == 2 * times
    with guarded.loop.open() as app:
        records = list(newest_first(guarded.loop.root, app.paths.journal))
    prompts = [
        record for record in records if isinstance(record, EventRecord) and record.event == "UserPromptSubmit"
    ]
    assert len(prompts) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "printf '[hooks.PreAbilityCall]\\nhandlers = []\\n' >> samuel.toml",
        "rm .samuel/hooks/guard.py",
        "echo 'def guard(event): pass' > .samuel/hooks/guard.py",
    ],
)
@pytest.mark.sampled(every=2)
def test_an_agent_cannot_weaken_a_guard_while_it_works(guarded: GuardedLoop, change: str) -> None:
    guarded.run(change, "rm victim.txt")
    assert guarded.victim.exists()
    assert any("changed during the run" in why for why in guarded.failures)


@pytest.mark.slow
def test_no_server_but_the_one_of_the_run_answers_for_its_agent(
    guarded: GuardedLoop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SAMUEL_SERVE", raising=False)
    guarded.run(f'echo "$SAMUEL_SERVE" > {tmp_path}/seen.txt')
    assert (tmp_path / "seen.txt").read_text() == "off\n"


@pytest.mark.slow
def test_calls_that_the_server_of_the_run_answers_are_recorded_and_counted_like_others(
    guarded: GuardedLoop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SAMUEL_SERVE", raising=False)
    guarded.loop.installed_samuel()
    hook = guarded.loop.root / ".samuel/hooks/guard.py"
    parents = tmp_path / "parents.txt"  # of the worker: the process that answers
    note = f"    import os\n    print(os.getppid(), file=open({str(parents)!r}, 'a'))\n"
    hook.write_text(GUARD.replace("def guard(event):\n", f"def guard(event):\n{note}"))
    # The settings of the client, whose child the command is, name it.
    server = "$(tr '\\0' '\\n' < /proc/$PPID/cmdline | sed -n 's/.*--server \\([^ ]*\\) .*/\\1/p')"
    run = guarded.run(f"until test -S {server}; do sleep 0.1; done", "echo hi", "rm victim.txt", DONE)
    assert guarded.victim.exists()
    *_, third, fourth = parents.read_text().split()
    assert third == fourth
    payloads = [json.loads(bytes(call.payload)) for call in guarded.calls()]
    assert {(payload["run_id"], payload["session_id"]) for payload in payloads} == {(run.run_id, run.session_id)}
    assert [call.event for call in guarded.calls()].count("PreAbilityCall") == 4
    assert guarded.attempt.coverage is not None
    assert guarded.attempt.coverage.words == "4 of 4 tool calls judged"
    assert guarded.attempt.denials == ("guard denied PreAbilityCall: the victim stays",)


@pytest.mark.slow
def test_hooks_that_the_agent_changed_fail_the_iteration(guarded: GuardedLoop) -> None:
    guarded.run("find .samuel/run/bridge -name samuel-emit -exec sh -c 'echo exit > $1' - {} ';'", "rm victim.txt")
    assert any("`samuel-emit` of the agent's hooks changed" in why for why in guarded.failures)


@pytest.mark.slow
def test_calls_that_nothing_judged_are_counted_and_fail_where_coverage_is_required(guarded: GuardedLoop) -> None:
    guarded.configure('hooks = "claude"', options=', "--deaf"')
    guarded.run("echo hi > hi.txt", DONE)
    assert guarded.attempt.outcome == "completed"
    assert guarded.attempt.coverage is not None
    assert guarded.attempt.coverage.not_judged == {"Bash": 2}
    guarded.configure('hooks = "claude"', 'coverage = "required"', options=', "--deaf"')
    guarded.loop.tasks("1")
    guarded.run("echo hi > hi.txt", DONE)
    assert guarded.failures == [
        "`coverage` is required: 0 of 2 tool calls judged; not judged: Bash 2 (counted by tool)"
    ]


@pytest.mark.slow
def test_the_report_has_the_numbers(guarded: GuardedLoop) -> None:
    run = guarded.run("echo hi > hi.txt", DONE)
    with guarded.loop.open() as app:
        history = History.of(app.workplace.state, app.workplace.record).load(run.run_id)
    report = build_report(history, None, project="p")
    assert "- guards: 2 of 2 tool calls judged" in to_markdown(report)
    assert "2 of 2 tool calls judged" in to_html(report)


def test_an_agent_without_hooks_is_refused_for_a_guard_it_cannot_honour(guarded: GuardedLoop) -> None:
    guarded.configure("")
    run = guarded.run("rm victim.txt")
    assert guarded.victim.exists()
    assert run.outcomes == {"agent_failed": 1}
    assert "the agent `mine` cannot honour the guard `guard` (PreAbilityCall)" in guarded.failures[0]


@pytest.mark.slow
def test_an_unguarded_agent_that_was_accepted_is_named_in_the_report(guarded: GuardedLoop) -> None:
    guarded.configure('unguarded = "accept"')
    run = guarded.run("rm victim.txt", DONE)
    assert not guarded.victim.exists()
    (text,) = guarded.record.unguarded
    assert "`mine` cannot honour the guard `guard`" in text
    with guarded.loop.open() as app:
        history = History.of(app.workplace.state, app.workplace.record).load(run.run_id)
    report = build_report(history, None, project="p")
    assert "not guarded, which was accepted" in to_markdown(report)
    assert "Not guarded, which was accepted" in to_html(report)


@pytest.mark.slow
@pytest.mark.parametrize("role", ["observe", "rewrite"])
def test_an_observer_is_no_guard(guarded: GuardedLoop, role: str) -> None:
    guarded.configure("")
    hook = guarded.loop.root / ".samuel/hooks/guard.py"
    hook.write_text(GUARD.replace('"guard"', f'"{role}"'))
    guarded.run("echo hi > hi.txt", DONE)
    assert guarded.attempt.outcome == "completed"


def test_a_run_that_nothing_listens_to_gets_no_bridge(guarded: GuardedLoop) -> None:
    (guarded.loop.root / ".samuel/hooks/guard.py").unlink()
    guarded.run("echo hi > hi.txt", DONE)
    assert guarded.attempt.coverage is None
    assert not (guarded.loop.root / ".samuel/run/bridge").exists()


@pytest.mark.slow
def test_run_start_refuses_before_an_agent_is_paid(guarded: GuardedLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    others = '[agents.other]\ncommand = ["./other.sh", "{prompt_file}"]\n'
    guarded.configure(f'hooks = "claude"\n{others}', 'agents = ["mine", "other"]')
    settings = guarded.loop.root / "samuel.toml"
    settings.write_text(settings.read_text().replace('agent = "mine"\n', ""))
    monkeypatch.chdir(guarded.loop.root)
    monkeypatch.setenv("SAMUEL_TRUST", "all")
    refused = CliRunner().invoke(samuel, ["run", "start"], standalone_mode=False)
    assert isinstance(refused.exception, SamuelError)
    assert "the agent `other` cannot honour the guard `guard` (PreAbilityCall)" in refused.exception.message
    assert refused.exception.hint.endswith('and so does `unguarded = "accept"` below [agents.other]')
    assert not (guarded.loop.root / ".samuel/run/logs").exists()


@pytest.mark.slow
def test_a_project_cannot_accept_that_a_guard_of_the_user_does_not_hold(guarded: GuardedLoop) -> None:
    guarded.configure('unguarded = "accept"')
    own = guarded.loop.project.user.home / ".samuel/hooks"
    own.mkdir(parents=True, exist_ok=True)
    (own / "own.py").write_text(GUARD.replace("def guard", "def own"))
    guarded.run("rm victim.txt")
    assert guarded.victim.exists()
    assert "cannot honour the guard `own`" in guarded.failures[0]
    with guarded.loop.open() as app:
        with pytest.raises(SamuelError) as refused:
            refuse_unguarded(app.workplace, ["mine"], print)
        assert refused.value.hint == "`--accept-unguarded` starts the run all the same"
        accepted = Overrides(config=accepting_unguarded(app.config), trust_everything=True)
    with guarded.loop.project.open(overrides=accepted) as app:
        agent = find("mine", app.workplace.agents)
        assert app.workplace.tool_hooks.refusal(agent, "host") == ""


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_a_guard_holds_in_a_sandbox_where_its_hooks_cannot_be_changed(guarded: GuardedLoop) -> None:
    guarded.configure('hooks = "claude"', 'sandbox = "bwrap"')
    change = "find .samuel/run/bridge -name samuel-emit -exec sh -c 'echo exit > $1' - {} ';'"
    guarded.run(change, "rm victim.txt", "echo hi > hi.txt", DONE)
    assert guarded.victim.exists()
    assert guarded.attempt.outcome == "completed"
    assert guarded.attempt.coverage is not None
    assert guarded.attempt.coverage.words == "4 of 4 tool calls judged"


@pytest.mark.slow
def test_the_tool_calls_of_a_recipe_name_it(
    guarded: GuardedLoop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = guarded.loop.root
    recipe = root / ".samuel/recipes/tidy.md"
    recipe.parent.mkdir(parents=True)
    recipe.write_text("---\nname: tidy\ndescription: Tidy up\n---\nTidy up.\n")
    (root / "script.txt").write_text("echo hi > hi.txt\nrm victim.txt\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("SAMUEL_TRUST", "all")
    assert run_command(["recipe", "run", "tidy", "--json"]) == 0
    assert guarded.victim.exists()
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["coverage"] == {"calls": 2, "judged": 2, "matched_by": "id"}
    payloads = [json.loads(bytes(call.payload)) for call in guarded.calls()]
    names = {(payload["recipe_name"], payload["session_id"]) for payload in payloads}
    assert names == {("tidy", data["session_id"])}


@pytest.mark.slow
def test_a_guard_that_asks_denies_where_nobody_is_there_to_ask(guarded: GuardedLoop) -> None:
    hook = guarded.loop.root / ".samuel/hooks/guard.py"
    hook.write_text(GUARD.replace('"deny"', '"ask"'))
    guarded.run("rm victim.txt")
    assert guarded.victim.exists()
