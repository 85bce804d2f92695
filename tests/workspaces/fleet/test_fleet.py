"""Runs whose attempts happen on other machines: real ssh, real git, three machines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.length import at_length
from tests.places.contract import assert_gone, wait_for
from tests.workspaces.fleet.project import CLONE, FleetProject
from tests.workspaces.lanes.project import INSTALLED

from samuel.workspaces.fleet.records import record_message
from samuel.workspaces.fleet.wire import ResultLine, read_line

TASKS = at_length(3, 60)
WORK = 'echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"'


def _has_text(file: Path) -> bool:
    return file.exists() and bool(file.read_text())


def pid_file(fleet: FleetProject) -> str:
    """A script that starts a process in a session of its own, and notes its number."""
    return f"setsid sh -c 'echo $$ > {fleet.outside}/daemon; exec sleep 600' & "


def test_each_task_lands_once_with_agents_on_three_machines(fleet: FleetProject) -> None:
    fleet.prepare_fleet(TASKS)
    machines = f"{fleet.outside}/machines"
    others = f"for i in $(seq 600); do [ $(wc -l < {machines}) -ge 3 ] && break; sleep 0.1; done"
    fleet.task("any", f'echo "$SAMUEL_MACHINE" >> {machines}; {others}; {WORK}')

    data = fleet.start("--json", *fleet.places(slots=at_length(1, 2)), lanes=0).data

    assert data["exit_reason"] == "queue_empty"
    fleet.assert_sound(TASKS)
    assert len(fleet.calls()) == TASKS, "no agent was paid twice"
    used = set((fleet.outside / "machines").read_text().split())
    assert used == {"m1", "m2", "m3"}
    assert fleet.git("status", "--porcelain") == "", "the person's work tree follows"
    records = [fleet.samuel("run", "show", str(number), "--json").out for number in range(1, TASKS + 1)]
    assert all('"machine": "m' in text for text in records), "the history names the machine of an attempt"
    pages = "".join(file.read_text() for file in fleet.root.glob(".samuel/run/reports/*/report.md"))
    assert all(f"on {name}" in pages for name in used), "and so does the report"
    journal = "".join(file.read_text() for file in (fleet.root / ".samuel/run/journal").glob("*.jsonl"))
    assert {f'"machine":"{name}"' for name in used} <= {
        mark for name in used if (mark := f'"machine":"{name}"') in journal
    }, "the journals of the machines are collected"
    logs = list((fleet.root / ".samuel/run/logs").rglob("*iteration*"))
    assert len(logs) >= TASKS, "and so are the logs"


@pytest.mark.slow
def test_red_check_and_an_exit_code_are_seen_and_a_failed_attempt_is_continued(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, machines=("m1", "m2"))
    fleet.task("2", f"test -e {fleet.outside}/once || {{ touch {fleet.outside}/once; exit 7; }}; {WORK}")
    # The first attempt leaves a broken file; the second finds what it left and mends it.
    fleet.task("1", f"if [ -e broken ]; then rm broken; {WORK}; else echo half > half.txt; touch broken; fi")

    fleet.start(*fleet.places(names=("m1", "m2")), lanes=0)

    fleet.assert_sound(2)
    assert len(fleet.calls()) == 4
    outcomes = fleet.samuel("run", "status", "--json").data["outcomes"]
    assert (outcomes["quality_failed"], outcomes["agent_failed"]) == (1, 1)
    assert fleet.git("show", "main:half.txt") == "half\n", "the second attempt began with what the first one left"
    assert fleet.row("1")["attempts"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("guard", [False, True], ids=["attempt", "guard"])
def test_kill_on_a_machine_costs_no_attempt_and_leaves_nothing_there(fleet: FleetProject, *, guard: bool) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    fleet.machines.install("m1")
    fleet.task("1", f"{pid_file(fleet)} test -e {fleet.outside}/killed || sleep 600; {WORK}")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for(lambda: _has_text(fleet.outside / "daemon"), process)
        daemon = int((fleet.outside / "daemon").read_text())
        (fleet.outside / "killed").touch()
        fleet.killed_on("m1", guard=guard)
        assert_gone([daemon])
        assert process.wait(120) == 0, fleet.screen

    fleet.assert_sound(1)
    assert fleet.row("1")["attempts"] == 0, "no task is to blame"
    assert "no attempt is counted" in fleet.screen
    wait_for(lambda: fleet.machines.attempts("m1") == [])


@pytest.mark.slow
def test_interrupt_ends_the_agents_on_all_machines(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, machines=("m1", "m2"))
    fleet.machines.install("m1", "m2")
    fleet.task(
        "any", f"setsid sh -c 'echo $$ > {fleet.outside}/daemon-$SAMUEL_TASK_ID; exec sleep 600' & sleep 600"
    )
    files = [fleet.outside / f"daemon-{number}" for number in (1, 2)]
    with fleet.running(*fleet.places(names=("m1", "m2")), lanes=0) as process:
        fleet.wait_for(lambda: all(file.exists() and file.read_text() for file in files), process)
        process.send_signal(signal.SIGINT)
        fleet.wait_for(lambda: "Ctrl-C" in fleet.screen or "finish" in fleet.screen, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130, fleet.screen
    assert_gone([int(file.read_text()) for file in files])
    assert set(fleet.statuses().values()) == {"pending"}


@pytest.mark.slow
def test_killed_coordinator_does_not_pay_again_for_work_that_was_handed_over(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, machines=("m1", "m2"))
    fleet.task("1", WORK)
    fleet.task("2", f"sleep 1; {WORK}; touch {fleet.outside}/second")
    with fleet.running(*fleet.places(names=("m1", "m2")), lanes=0) as process:
        fleet.wait_for(lambda: len(fleet.calls()) == 2, process)
        process.send_signal(signal.SIGSTOP)  # so that nothing lands
        wait_for(lambda: len(fleet.remote_refs("refs/samuel/*/record/*")) == 2)
        fleet.kill(process)

    resumed = fleet.start(lanes=0)

    assert resumed.code == 0
    fleet.assert_sound(2)
    assert len(fleet.calls()) == 2, "both were handed over before"


@pytest.mark.slow
def test_connection_that_breaks_after_the_push_loses_no_work(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    program = fleet.machines.home("m1") / "bin" / "samuel"
    program.rename(program.with_name("real"))
    program.write_text(f'#!/bin/sh\n{program.parent}/real "$@" | grep --line-buffered -v \'"line":"result"\'\n')
    program.chmod(0o755)
    fleet.task("1", WORK)

    fleet.start(*fleet.places(names=("m1",)), lanes=0)

    fleet.assert_sound(1)
    assert len(fleet.calls()) == 1, "its agent is not paid again"


def forged(fleet: FleetProject, *, work: bool, own_tree: bool) -> None:
    """Replace the work and the record on the remote, as anyone who may push there could; its checks fail."""
    bare = fleet.bare
    (record_ref,) = fleet.remote_refs("refs/samuel/*/record/*")
    work_ref = record_ref.replace("/record/", "/work/")
    line = read_line(fleet.git("log", "-1", "--format=%b", record_ref, cwd=bare).strip().encode())
    assert isinstance(line, ResultLine)
    commit = fleet.git("rev-parse", work_ref, cwd=bare).strip()
    blob = fleet.git("hash-object", "-w", "--stdin", cwd=bare).strip()
    listing = fleet.git("ls-tree", commit, cwd=bare) + f"100644 blob {blob}\tbroken\n"
    tree = fleet.git("mktree", cwd=bare, stdin=listing).strip()
    person = ("-c", "user.name=Another", "-c", "user.email=another@example.org", "commit-tree")
    red = fleet.git(*person, "-p", commit, "-m", "red", tree, cwd=bare).strip()
    result = replace(line.result, work=red if work else "", tree=tree if own_tree else line.result.tree)
    message = record_message(replace(line, result=result))
    record = fleet.git(*person, "-p", red, "-F", "-", tree, cwd=bare, stdin=message).strip()
    fleet.git("update-ref", work_ref, red, cwd=bare)
    fleet.git("update-ref", record_ref, record, cwd=bare)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "own_tree"), [(True, True), (True, False), (False, False)], ids=["red", "other tree", "no work"]
)
def test_record_of_somebody_else_lands_nothing_unchecked(
    fleet: FleetProject, *, work: bool, own_tree: bool
) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    fleet.task("1", f"rm -f broken; {WORK}")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for(lambda: len(fleet.calls()) == 1, process)
        process.send_signal(signal.SIGSTOP)  # so that nothing lands
        wait_for(lambda: len(fleet.remote_refs("refs/samuel/*/record/*")) == 1)
        fleet.kill(process)
    forged(fleet, work=work, own_tree=own_tree)

    fleet.start(lanes=0)

    fleet.assert_sound(1)
    assert "broken" not in fleet.git("ls-tree", "-r", "--name-only", "main").split()
    assert len(fleet.calls()) == 2, "an agent did the task again"


@pytest.mark.slow
def test_frozen_machine_is_lost_and_its_late_work_lands_nothing(fleet: FleetProject) -> None:
    settings = '\n[fleet]\nretry = "200ms"\npatience = "20s"\nsilence = "4s"\n'
    fleet.prepare_fleet(1, settings, machines=("m1", "m2"))
    fleet.machines.install("m1", "m2")
    fleet.task("1", f"test -e {fleet.outside}/frozen || sleep 3; {WORK}")
    with fleet.running(*fleet.places(names=("m1", "m2")), lanes=0) as process:
        fleet.wait_for(lambda: len(fleet.calls()) == 1, process)
        first = next(name for name in ("m1", "m2") if fleet.machines.attempts(name))
        (fleet.outside / "frozen").touch()
        fleet.machines.signal(first, signal.SIGSTOP)
        try:
            assert process.wait(120) == 0, fleet.screen
        finally:
            fleet.machines.signal(first, signal.SIGCONT)
        wait_for(lambda: fleet.machines.attempts(first) == [])

    fleet.assert_sound(1)
    assert f"nothing was heard from `ssh:{first}`" in fleet.screen
    assert fleet.landed() == ["1"]


@pytest.mark.slow
def test_agent_that_is_silent_for_longer_than_a_machine_may_be_is_left_alone(fleet: FleetProject) -> None:
    settings = '\n[fleet]\nsilence = "2s"\n'
    fleet.prepare_fleet(1, settings, machines=("m1",))
    fleet.task("1", f"sleep 6; {WORK}")

    ran = fleet.start(*fleet.places(names=("m1",)), lanes=0)

    fleet.assert_sound(1)
    assert len(fleet.calls()) == 1, ran.screen
    assert "nothing was heard" not in ran.screen


@pytest.mark.slow
def test_remote_that_is_away_for_a_while_loses_nothing(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    fleet.task("1", f"mv {fleet.bare} {fleet.bare}.away; touch {fleet.outside}/away; {WORK}")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for(lambda: (fleet.outside / "away").exists(), process)
        time.sleep(2)
        os.rename(f"{fleet.bare}.away", fleet.bare)
        assert process.wait(120) == 0, fleet.screen

    fleet.assert_sound(1)
    assert len(fleet.calls()) == 1


@pytest.mark.slow
def test_machine_of_another_protocol_gets_no_work(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1", "m2"))
    other = fleet.machines.home("m1") / "bin" / "samuel"
    other.unlink()
    other.write_text(
        f"#!{sys.executable}\nimport sys\nfrom samuel.workspaces.fleet import wire\nwire.PROTOCOL += 1\n"
        "from samuel.cli.edge import run\nsys.exit(run(sys.argv[1:]))\n"
    )
    other.chmod(0o755)

    ran = fleet.start(*fleet.places(names=("m1", "m2")), lanes=0)

    fleet.assert_sound(1)
    assert "`ssh:m1` gets no work in this run: the coordinator has protocol" in ran.screen
    assert {call.task for call in fleet.calls()} == {"1"}


@pytest.mark.slow
def test_nothing_is_claimed_where_no_machine_trusts_the_project(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",), trusted=False)

    ran = fleet.start(*fleet.places(names=("m1",)), "--json", lanes=0, code=1)

    assert ran.data["exit_reason"] == "no_place"
    assert fleet.calls() == []
    assert fleet.statuses() == {"1": "pending"}
    assert fleet.row("1")["attempts"] == 0
    assert fleet.samuel("run", "tasks", "--json").data[0]["iteration"] == 0
    checked = fleet.samuel("fleet", "check", *fleet.places(names=("m1",)), "--json", code=1).data
    assert [(entry["code"], entry["ok"]) for entry in checked] == [("trust", False)]
    assert "samuel -C" in checked[0]["hint"]


@pytest.mark.slow
def test_what_a_machine_lacks_is_named_and_no_secret_is_in_a_file_or_a_process_list(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1", "m2"), agent='claim = "exit"\nenv = ["SHOP_KEY"]')
    fleet.env["SHOP_KEY"] = "coordinators-own-key"
    fleet.machines.set_variable("m2", "SHOP_KEY", "the-key-of-m2")
    fleet.samuel("trust", "--yes")
    places = ["--place", f"ssh:m1:1:{CLONE}", "--place", f"ssh:m2:1:{CLONE}", "--place", "ssh:m3:1:~/none"]

    data = fleet.samuel("fleet", "check", *places, "--json", code=1).data

    by_place = {entry["place"]: entry for entry in data}
    assert by_place["ssh:m1"]["code"] == "agent"
    assert "`SHOP_KEY`, not set on this machine" in by_place["ssh:m1"]["why"]
    assert by_place["ssh:m2"]["ok"]
    assert by_place["ssh:m3"]["code"] == "directory"
    assert fleet.remote_refs() == [], "a check leaves nothing on the remote"

    fleet.task("1", f"ps axww -o args > {fleet.outside}/processes; {WORK}")
    fleet.start("--place", f"ssh:m2:1:{CLONE}", lanes=0)
    fleet.assert_sound(1)
    processes = (fleet.outside / "processes").read_text()
    assert "samuel" in processes
    assert "coordinators-own-key" not in processes
    assert "the-key-of-m2" not in processes
    text = fleet.all_text()
    assert b"coordinators-own-key" not in text
    assert b"the-key-of-m2" not in text.replace((fleet.machines.home("m2") / "variables").read_bytes(), b"")


def test_remote_with_a_password_in_its_url_is_refused(fleet: FleetProject) -> None:
    fleet.prepare(1)
    fleet.git("remote", "add", "origin", "https://me:hunter2@example.invalid/shop.git")

    ran = fleet.start(*fleet.places(names=("m1",)), lanes=0, code=1)

    assert "the URL of the remote `origin`" in ran.screen
    assert "hunter2" not in ran.screen


@pytest.mark.slow
def test_rules_that_are_not_committed_are_named(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=("m1",))
    with (fleet.root / "samuel.toml").open("a") as file:
        file.write("# changed\n")

    ran = fleet.start(*fleet.places(names=("m1",)), lanes=0, code=1)

    assert "are not those of the run: `samuel.toml`" in ran.screen
    assert fleet.calls() == []


@pytest.mark.slow
def test_copied_file_that_git_does_not_ignore_is_refused(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, '\n[lanes]\ncopy = [".env"]\n', machines=())
    fleet.write(".env", "KEY=1\n")

    ran = fleet.samuel("fleet", "check", *fleet.places(names=("m1",)), code=1)

    assert "`[lanes] copy` names `.env`, which git does not ignore" in ran.screen
    fleet.write(".gitignore", ".env\n")
    ran = fleet.samuel("fleet", "check", *fleet.places(names=("m1",)), code=1)
    assert "copy" not in ran.screen


def test_check_with_a_remote_that_is_away_answers_for_all_places(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, '\n[fleet]\npatience = "1s"\n', machines=())
    fleet.bare.rename(fleet.bare.with_name("away.git"))

    data = fleet.samuel("fleet", "check", *fleet.places(), "--json", code=1).data

    assert [(entry["place"], entry["code"]) for entry in data] == [
        (f"ssh:{name}", "remote") for name in ("m1", "m2", "m3")
    ]


@pytest.mark.slow
def test_clone_that_samuel_keeps_is_made_and_trusted_on_the_machine(fleet: FleetProject) -> None:
    fleet.prepare_fleet(1, machines=())
    first = fleet.samuel("fleet", "check", "--place", "ssh:m1:1", "--json", code=1).data[0]
    assert first["code"] == "trust"
    command = first["hint"].split("`")[1]
    fleet.on_machine("m1", *command.split(), "--yes")

    assert fleet.samuel("fleet", "check", "--place", "ssh:m1:1", "--json").data[0]["ok"]
    fleet.start("--place", "ssh:m1:1", lanes=0)

    fleet.assert_sound(1)


@pytest.mark.slow
def test_drained_machine_gets_no_new_work_and_status_shows_it(fleet: FleetProject) -> None:
    fleet.prepare_fleet(3, machines=("m1", "m2"))
    fleet.task(
        "any",
        f'echo "$SAMUEL_MACHINE" >> {fleet.outside}/machines\n'
        f"while [ ! -e {fleet.outside}/go ]; do sleep 0.05; done\n{WORK}",
    )
    with fleet.running(*fleet.places(names=("m1", "m2")), lanes=0) as process:
        fleet.wait_for(lambda: len(fleet.calls()) == 2, process)
        status = {entry["place"]: entry for entry in fleet.samuel("fleet", "status", "--json").data}
        assert [len(entry["tasks"]) for entry in status.values()] == [1, 1]
        assert status["ssh:m1"]["state"] == "ready"
        fleet.samuel("fleet", "drain", "m1")
        assert "drained" in fleet.samuel("fleet", "status").out
        (fleet.outside / "go").touch()
        assert process.wait(120) == 0, fleet.screen

    fleet.assert_sound(3)
    assert sorted((fleet.outside / "machines").read_text().split()) == ["m1", "m2", "m2"]


@pytest.mark.slow
def test_drained_machine_gets_work_again_when_that_is_undone(fleet: FleetProject) -> None:
    fleet.prepare_fleet(4, machines=("m1", "m2"))
    hold = f"while [ ! -e {fleet.outside}/go-$SAMUEL_TASK_ID ]; do sleep 0.05; done"
    fleet.task("any", f'echo "$SAMUEL_TASK_ID $SAMUEL_MACHINE" >> {fleet.outside}/machines\n{hold}\n{WORK}')

    def machines() -> dict[str, str]:
        file = fleet.outside / "machines"
        words = file.read_text().split() if file.exists() else []
        return dict(zip(words[::2], words[1::2], strict=False))

    with fleet.running(*fleet.places(names=("m1", "m2")), lanes=0) as process:
        fleet.wait_for(lambda: len(machines()) == 2, process)
        on_m1, on_m2 = (next(task for task, name in machines().items() if name == m) for m in ("m1", "m2"))
        drained = fleet.samuel("fleet", "drain", "ssh:m1", "--json").data
        assert drained == {"place": "ssh:m1", "drained": ["ssh:m1"]}
        (fleet.outside / f"go-{on_m1}").touch()
        (fleet.outside / f"go-{on_m2}").touch()
        fleet.wait_for(lambda: len(machines()) == 3, process)
        assert machines()["3"] == "m2"
        assert fleet.samuel("fleet", "drain", "m1", "--undo", "--json").data["drained"] == []
        states = {entry["place"]: entry["state"] for entry in fleet.samuel("fleet", "status", "--json").data}
        assert states == {"ssh:m1": "ready", "ssh:m2": "ready"}
        fleet.wait_for(lambda: len(machines()) == 4, process)
        assert machines()["4"] == "m1"
        for task in ("3", "4"):
            (fleet.outside / f"go-{task}").touch()
        assert process.wait(120) == 0, fleet.screen
    fleet.assert_sound(4)


@pytest.mark.slow
def test_run_whose_last_machine_is_drained_ends_with_its_tasks_pending(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, machines=("m1",))
    fleet.task("any", f"while [ ! -e {fleet.outside}/go ]; do sleep 0.05; done\n{WORK}")
    with fleet.running(*fleet.places(names=("m1",)), lanes=0) as process:
        fleet.wait_for(lambda: len(fleet.calls()) == 1, process)
        assert "the run has no place `m9`" in fleet.samuel("fleet", "drain", "m9", code=2).screen
        fleet.samuel("fleet", "drain", "m1")
        (fleet.outside / "go").touch()
        assert process.wait(120) == 1, fleet.screen
    assert sorted(fleet.statuses().values()) == ["completed", "pending"]
    assert fleet.samuel("run", "status", "--json").data["exit_reason"] == "no_place"


def another_coordinator(fleet: FleetProject, base: Path) -> FleetProject:
    """Another person's clone of the project, with a home of its own; it uses the same machines."""
    home = base / "home"
    home.mkdir(parents=True)
    other = FleetProject(base, fleet._program.parent, home, fleet.machines)
    other.root.rmdir()
    fleet.git("clone", "-q", str(fleet.bare), str(other.root))
    other.git("config", "user.name", "Another Person")
    other.git("config", "user.email", "other@example.org")
    other.git("tag", "begin")
    other.bare = fleet.bare
    other.samuel("trust", "--yes")
    other.samuel("run", "init", "--prd", "prd.md", "--yes", "--no-commit")
    return other


def trusted_clone(fleet: FleetProject) -> None:
    """Let the first machine trust the clone that Samuel keeps there."""
    command = fleet.samuel("fleet", "check", "--place", "ssh:m1:1", "--json", code=1).data[0]["hint"].split("`")[1]
    fleet.on_machine("m1", *command.split(), "--yes")


@pytest.mark.slow
@pytest.mark.parametrize("same_rules", [True, False], ids=["same rules", "other rules"])
def test_two_runs_share_the_clone_of_a_machine(fleet: FleetProject, tmp_path: Path, *, same_rules: bool) -> None:
    fleet.prepare_fleet(1, machines=())
    trusted_clone(fleet)
    other = another_coordinator(fleet, tmp_path / "other")
    if not same_rules:
        other.write("check.sh", "test ! -e broken\n# stricter\n")
        other.write("samuel.toml", (other.root / "samuel.toml").read_text() + "\n# other\n")
        other.git("commit", "-qam", "Other rules")
    hold = f"touch {fleet.outside}/begun; while [ ! -e {fleet.outside}/go ]; do sleep 0.05; done"
    fleet.task("1", f"{hold}\n{WORK}")
    other.task("1", WORK)
    # The agent that is committed notes its calls beside the first project.
    with fleet.running("--place", "ssh:m1:1", lanes=0) as first:
        fleet.wait_for((fleet.outside / "begun").exists, first)
        with other.running("--place", "ssh:m1:1", lanes=0) as second:
            if same_rules:
                other.wait_for(lambda: len(fleet.calls()) == 2, second)
            else:
                other.wait_for(lambda: "by other rules" in other.screen, second)
                assert len(fleet.calls()) == 1, "it waits for the end of the first run"
            (fleet.outside / "go").touch()
            assert first.wait(120) == 0, fleet.screen
            assert second.wait(120) == 0, other.screen
    fleet.assert_sound(1)
    assert other.landed() == ["1"]
    assert len(fleet.calls()) == 2
    assert "no attempt is counted" not in fleet.screen


@pytest.mark.slow
def test_display_that_is_blocked_for_longer_than_a_machine_may_be_silent_loses_none(
    fleet: FleetProject,
) -> None:
    settings = '\n[fleet]\nsilence = "2s"\n'
    fleet.prepare_fleet(1, settings, machines=("m1",))
    lines = 'i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo "line $i of the agent, and some more text"; done'
    fleet.task("1", f"{lines}; sleep 1; {lines}; {WORK}")
    command = [*INSTALLED, "run", "start", "--yes", "-v", *fleet.places(names=("m1",))]
    with subprocess.Popen(
        command, cwd=fleet.root, env=fleet.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        wait_for(lambda: len(fleet.calls()) == 1)
        time.sleep(8)  # nothing reads: the pipe is full, and the coordinator waits in the middle of a line
        assert process.stdout
        screen = process.stdout.read().decode()
        assert process.wait(120) == 0, screen
    fleet.assert_sound(1)
    assert len(fleet.calls()) == 1
    assert "nothing was heard" not in screen


@pytest.mark.slow
def test_local_lane_and_a_machine_share_the_tasks(fleet: FleetProject) -> None:
    fleet.prepare_fleet(2, machines=("m1",))
    both = f"while [ $(wc -l < {fleet.outside}/machines) -lt 2 ]; do sleep 0.05; done"
    fleet.task("any", f'echo "machine=$SAMUEL_MACHINE" >> {fleet.outside}/machines\n{both}\n{WORK}')

    fleet.start("--place", "local:1", *fleet.places(names=("m1",)), lanes=0)

    fleet.assert_sound(2)
    assert sorted((fleet.outside / "machines").read_text().split()) == ["machine=", "machine=m1"]


def test_attempt_without_a_request_says_what_it_expects(fleet: FleetProject) -> None:
    with subprocess.Popen(
        ["samuel", "attempt"],
        env=fleet.machines.environment("m1"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(b"nonsense\n")
        process.stdin.flush()
        line = json.loads(process.stdout.readline())
        assert (process.wait(), line["line"], line["code"]) == (1, "refused", "protocol")
