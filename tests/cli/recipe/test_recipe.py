"""`samuel recipe`: whole outputs, exit codes, and nothing that runs before a person agreed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

REAL = (sys.executable, "-m", "samuel")
NOTE = "the agent `mine` cannot be held to the tools Read"


class TestList:
    def test_recipe_list_is_an_aligned_table_in_a_pipe(self, samuel, kitchen, put, machine):
        put(".samuel/recipes/broken.md", "---\nname: [x]\n---\n")
        put(".kodelet/recipes/review.md", "Other.")
        assert samuel("recipe", "list") == (
            0,
            "NAME    ORIGIN   STATUS    DESCRIPTION      REASON\n"
            "broken  project  broken    -                "
            "PROJECT/.samuel/recipes/broken.md:2: `name` must be text, not ['x']\n"
            "review  project  active    Review a branch  -\n"
            "review  project  shadowed  -                "
            "`PROJECT/.samuel/recipes/review.md` has the same name and comes first\n",
            "",
        )

    def test_recipe_list_prints_json(self, samuel, kitchen):
        (recipe,) = samuel("recipe", "list", "--json").json["data"]
        assert recipe == {
            "name": "review",
            "title": "Code review",
            "description": "Review a branch",
            "arguments": [
                {"name": "branch", "description": "What to review", "default": None, "required": True},
                {"name": "base", "description": "", "default": "main", "required": False},
                {"name": "focus", "description": "", "default": None, "required": False},
            ],
            "allowed_tools": ["Read"],
            "agent": "",
            "origin": "project",
            "path": "PROJECT/.samuel/recipes/review.md",
            "status": "active",
            "reason": "",
        }

    def test_recipe_list_is_empty_without_recipes(self, samuel, project):
        assert samuel("recipe", "list") == (0, "NAME  ORIGIN  STATUS  DESCRIPTION  REASON\n", "")


class TestShow:
    def test_what_it_is_for_what_it_takes_and_what_it_says(self, samuel, kitchen):
        assert samuel("recipe", "show", "review") == (
            0,
            "review: Review a branch\n"
            "file: PROJECT/.samuel/recipes/review.md\n"
            "tools: Read\n"
            "argument: branch (required): What to review\n"
            "argument: base (default 'main')\n"
            "argument: focus (default '')\n"
            "\n"
            "Review {{ branch }} against {{.base}}.\n",
            "",
        )

    def test_recipe_show_prints_json(self, samuel, kitchen):
        data = samuel("recipe", "show", "review", "--json").json["data"]
        assert (data["text"], data["more"]) == ("Review {{ branch }} against {{.base}}.\n", {"model": "large"})

    def test_what_a_terminal_might_act_on_is_escaped(self, samuel, project, put):
        put(".samuel/recipes/evil.md", '---\ndescription: "\\e]0;owned\\a"\n---\ntext \x1b[2J\n')
        assert "\x1b" not in samuel("recipe", "show", "evil").out
        assert "\x1b" not in samuel("recipe", "list").out

    @pytest.mark.parametrize("name", ["../review", "/etc/passwd", "a\x1b", "..", ""])
    def test_the_name_of_a_recipe_is_never_read_as_a_path(self, samuel, kitchen, name):
        ran = samuel("recipe", "show", name)
        assert (ran.code, ran.out) == (2, "")
        assert "is not a valid recipe name" in ran.err

    def test_recipe_show_refuses_an_unknown_recipe(self, samuel, kitchen):
        assert samuel("recipe", "show", "reveiw") == (
            2,
            "",
            "error: there is no recipe `reveiw`\ndid you mean `review`?\n",
        )


class TestDryRun:
    def test_shows_the_prompt_and_fires_nothing(self, samuel, kitchen, project):
        ran = samuel("recipe", "run", "review", "--arg", "branch=a=b", "--dry-run")
        assert ran == (0, "Review a=b against main.\n", "")
        assert not (project / "made.txt").exists()
        assert samuel("hooks", "log", "--json").json["data"] == []

    @pytest.mark.slow
    def test_recipe_run_dry_run_prints_json(self, samuel, kitchen):
        ran = samuel("recipe", "run", "review", "--arg", "branch=x", "--agent", "codex", "--dry-run", "--json")
        assert ran.json["data"] == {"recipe": "review", "agent": "codex", "prompt": "Review x against main.\n"}


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ([], "needs an argument that was not given: `branch`: What to review"),
            (["--arg", "branch"], "`--arg branch` has no value"),
            (["--arg", "=x"], "`--arg =x` has no value"),
            (["--arg", "branch=x", "--arg", "branch=y"], "`--arg branch` is given twice"),
            (["--arg", "branch=x", "--arg", "bsae=y"], "has no argument `bsae`\ndid you mean `base`?"),
            (["--arg", "branch=x", "--arg", "Project=y"], "has no argument `Project`"),
        ],
    )
    def test_what_is_wrong_is_said_before_anything_happens(self, samuel, kitchen, project, arguments, says):
        samuel("trust", "--yes")
        ran = samuel("recipe", "run", "review", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert says in ran.err
        assert not (project / "made.txt").exists()

    @pytest.mark.slow
    def test_a_name_in_the_text_that_is_undefined(self, samuel, kitchen, put):
        put(".samuel/recipes/odd.md", "---\ndescription: x\n---\none\n{{ two }}\n")
        ran = samuel("recipe", "run", "odd", "--dry-run")
        assert ran.code == 2
        assert ran.err.startswith("error: PROJECT/.samuel/recipes/odd.md:5: 'two' is undefined (")


class TestRun:
    def test_recipe_run_starts_no_agent_that_is_not_trusted(self, samuel, kitchen, project):
        ran = samuel("recipe", "run", "review", "--arg", "branch=x")
        assert (ran.code, ran.out) == (1, "")
        assert "`agent:mine` has not been agreed to" in ran.err
        assert "`samuel recipe run --yes`" in ran.err
        assert not (project / "made.txt").exists()

    @pytest.mark.slow
    def test_the_agents_words_and_how_it_ended(self, samuel, kitchen):
        assert samuel("recipe", "run", "review", "--arg", "branch=x", "--yes") == (
            0,
            "Review x against main.\n",
            f"review: the agent ended with exit code 0; changed: made.txt\nwarning: {NOTE}\n",
        )

    @pytest.mark.slow
    def test_recipe_run_prints_the_result_of_the_agent_as_json(self, samuel, kitchen):
        samuel("trust", "--yes")
        ran = samuel("recipe", "run", "review", "--arg", "branch=x", "--json")
        answer = ran.json
        data = answer["data"]
        assert (ran.code, answer["ok"], answer["warnings"]) == (0, True, [NOTE])
        assert data["session_id"].startswith("ses-")
        assert {
            key: data[key] for key in ("recipe", "agent", "exit_code", "stdout", "changed_files", "stopped")
        } == {
            "recipe": "review",
            "agent": "mine",
            "exit_code": 0,
            "stdout": "Review x against main.\n",
            "changed_files": ["made.txt"],
            "stopped": "",
        }

    @pytest.mark.slow
    def test_recipe_run_exits_with_1_when_the_agent_fails(self, samuel, kitchen, put):
        put("agent.sh", "#!/bin/sh\nexit 3\n", 0o755)
        ran = samuel("recipe", "run", "review", "--arg", "branch=x", "--yes")
        assert ran.code == 1
        assert ran.err.startswith("review: the agent ended with exit code 3\n")

    @pytest.mark.slow
    def test_recipe_run_stops_when_a_hook_denies(self, samuel, kitchen, put, project):
        verdict = """echo '{"decision": "deny", "reason": "not on a Friday"}'"""
        put(".samuel/hooks/no", f"#!/bin/sh\n[ $1 = hook ] && echo UserPromptSubmit || {verdict}\n", 0o755)
        ran = samuel("recipe", "run", "review", "--arg", "branch=x", "--yes")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err.startswith("stopped: not on a Friday\n")
        assert not (project / "made.txt").exists()
        answer = samuel("recipe", "run", "review", "--arg", "branch=x", "--json").json
        assert (answer["ok"], answer["data"]["exit_code"], answer["data"]["stopped"]) == (
            False,
            None,
            "not on a Friday",
        )

    @pytest.mark.slow
    def test_an_agent_that_is_not_there(self, samuel, kitchen):
        ran = samuel("recipe", "run", "review", "--arg", "branch=x", "--agent", "nobody")
        assert (ran.code, ran.err.splitlines()[0]) == (2, "error: there is no agent `nobody`")

    @pytest.mark.slow
    def test_a_signal_ends_the_agent_and_the_session_has_its_end(self, samuel, kitchen, put, project):
        put("agent.sh", "#!/bin/sh\necho $$ > pid.new; mv pid.new pid\nsleep 600\n", 0o755)
        ended = project.parent / "ended"
        for event in ("SessionStop", "SessionEnd"):
            put(f".samuel/hooks/{event}", f"#!/bin/sh\n[ $1 = hook ] && echo {event} || cat >> {ended}\n", 0o755)
        samuel("trust", "--yes")
        command = [*REAL, "recipe", "run", "review", "--arg", "branch=x"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            deadline = time.monotonic() + 120
            while not (project / "pid").exists():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate()
        assert (process.returncode, err.strip()) == (130, b"interrupted")
        assert re.findall(r'"event":"(\w+)"', ended.read_text()) == ["SessionStop", "SessionEnd"]
        assert '"changed_files":["pid"]' in ended.read_text()
        assert not os.path.exists(f"/proc/{(project / 'pid').read_text().strip()}")

    def test_a_strict_hook_that_fails_at_the_end_of_the_session_is_an_error(self, samuel, kitchen, put):
        put(
            ".samuel/hooks/tidy.py",
            "import samuel\n\n"
            '@samuel.hook("SessionEnd", strict=True)\n'
            'def tidy(event):\n    return {"ok": False, "reason": "the disk is full"}\n',
        )
        ran = samuel("recipe", "run", "review", "--arg", "branch=x", "--yes", "--json")
        assert (ran.code, ran.json["data"]["stopped"]) == (1, "`tidy` failed: the disk is full")

    @pytest.mark.slow
    def test_what_was_fired_is_in_the_journal_under_its_name(self, samuel, kitchen, project):
        samuel("recipe", "run", "review", "--arg", "branch=x", "--yes")
        lines = [
            json.loads(line)
            for file in (project / ".samuel/run/journal").glob("*.jsonl")
            for line in file.read_text().splitlines()
        ]
        events = [line["payload"] for line in lines if line["kind"] == "event"]
        assert [event["event"] for event in events][-1] == "after:agent.invoke"
        assert {event.get("recipe_name") for event in events} == {"review"}
