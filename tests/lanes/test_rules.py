"""What an agent in a lane cannot do, and what lanes share: hooks, limits and budgets."""

from __future__ import annotations

import json
import shutil
import signal

import pytest
from tests.conftest import sh_script
from tests.lanes.project import LaneProject
from tests.length import at_length

# The first five are at the limit, which ends two seconds later.
LIMITED = """
if [ ! -e {over} ]; then
    reset=$(($(date +%s) + 2))
    info='{{"status": "rejected", "resetsAt": %s}}'
    printf '{{"type": "rate_limit_event", "rate_limit_info": '"$info"'}}\\n' $reset
    printf '{{"type": "result", "subtype": "success", "is_error": true, "result": "%s"}}\\n' \\
        "Claude AI usage limit reached|$reset"
    [ $(grep -c begin {calls}) -gt 4 ] && touch {over}
    exit 1
fi
sleep 0.3
echo 1 > "work-$SAMUEL_TASK_ID.txt"
printf '{{"type": "result", "subtype": "success", "is_error": false, "result": "done"}}\\n'
"""


# It uses 15 tokens.
COUNTED = """
sleep 0.2
echo 1 > "work-$SAMUEL_TASK_ID.txt"
printf '{"type": "result", "subtype": "success", "is_error": false, "result": "done", '
printf '"usage": {"input_tokens": 10, "output_tokens": 5}}\\n'
"""


FACTS = ("TaskId", "Attempt", "LastFailure")


def hook(lanes: LaneProject, name: str, event: str, body: str) -> None:
    file = lanes.write(f".samuel/hooks/{name}", sh_script(event, body))
    file.chmod(0o755)


@pytest.mark.slow
def test_rules_that_only_a_commit_of_an_agent_changes_are_as_before_when_it_lands(
    lanes: LaneProject,
) -> None:
    lanes.prepare(2, settings="max_task_attempts = 1")
    # The file in the work tree is as it was, and the index is told that git need not look at it.
    commit = "cp samuel.toml before; echo '# weaker' >> samuel.toml; git commit -q -m sly samuel.toml"
    sly = f"{commit}; mv before samuel.toml"
    lanes.task("1", f"{sly}; git update-index --skip-worktree samuel.toml; echo 1 > work-1.txt")

    ran = lanes.start()

    assert lanes.statuses() == {"1": "completed", "2": "completed"}
    assert lanes.git("show", "main:samuel.toml") == lanes.git("show", "begin:samuel.toml")
    assert "flags of the index, which are as before: `samuel.toml (skip-worktree)`" in ran.out


@pytest.mark.slow
def test_a_branch_that_an_agent_moves_away_is_put_back_and_the_run_goes_on(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task(
        "1",
        "git update-ref refs/heads/main $(git commit-tree -m y HEAD^{tree}); echo 1 > work-1.txt",
    )

    ran = lanes.start()

    lanes.assert_sound(2)
    assert "the branch `main`: an agent moved it to " in ran.out
    (note,) = [note for note in lanes.samuel("run", "status", "--json").data["repository"] if "`main`" in note]
    assert lanes.git("log", "-1", "--format=%s", note.split("`")[-2]) == "y\n", "what it had is in a ref"


def test_a_branch_that_an_agent_moves_to_its_own_commit_is_put_back(lanes: LaneProject) -> None:
    lanes.prepare(2, settings="max_task_attempts = 1")
    lanes.task("1", "touch broken; git add -A; git commit -q -m sly; git update-ref refs/heads/main HEAD; sleep 1")
    lanes.task("2", "sleep 0.5; echo 2 > work-2.txt")

    ran = lanes.start(code=1)

    assert ", a commit of lane 1 that no check has passed on; it is at " in ran.out
    assert lanes.statuses() == {"1": "blocked", "2": "completed"}

    lanes.samuel("run", "reset", "1")
    lanes.task("1", "rm -f broken; echo 1 > work-1.txt")
    lanes.start()
    lanes.assert_sound(2)
    lanes.assert_green()


def test_the_refs_of_landed_tasks_that_an_agent_removes_are_made_again(lanes: LaneProject) -> None:
    lanes.prepare({"1": "", "2": "Depends on: 1"})
    removed = 'for ref in $(git for-each-ref --format="%(refname)" refs/samuel); do git update-ref -d $ref; done'
    lanes.task("2", f"{removed}; echo 2 > work-2.txt")

    ran = lanes.start()

    lanes.assert_sound(2)
    assert "the refs of landed tasks were removed, and are there again: 1" in ran.out
    landed = lanes.git("for-each-ref", "--format=%(refname)", f"refs/samuel/{lanes.run_id()}/landed/")
    assert landed.split() == [f"refs/samuel/{lanes.run_id()}/landed/{task}" for task in "12"]


@pytest.mark.slow
def test_a_task_file_that_an_agent_edits_in_the_project_is_put_back(lanes: LaneProject) -> None:
    lanes.prepare({"1": "", "2": "", "3": "Depends on: 2"})
    prd = lanes.root / ".samuel/run/prd.toon"
    lanes.task("1", f"sed -i 's/in_progress/completed/; s/pending/skipped/' {prd}; sleep 0.5; echo 1 > work-1.txt")
    lanes.task("2", "sleep 0.2; echo 2 > work-2.txt")

    ran = lanes.start()

    lanes.assert_sound(3)
    assert "changed more of the task list than it may" in ran.out


@pytest.mark.slow
def test_an_agent_cannot_start_another_run(lanes: LaneProject) -> None:
    lanes.prepare(1)
    nested = lanes.outside / "nested"
    lanes.task("1", f"samuel run start --parallel 4 > {nested} 2>&1; echo $? >> {nested}; echo 1 > work-1.txt")

    lanes.start()

    assert "its agents cannot start another one" in nested.read_text()
    assert nested.read_text().endswith("\n2\n")


@pytest.mark.slow
def test_payloads_have_the_lane_and_each_idempotency_key_is_there_once(lanes: LaneProject) -> None:
    lanes.prepare(4)
    directory = lanes.outside / "payloads"
    directory.mkdir()
    body = f'cat > "$(mktemp -p {directory})"; echo "{{}}"'  # a file for each: lanes write at the same time
    hook(lanes, "note", "after:iteration", body)
    hook(lanes, "landed", "after:land", body)
    hook(lanes, "started", "before:iteration", body)
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "hooks")

    lanes.start()

    payloads = [json.loads(file.read_text()) for file in directory.iterdir()]
    settled = [payload for payload in payloads if payload["event"] == "after:iteration"]
    assert sorted(payload["iteration"] for payload in settled) == [1, 2, 3, 4]
    assert {payload["lane"] for payload in settled} <= {1, 2, 3}
    keys = [payload["idempotency_key"] for payload in payloads]
    assert len(keys) == len(set(keys))
    begun = [payload for payload in payloads if payload["event"] == "before:iteration"]
    assert all(payload["project_root"].endswith(f"/{payload['lane']}") for payload in begun)
    landed = [payload for payload in payloads if payload["event"] == "after:land"]
    assert sorted(task for payload in landed for task in payload["tasks"]) == ["1", "2", "3", "4"]


PYTHON_HOOK = """import os, time, samuel

@samuel.hook("before:iteration", serial=True)
def alone(event):
    try:
        os.mkdir({alone!r})
    except FileExistsError:
        open({both!r}, "w").close()
    time.sleep(0.2)
    os.rmdir({alone!r})
"""
YAML_HOOK = (
    "id: alone\nevent_type: before:iteration\nserial: true\nhandler:\n  kind: script\n  command: sh alone.sh\n"
)


@pytest.mark.parametrize("declared", at_length(["python", "yaml"], ["samuel.toml", "python", "yaml"]))
def test_a_serial_handler_never_runs_in_two_lanes_at_once(lanes: LaneProject, declared: str) -> None:
    in_config = '[hooks."before:iteration"]\nhandlers = ["default", { use = "alone", serial = true }]'
    lanes.prepare(4, more=in_config if declared == "samuel.toml" else "")
    alone, both = lanes.outside / "alone", lanes.outside / "both"
    body = f"cat > /dev/null; mkdir {alone} || touch {both}; sleep 0.2; rmdir {alone}; echo '{{}}'"
    if declared == "samuel.toml":
        hook(lanes, "alone", "before:iteration", body)
    elif declared == "python":
        lanes.write(".samuel/hooks/alone.py", PYTHON_HOOK.format(alone=str(alone), both=str(both)))
    else:
        lanes.write("alone.sh", f"{body}\n")
        lanes.write(".system/hooks/alone.yaml", YAML_HOOK)
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "hook")

    lanes.start(lanes=4)

    lanes.assert_sound(4)
    assert not both.exists()
    assert (lanes.home / "state/samuel/serial").is_dir(), "the handler ran under its lock"


@pytest.mark.slow
def test_work_that_before_land_denies_waits_and_lands_after_approval_without_being_paid_again(
    lanes: LaneProject,
) -> None:
    lanes.prepare(2)
    body = (
        'case "$(cat)" in *\'"id":"2"\'*) echo \'{"ok": false, "reason": "needs a look"}\';; *) echo "{}";; esac'
    )
    hook(lanes, "approval", "before:land", body)
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "hook")

    ran = lanes.start(code=1)

    assert "waits for you: task 2: " in ran.out
    assert "samuel run land 2" in ran.out
    assert lanes.statuses() == {"1": "completed", "2": "waiting"}
    assert lanes.row("2")["attempts"] == 0
    assert "work-2.txt" in lanes.git("show", "--name-only", f"refs/samuel/{lanes.run_id()}/work/2/1")
    assert "no work on task `1` waits" in lanes.samuel("run", "land", "1", code=1).err

    lanes.samuel("run", "land", "2", "--yes")

    assert lanes.statuses() == {"1": "completed", "2": "completed"}
    assert len(lanes.calls()) == 2, "no agent was paid again"
    assert (lanes.root / "work-2.txt").exists()


@pytest.mark.slow
def test_the_events_around_a_landing_know_the_task_and_its_attempt(lanes: LaneProject) -> None:
    lanes.prepare(1)
    lanes.task("1", 'if [ "$SAMUEL_ATTEMPT" = 2 ]; then mv broken work-1.txt; else touch broken; fi')
    payload_file = lanes.outside / "seen"
    for event in ("before:land", "after:land", "after:iteration"):
        hook(lanes, event.replace(":", "-"), event, f"cat >> {payload_file}; echo >> {payload_file}")
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "hooks")

    lanes.start(lanes=2)

    payloads = [json.loads(line) for line in payload_file.read_text().splitlines() if line]
    facts = [(payload["event"], *(payload["context"]["State"][key] for key in FACTS)) for payload in payloads]
    failure = "quality_failed: `sh check.sh` ended with exit code 1"
    second = ("1", 2, failure)
    assert facts == [
        ("after:iteration", "1", 1, ""),
        *(("before:land", *second), ("after:iteration", *second), ("after:land", *second)),
    ]


@pytest.mark.slow
def test_agents_that_a_person_stops_get_session_stop_with_the_changed_files(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task("any", 'echo half > "half-$SAMUEL_TASK_ID.txt"; touch "$outside/at-$SAMUEL_TASK_ID"; sleep 600')
    payload_file = lanes.outside / "seen"
    for event in ("TurnEnd", "SessionStop", "SessionEnd"):
        hook(lanes, event, event, f"cat >> {payload_file}; echo >> {payload_file}")
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "hooks")

    with lanes.running(lanes=2) as process:
        at_work = [lanes.outside / f"at-{number}" for number in (1, 2)]
        lanes.wait_for(lambda: all(file.exists() for file in at_work), process)
        process.send_signal(signal.SIGINT)
        lanes.wait_for(lambda: "finishing" in lanes.screen, process)
        process.send_signal(signal.SIGINT)
        process.wait()

    assert process.returncode == 130, lanes.screen
    payloads = [json.loads(line) for line in payload_file.read_text().splitlines() if line]
    facts = {(payload["lane"], payload["event"], *payload.get("changed_files", ())) for payload in payloads}
    assert len(payloads) == 4
    assert facts == {
        *((1, "SessionStop", "half-1.txt"), (1, "SessionEnd")),
        *((2, "SessionStop", "half-2.txt"), (2, "SessionEnd")),
    }


@pytest.mark.slow
@pytest.mark.parametrize("strict", ["true", "false"])
def test_yes_to_held_back_work_lands_it_without_paying_an_agent(lanes: LaneProject, strict: str) -> None:
    lanes.prepare(1, more=f'[hooks."before:land"]\nstrict = {strict}')
    hook(lanes, "approval", "before:land", 'echo \'{"decision": "deny", "reason": "needs a look"}\'')
    lanes.git("add", "-A")
    lanes.git("commit", "-q", "-m", "hook")

    ran = lanes.start(code=1)

    assert "waits for you: task 1: needs a look\n    samuel run land 1\n" in ran.out
    assert "  samuel run land 1  (may the work on this task land? needs a look)\n" in ran.out
    assert "samuel run answer" not in ran.screen
    assert "warning" not in ran.screen
    assert "answer it with: samuel run land 1 (no agent is paid)" in lanes.samuel("run", "questions").out
    assert "samuel run land 1" in lanes.samuel("run", "report", "--markdown").out
    assert "needs a look\n            samuel run land 1\n" in lanes.samuel("run", "status").out

    lanes.samuel("run", "answer", "q1", "Yes")
    lanes.start()

    lanes.assert_sound(1)
    assert len(lanes.calls()) == 1, "no agent was paid again"


def test_a_usage_limit_holds_all_lanes_and_one_agent_tries_first(lanes: LaneProject) -> None:
    lanes.prepare(4, agent='stream = "claude"\nclaim = "exit"')
    over = lanes.outside / "over"
    lanes.task("any", LIMITED.format(over=over, calls=lanes.outside / "calls"))

    lanes.start(lanes=4)

    lanes.assert_sound(4)
    outcomes = lanes.samuel("run", "status", "--json").data["outcomes"]
    assert outcomes["limited"] == 5, "four were under way, and then one tried"
    assert [lanes.row(str(id))["attempts"] for id in range(1, 5)] == [0, 0, 0, 0]
    probe = lanes.calls()[5]
    ended = next(call for call in lanes.calls("end") if call.iteration == probe.iteration)
    later = [call for call in lanes.calls() if call.iteration > probe.iteration]
    assert all(call.at >= ended.at for call in later), "the others wait for the one that tries"


@pytest.mark.parametrize("key", at_length(["max_day_tokens"], ["max_tokens", "max_day_tokens"]))
def test_at_the_budget_nothing_new_starts_and_what_is_under_way_lands(lanes: LaneProject, key: str) -> None:
    lanes.prepare(9, settings=f"{key} = 60", agent='stream = "claude"\nclaim = "exit"')
    lanes.task("any", COUNTED)

    data = lanes.start("--json", lanes=3).data

    assert data["exit_reason"] == "budget"
    assert len(lanes.calls()) == 4, "what is under way is reserved"
    assert list(lanes.statuses().values()).count("completed") == len(lanes.calls())


@pytest.mark.slow
def test_setup_runs_in_each_lane_and_again_when_its_inputs_change(lanes: LaneProject) -> None:
    more = f'[lanes]\nsetup = "echo $SAMUEL_LANE >> {lanes.outside}/setup; mkdir -p deps"\ncopy = [".env"]\n'
    lanes.prepare(3, more=more, files={".gitignore": "deps/\n", "requirements.txt": "a\n"})
    lanes.write(".env", "SECRET=1\n")
    lanes.task("any", 'test -d deps && test "$(cat .env)" = "SECRET=1" && date > "work-$SAMUEL_TASK_ID.txt"')
    lanes.task("3", "echo b > requirements.txt")

    lanes.start(lanes=1 + 1)
    first = (lanes.outside / "setup").read_text().split()
    lanes.samuel("run", "reset", "1")
    lanes.start(lanes=2)

    assert set(first) == {"0", "1", "2"}
    assert len((lanes.outside / "setup").read_text().split()) > len(first), "the inputs changed with task 3"
    assert ".env" not in lanes.git("ls-tree", "--name-only", "main").split()


def test_lanes_are_refused_where_there_is_no_commit(lanes: LaneProject) -> None:
    lanes.prepare(1)
    shutil.rmtree(lanes.root / ".git")

    assert "lanes are work trees of a git repository" in lanes.start(code=1).err


@pytest.mark.slow
def test_status_has_the_lanes_and_the_report_shows_them_over_time(lanes: LaneProject) -> None:
    lanes.prepare(2)
    lanes.task(
        "any", f'while [ ! -e {lanes.outside}/go ]; do sleep 0.05; done; echo 1 > "work-$SAMUEL_TASK_ID.txt"'
    )
    with lanes.running(lanes=2) as run:
        lanes.wait_for(lambda: len(lanes.calls()) == 2, run)
        data = lanes.samuel("run", "status", "--json").data
        plain = lanes.samuel("run", "status").out
        (lanes.outside / "go").touch()
        assert run.wait() == 0

    assert [(lane["lane"], lane["task"], lane["attempt"]) for lane in data["lanes"]] == [(1, "1", 1), (2, "2", 1)]
    assert "lane 1      1 Task 1, attempt 1" in plain
    report = next((lanes.root / ".samuel/run/reports").glob("*/report.html")).read_text()
    assert '<h2 id="lanes">Lanes</h2>' in report


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_two_sandboxed_lanes_cannot_write_what_git_runs(lanes: LaneProject) -> None:
    lanes.prepare(2, settings='sandbox = "bwrap"')
    git = lanes.root / ".git"
    tries = "; ".join(
        f"(echo x > {git}/{name}) 2>/dev/null && echo {name} >> escaped.txt"
        for name in ("commondir", "config", "hooks/pre-commit")
    )
    # The sandbox has no directory beside the project. The first agent ends while the second one works.
    cases = f"1) echo 1 > work-1.txt;;\n2) sleep 2; {tries}; echo 2 > work-2.txt;;\n"
    lanes.write("agent.sh", f'#!/bin/sh\ncase "$SAMUEL_TASK_ID" in\n{cases}esac\nexit 0\n')
    lanes.git("commit", "-qam", "agent")

    lanes.start(lanes=2)

    lanes.assert_sound(2)
    assert not (lanes.root / "escaped.txt").exists()
