"""Each agent process of a run or a recipe is a session: what its hooks say is kept, and never just done."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from samuel.sessions.session import Session
from samuel.sessions.store import SessionStore

from .conftest import CONFIG, GOOD, REAL, Workshop

HOOK_RESULT = {
    "messages_to_user": ["three things to know"],
    "suggested_abilities": [{"id": "sweep", "reason": "the floor is dirty", "confidence": 0.9}],
    "follow_up_actions": [
        {"kind": "run_command", "payload": {"command": "touch ran-unasked"}},
        {"kind": "create_task", "payload": {"title": "Sweep the floor"}},
    ],
}
ABILITY = """\
operation_key: sweep
version: 1.0.0
summary: Sweep the floor
implementation:
  kind: script
  script: {path: scripts/sweep.sh}
"""


def write(root: Path, name: str, text: str, mode: int = 0o644) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


@pytest.fixture
def hooked(workshop: Workshop) -> Workshop:
    root = workshop.root
    write(root, "scripts/says.sh", f"#!/bin/sh\ncat > /dev/null\necho '{json.dumps(HOOK_RESULT)}'\n", 0o755)
    write(
        root,
        ".system/hooks/says.yaml",
        "id: says\nevent_type: UserPromptSubmit\nhandler: {kind: script, command: ./scripts/says.sh}\n",
    )
    write(root, "scripts/sweep.sh", "#!/bin/sh\necho '{}'\n", 0o755)
    write(root, ".system/registry/low-level/sweep.yaml", ABILITY)
    with (root / ".git/info/exclude").open("a") as exclude:
        exclude.write("scripts/\n.system/\n")
    return workshop


def sessions(root: Path) -> list[Session]:
    store = SessionStore(root)
    return [session for id in store.ids() if (session := store.load(id))]


def test_results_of_session_hooks_reach_the_agent_the_user_and_the_queue(samuel, hooked):
    hooked.agent(f'samuel ability route "sweep the floor" --json > "routed-$SAMUEL_TASK_ID"\n{GOOD}')
    ran = samuel("run", "start", "--yes", "--iterations", "1")
    assert (ran.code, ran.err) == (0, "")
    assert "\n  three things to know\n" in ran.out
    assert "follow-up 1, run_command `touch ran-unasked`: queued" in ran.out
    assert "follow-up 2, create_task `Sweep the floor`: done: task `3`" in ran.out

    (session,) = sessions(hooked.root)
    assert session.state == "ended"
    assert [message.text for message in session.messages] == HOOK_RESULT["messages_to_user"]
    (candidate,) = json.loads((hooked.root / "routed-1").read_text())["data"]["candidates"]
    assert any("the floor is dirty" in reason for reason in candidate["reasons"])
    assert [task.title for task in hooked.store.load()] == ["One", "Two", "Sweep the floor"]
    assert not (hooked.root / "ran-unasked").exists()


def test_an_allowed_follow_up_command_of_a_session_hook_runs(samuel, hooked):
    hooked.configure(f'{CONFIG}\n[session]\nallow_commands = ["touch ran-unasked"]\n')
    assert samuel("run", "start", "--yes", "--iterations", "1").code == 0
    assert (hooked.root / "ran-unasked").exists()


def test_a_dry_run_records_no_session(samuel, hooked):
    assert samuel("trust", "--yes").code == 0
    assert samuel("run", "start", "--dry-run").code == 0
    assert sessions(hooked.root) == []
    assert [task.title for task in hooked.store.load()] == ["One", "Two"]


@pytest.mark.slow
def test_a_session_without_hook_results_is_not_recorded(samuel, workshop):
    assert samuel("run", "start", "--yes").code == 0
    assert sessions(workshop.root) == []


@pytest.mark.slow
def test_a_session_that_cannot_be_recorded_does_not_end_the_run(samuel, hooked):
    write(hooked.root, ".samuel/run/sessions", "in the way")
    ran = samuel("run", "start", "--yes")
    assert ran.code == 0
    assert "the results of hooks were not stored in the session: " in ran.out
    assert hooked.statuses == ["completed", "completed"]


def test_results_of_session_hooks_of_a_recipe_are_recorded(samuel, hooked):
    hooked.agent("cat\n")
    write(hooked.root, ".samuel/recipes/look.md", "Look around.\n")
    ran = samuel("recipe", "run", "look", "--yes")
    assert ran.code == 0
    assert "three things to know" in ran.err
    assert "follow-up 2, create_task `Sweep the floor`: done: task `3`" in ran.err
    (session,) = sessions(hooked.root)
    assert [suggestion["id"] for suggestion in session.suggestions] == ["sweep"]


SECTION = "- `sweep`: Sweep the floor. Suggested because: the floor is dirty\n"


def test_the_agent_of_a_run_reads_what_hooks_suggest_and_can_do_it(samuel, hooked):
    hooked.agent(f'cat > "prompt-$SAMUEL_TASK_ID"\nsamuel ability call sweep > called\n{GOOD}')
    ran = samuel("run", "start", "--yes", "--iterations", "1")
    assert (ran.code, ran.err) == (0, "")
    prompt = (hooked.root / "prompt-1").read_text()
    assert prompt.count(SECTION) == 1
    assert prompt.index("## Task") < prompt.index(SECTION)
    assert json.loads((hooked.root / "called").read_text()) == {}


def test_a_dry_run_shows_the_prompt_with_the_suggestions_of_hooks(samuel, hooked):
    samuel("trust", "--yes")
    assert SECTION in samuel("run", "start", "--dry-run", "--json").json["data"]["prompt"]


def test_the_agent_of_a_recipe_reads_what_hooks_suggest(samuel, hooked):
    hooked.agent("cat > prompt\n")
    write(hooked.root, ".samuel/recipes/look.md", "Look around.\n")
    assert samuel("recipe", "run", "look", "--yes").code == 0
    prompt = (hooked.root / "prompt").read_text()
    assert prompt.startswith("Look around.\n\n<!-- samuel: suggestions")
    assert SECTION in prompt


def test_hooks_see_the_prompt_without_suggestions(samuel, hooked):
    hooked.agent("cat > prompt\n")
    write(hooked.root, "scripts/says.sh", f"#!/bin/sh\ncat > seen.json\necho '{json.dumps(HOOK_RESULT)}'\n", 0o755)
    write(hooked.root, ".samuel/recipes/look.md", "Look around.\n")
    assert samuel("recipe", "run", "look", "--yes").code == 0
    assert json.loads((hooked.root / "seen.json").read_text())["user_message"] == "Look around.\n"


def test_without_suggestions_the_prompt_stays_as_it_is(samuel, workshop):
    workshop.agent("cat > prompt\n")
    write(workshop.root, ".samuel/recipes/look.md", "Look around.\n")
    assert samuel("recipe", "run", "look", "--yes").code == 0
    assert (workshop.root / "prompt").read_text() == "Look around.\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="there is no bubblewrap here")
def test_an_agent_in_a_sandbox_can_call_what_is_suggested_to_it(samuel, hooked, machine, monkeypatch):
    monkeypatch.setattr("sys.executable", REAL[0])  # the sandbox hides that of the fork server
    sandbox = f'{{ kind = "bwrap", volumes = ["{machine}:{machine}:ro"] }}'  # a home in /tmp is hidden there
    hooked.configure(CONFIG.replace('agent = "mine"', f'agent = "mine"\nsandbox = {sandbox}'))
    hooked.agent("cat > prompt\nsamuel ability call sweep > called\n")
    write(hooked.root, ".samuel/recipes/look.md", "Look around.\n")
    assert samuel("recipe", "run", "look", "--yes").code == 0
    assert SECTION in (hooked.root / "prompt").read_text()
    assert json.loads((hooked.root / "called").read_text()) == {}
