"""`samuel run tasks` and the commands that change one: whole outputs, and what is in the file afterwards."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.length import at_length

from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task, find

NONE_YET = (
    "error: there are no tasks yet: `PROJECT/.samuel/run/prd.toon` does not exist\n"
    "`samuel run init --prd FILE` makes them from a PRD\n"
)


def test_run_tasks_prints_a_table(samuel, three):
    assert samuel("run", "tasks") == (
        0,
        "ID    STATUS       PRIORITY  DEPENDS ON  TITLE\n"
        "1     completed    medium    -           Write it\n"
        "1.10  in_progress  high      1           Use it\n"
        "2     pending      medium    1, 1.10     Sell it\n",
        "",
    )
    assert samuel("run", "tasks", "--status", "completed").out == "ID  STATUS     TITLE\n1   completed  Write it\n"
    assert samuel("run", "tasks", "--status", "blocked") == (0, "no tasks\n", "")


def test_run_tasks_json_has_every_field(samuel, three):
    answer = samuel("run", "tasks", "--status", "in_progress", "--json").json
    assert answer == {
        "ok": True,
        "data": [
            {
                "id": "1.10",
                "title": "Use it",
                "description": "",
                "status": "in_progress",
                "priority": "high",
                "complexity": "medium",
                "parent_id": "",
                "depends_on": ["1"],
                "files_to_create": [],
                "files_to_modify": [],
                "guardrails": [],
                "completed_at": "",
                "commit_sha": "",
                "iteration": 2,
                "source": "prd",
                "claimed": False,
                "attempts": 0,
                "last_failure": "",
                "grade": "",
                "reviewed": "",
                "kind": "",
                "proof": "",
                "acceptance_tests": "",
                "sent_back": [],
                "checks": [],
                "no_change": False,
                "acceptance": [],
                "test_strategy": "",
                "rank": 0,
                "questions": [],
            }
        ],
        "warnings": [],
        "error": None,
    }


COMMANDS = (
    ("tasks",),
    ("done", "1"),
    ("skip", "1", "--reason", "x"),
    ("block", "1", "--reason", "x"),
    ("reset", "1"),
    ("enqueue", "x"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_run_tasks_is_refused_without_a_task_file(samuel, project, command):
    assert samuel("run", *command) == (1, "", NONE_YET)
    assert samuel("run", *command, "--json").json["ok"] is False
    assert not (project / ".samuel").exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_run_tasks_names_the_line_of_a_broken_task_file(samuel, three, command):
    three.path.write_text(three.path.read_text().replace("tasks[3]", "tasks[2]"))
    broken = three.path.read_bytes()
    assert samuel("run", *command) == (
        2,
        "",
        "error: PROJECT/.samuel/run/prd.toon:1: the header counts 2 tasks, but the table has 3"
        " (bring back the missing row, or write `tasks[3]` if this is all of them)\n",
    )
    assert samuel("run", *command, "--json").json["error"]["problems"][0]["line"] == 1
    assert three.path.read_bytes() == broken


@pytest.mark.parametrize("command", COMMANDS)
def test_task_commands_do_not_follow_a_link(samuel, project, tmp_path, command):
    (project / ".samuel").mkdir()
    (project / ".samuel/run").symlink_to(tmp_path)
    ran = samuel("run", *command)
    assert (ran.code, "symbolic link" in ran.err) == (2, True)


def test_run_done_completes_a_task(samuel, three):
    assert samuel("run", "done", "2", "--commit", "1234567") == (0, "task `2` is completed\n", "")
    task = find(three.load(), "2")
    assert (task.status, task.commit_sha) == ("completed", "1234567")
    assert len(task.completed_at) == len("2025-01-15T10:23:45.123Z")
    assert samuel("run", "done", "2") == (
        1,
        "",
        "error: task `2` is completed, so it cannot be completed\n`samuel run reset 2` makes it pending again\n",
    )
    assert samuel("run", "done", "1.1") == (2, "", "error: there is no task `1.1`\ndid you mean `1.10`?\n")


def test_run_skip_block_and_reset_change_the_status(samuel, three):
    assert samuel("run", "skip", "2", "--reason", "by hand") == (0, "task `2` is skipped: by hand\n", "")
    assert samuel("run", "block", "1.10", "--reason", "no key").out == "task `1.10` is blocked: no key\n"
    assert samuel("run", "tasks", "--status", "blocked").out.endswith("Use it  no key\n")
    assert samuel("run", "skip", "1.10", "--reason", " ").code == 2
    assert samuel("run", "skip", "1.10").code == 2
    assert samuel("run", "reset", "1.10", "--json").json["data"]["last_failure"] == ""
    assert [task.status for task in three.load()] == ["completed", "pending", "skipped"]


def test_run_enqueue_adds_a_task(samuel, three):
    ran = samuel(
        "run", "enqueue", "Tell them, all", "--priority", "low", "--depends-on", "2", "--depends-on", "1.10"
    )
    assert ran == (0, "task `3` is pending: Tell them, all\n", "")
    assert three.load()[-1] == Task(
        id="3", title="Tell them, all", priority="low", depends_on=("2", "1.10"), source="user"
    )
    assert samuel("run", "enqueue", "x", "--depends-on", "7").code == 2
    assert samuel("run", "enqueue", "x", "--priority", "urgent").code == 2
    assert len(three.load()) == 4


def test_inside_a_run_done_is_a_claim(samuel, three, inside):
    inside(TASK_ID="1.10")
    assert samuel("run", "done", "1.10") == (
        0,
        "task `1.10` is claimed; it counts when the quality checks pass\n",
        "",
    )
    task = find(three.load(), "1.10")
    assert (task.status, task.claimed, task.completed_at) == ("in_progress", True, "")
    assert "in_progress (claimed)" in samuel("run", "tasks").out
    assert samuel("run", "done", "2") == (
        1,
        "",
        "error: this is inside the run `run-7`, which cannot claim task `2`\nthe current task is `1.10`\n",
    )
    assert samuel("run", "reset", "1.10").code == 1
    assert samuel("run", "skip", "2", "--reason", "x").code == 1
    assert samuel("run", "block", "1.10", "--reason", "too hard").code == 0
    assert find(three.load(), "1.10").last_failure == "too hard"


def test_inside_a_run_new_tasks_say_where_they_came_from(samuel, three, inside):
    inside(TASK_ID="1.10", ITERATION="2")
    assert samuel("run", "enqueue", "Found on the way", "--json").json["data"]["source"] == "agent"
    inside(MODE="discovery", TASK_ID="", ITERATION="5", MAX_NEW_TASKS="2")
    for _ in range(2):
        assert samuel("run", "enqueue", "Found", "--json").json["data"]["source"] == "discovery"
    assert samuel("run", "enqueue", "Found") == (
        1,
        "",
        "error: this discovery has found 2 tasks, which is the limit\n"
        "end this turn; the next discovery can find more\n",
    )
    assert len(three.load()) == 6


@pytest.mark.slow
def test_many_calls_of_run_done_at_once_lose_none(store: TaskStore, project: Path, fast_samuel: Path) -> None:
    store.replace_all(Task(id=f"1.{number}", title="x") for number in range(1, at_length(40, 100) + 1))
    calls = [
        subprocess.Popen(
            [str(fast_samuel / "samuel"), "run", "done", task.id], stdout=subprocess.PIPE, cwd=project
        )
        for task in store.load()
    ]
    for call, task in zip(calls, store.load(), strict=True):
        out, _ = call.communicate(timeout=300)
        assert (call.returncode, out) == (0, f"task `{task.id}` is completed\n".encode())
    assert {task.status for task in store.load()} == {"completed"}
    assert sorted(os.listdir(store.directory)) == ["prd.toon", "state.lock"]


def test_run_convert_shows_the_tasks_of_a_prd(samuel, put, project):
    put(
        "docs/prd.md",
        "# PRD\n## Tasks\n- [x] 1 One [~2k tokens - Simple]\n  - [ ] 1.1 Two\n## Later\n- [ ] 9 Nine\n",
    )
    assert samuel("run", "convert", "docs/prd.md") == (
        0,
        "ID   STATUS     COMPLEXITY  DEPENDS ON  TITLE\n"
        "1    completed  simple      1.1         One\n"
        "1.1  pending    medium      -           Two\n"
        "\n2 tasks from docs/prd.md\n"
        "  format: markdown, because it is Markdown with headings and checklists\n"
        "  counted: 3 headings, 3 boxes; read: 2 tasks, 1 of them done\n",
        "warning: docs/prd.md:6: `- [ ] 9 Nine` is in no section for tasks\n",
    )
    assert [task["id"] for task in samuel("run", "convert", "docs/prd.md", "--json").json["data"]["tasks"]] == [
        "1",
        "1.1",
    ]
    put("docs/tasks-prd.md", "- [ ] T1: Other\n")
    answer = samuel("run", "convert", "docs/prd.md", "--json").json
    assert [task["id"] for task in answer["data"]["tasks"]] == ["T1"]
    assert answer["warnings"] == ["these are the tasks of `tasks-prd.md`, which is beside `prd.md`"]
    assert not (project / ".samuel").exists()


def test_run_convert_refuses_a_file_without_tasks(samuel, put):
    put("prd.md", "# PRD\n## Tasks\none\n")
    ran = samuel("run", "convert", "prd.md")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        "error: `prd.md` has no task, though it has `## Tasks` in line 2 (2 headings)\ntasks are "
    )
    assert "- [ ] T002: Use it" in ran.err
    assert samuel("run", "convert", "none.md").code == 2


def test_run_help_names_every_command(samuel: Callable[..., object]) -> None:
    from samuel.cli.run import COMMANDS

    help_text = samuel("run", "--help").out  # type: ignore[attr-defined]
    for name, entry in COMMANDS.items():
        assert f"{name} " in help_text
        own = samuel("run", name, "--help").out  # type: ignore[attr-defined]
        assert entry.help in " ".join(own.split())
