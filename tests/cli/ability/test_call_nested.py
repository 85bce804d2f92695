"""Calls within calls, runs that are killed, and abilities that are an agent's work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

REAL = (sys.executable, "-m", "samuel")


def flow(shop, id, calls, body):
    """A high-level ability that is a shell script."""
    shop.put(f"scripts/abilities/{id}", f"#!/bin/sh\n{body}\n", 0o755)
    shop.put(
        f".system/registry/high-level/{id}.yaml",
        f"id: {id}\ntype: workflow\nsummary: Flow {id}\ncalls: [{calls}]\n"
        f"implementation:\n  kind: script\n  script: {{path: scripts/abilities/{id}}}\n",
    )


CALL = """samuel ability call {} --input '{{"text": "inner"}}'"""


@pytest.mark.usefixtures("samuel_of_agents")
class TestNested:
    @pytest.mark.slow
    def test_what_it_lists_and_both_records_say_so(self, samuel, shop):
        flow(shop, "whole", "text.repeat", CALL.format("text.repeat"))
        shop.trust()
        ran = samuel("ability", "call", "whole", "--json")
        assert ran.json["data"]["output"]["given"] == {"text": "inner"}
        by_id = {shop.record(key)["ability_id"]: shop.record(key) for key in shop.keys}
        assert by_id["text.repeat"]["parent"] == by_id["whole"]["key"]
        assert by_id["whole"]["children"] == [by_id["text.repeat"]["key"]] == ran.json["data"]["children"]
        assert (
            f"- calls: {by_id['text.repeat']['key']}\n"
            in (shop.root / ".system/implement" / by_id["whole"]["key"] / "tool_call.md").read_text()
        )

    @pytest.mark.slow
    def test_an_ability_may_call_only_what_it_lists(self, samuel, shop):
        shop.script("other", "print(1)")
        flow(shop, "whole", "other", CALL.format("text.repeat"))
        shop.trust()
        ran = samuel("ability", "call", "whole")
        assert ran.code == 1
        assert not (shop.root / "ran.txt").exists()
        assert len(shop.keys) == 1

    def test_create_and_run_inside_an_ability_obey_its_list(self, samuel, shop, monkeypatch):
        flow(shop, "whole", "", "samuel ability run $(cat key) && exit 0; cat key; exit 3")
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        shop.put("key", key)
        samuel("ability", "call", "whole")
        assert not (shop.root / "ran.txt").exists()
        (whole,) = [call for call in map(shop.record, shop.keys) if call["ability_id"] == "whole"]
        assert "`whole` may not call `text.repeat`: it lists nothing" in whole["stderr"]

    def test_a_low_level_one_calls_nothing(self, samuel, shop):
        shop.script("low", "import subprocess\nsubprocess.run(['samuel', 'ability', 'call', 'text.repeat'])")
        shop.trust()
        assert samuel("ability", "call", "low").json == {
            "status": "unavailable",
            "reason": "`low` may not call `text.repeat`: it lists nothing",
            "suggestion": "see `calls:` in its file",
        }
        assert not (shop.root / "ran.txt").exists()

    def test_a_nested_call_cannot_leave_the_environment_of_its_caller(self, samuel, shop):
        flow(shop, "whole", "text.repeat", f"{CALL.format('text.repeat')} --env prod")
        shop.trust()
        refused = samuel("ability", "call", "whole", "--env", "dev")
        assert "text.repeat: unavailable: `whole` is called in `dev`, and this would be in `prod`" in refused.err
        assert not (shop.root / "ran.txt").exists()
        assert samuel("ability", "call", "whole").code == 0  # who says nothing of where leaves it to the flow

    def test_abilities_that_call_each_other_in_a_circle_are_stopped(self, samuel, empty):
        flow(empty, "one", "two", "samuel ability call two")
        flow(empty, "two", "one", "samuel ability call one")
        empty.trust()
        samuel("ability", "call", "one")
        (two,) = [call for call in map(empty.record, empty.keys) if call["ability_id"] == "two"]
        assert len(empty.keys) == 2
        assert two["status"] == "failure"

    @pytest.mark.slow
    def test_the_depth_of_nested_calls_is_limited(self, samuel, empty):
        for at in range(10):
            flow(empty, f"level{at}", f"level{at + 1}", f"samuel ability call level{at + 1}")
        flow(empty, "level10", "", "echo 1")
        empty.trust()
        assert samuel("ability", "call", "level0").code == 1
        assert len(empty.keys) == 8

    @pytest.mark.parametrize("parent", ["../../etc", "call-20250101T000000-0123456789abcdef", "x\n"])
    def test_a_nested_call_with_an_unknown_parent_is_refused(self, samuel, shop, monkeypatch, parent):
        shop.trust()
        monkeypatch.setenv("SAMUEL_PARENT_CALL", parent)
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert (ran.code, ran.json["status"]) == (1, "unavailable")
        assert ran.json["reason"].startswith("SAMUEL_PARENT_CALL does not name a call: ")

    def test_a_nested_call_with_an_ended_parent_is_refused(self, samuel, shop, monkeypatch):
        flow(shop, "whole", "text.repeat", "echo 1")
        shop.trust()
        samuel("ability", "call", "whole")
        monkeypatch.setenv("SAMUEL_PARENT_CALL", shop.keys[0])
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert ran.json["reason"].endswith("which this would be part of, is not running")


class TestKilled:
    @pytest.fixture
    def running(self, samuel, empty):
        """A call of an ability that never ends, in a process of its own."""
        empty.script("slow", "import time\nopen('begun', 'w')\nprint('x', flush=True)\ntime.sleep(7654321)")
        empty.hook("before", "PreAbilityCall", "answer['tool_input'] = {'as': 'changed'}")
        empty.hook("after", "PostAbilityCall", "")
        empty.trust()
        process = subprocess.Popen(
            [*REAL, "ability", "call", "slow", "--input", '{"as": "asked"}'], cwd=empty.root
        )
        while not (empty.root / "begun").exists():
            assert process.poll() is None
            time.sleep(0.02)
        yield process
        left = [pid for key in empty.keys for pid in _carrying(key)]
        process.kill()
        process.wait()
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @pytest.mark.slow
    def test_while_it_runs_the_record_says_by_whom(self, samuel, empty, running):
        record, key = empty.record(), empty.keys[0]
        assert (record["status"], record["pid"]) == ("running", running.pid)
        assert "- ended: not yet; if process PID is gone, it was killed\n" in empty.words()
        for command in ("run", "delete"):
            refused = samuel("ability", command, key)
            assert (refused.code, refused.err.splitlines()[0]) == (1, f"error: `{key}` is running now")
        assert empty.record() == record

    @pytest.mark.slow
    def test_the_next_command_says_that_it_was_killed_and_ends_what_it_left(self, samuel, empty, running):
        (first,) = empty.keys
        (script,) = _carrying(first)
        running.send_signal(signal.SIGKILL)
        running.wait()
        samuel("ability", "create", "slow")
        assert (empty.record(first)["status"], empty.record(first)["error"]) == (
            "killed",
            "the process that ran it died before it recorded a result",
        )
        assert "# slow: killed\n" in empty.words(first)
        assert empty.record(first)["final_input"] == {"as": "changed"}  # what was really running
        assert "- matched: no, hooks changed the input; both are below\n" in empty.words(first)
        assert not _alive(script)
        assert samuel("ability", "delete", first).code == 0

    @pytest.mark.slow
    @pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    def test_a_polite_signal_leaves_a_record_at_once(self, empty, running, signum):
        (script,) = _carrying(empty.keys[0])
        running.send_signal(signum)
        assert running.wait() == 130
        assert (empty.record()["status"], empty.record()["error"]) == ("killed", "interrupted")
        assert empty.record()["duration_ms"] > 0
        (event,) = empty.events_of_hook("after")
        assert (event["status"], event["output_summary"]) == ("failure", "interrupted")
        assert not _alive(script)

    @pytest.mark.slow
    def test_ability_list_calls_marks_a_killed_call(self, samuel, empty, running):
        assert samuel("ability", "list", "--calls", "--json").json["data"][0]["status"] == "running"
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert samuel("ability", "list", "--calls", "--json").json["data"][0]["status"] == "killed"


@pytest.mark.slow
def test_what_ends_a_call_ends_the_calls_within_it(samuel, empty):
    empty.script("slow", "import time\nopen('begun', 'w')\ntime.sleep(5432167)")
    flow(empty, "whole", "slow", "samuel ability call slow")
    empty.trust()
    process = subprocess.Popen([*REAL, "ability", "call", "whole"], cwd=empty.root)
    while not (empty.root / "begun").exists():
        assert process.poll() is None
        time.sleep(0.02)
    (slow,) = [call for call in map(empty.record, empty.keys) if call["ability_id"] == "slow"]
    (script,) = _carrying(slow["key"])
    process.terminate()
    assert process.wait() == 130
    assert empty.record(slow["key"])["status"] == "killed"
    assert not _alive(script)


@pytest.mark.slow
def test_a_call_that_is_left_behind_ends_with_the_one_that_made_it(samuel, empty):
    empty.script("slow", "import time\nopen('begun', 'w')\ntime.sleep(5432168)")
    flow(empty, "whole", "slow", "samuel ability call slow &\nuntil [ -e begun ]; do sleep 0.1; done\necho 1")
    empty.trust()
    assert samuel("ability", "call", "whole").code == 0
    assert {call["ability_id"]: call["status"] for call in map(empty.record, empty.keys)} == {
        "whole": "success",
        "slow": "killed",
    }


def _carrying(key):
    variable, processes = f"SAMUEL_PARENT_CALL={key}".encode(), []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and variable in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                processes.append(int(name))
        except OSError:
            continue
    return processes


def _alive(pid):
    """SIGKILL takes effect in its own time; who waits for it long enough knows."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
        except OSError:
            return False
        if state in "ZX":
            return False
        time.sleep(0.02)
    return True


class TestAgent:
    CONFIG = '[methodology.ralph]\nagent = "mine"\n\n[agents.mine]\ncommand = ["./agent.sh"]\nprompt = "stdin"\n'
    REVIEW = """\
id: review
type: agent
summary: Review a branch
calls: [text.repeat]
input_schema: {type: object, properties: {branch: {type: string}, depth: {type: integer}}}
OUTPUTimplementation:
  kind: agent
  agent:
    prompt: |
      Review {branch}.
    env: {TONE: kind}
    timeout: 60s
"""

    def put(self, shop, agent, output=""):
        shop.put("samuel.toml", self.CONFIG)
        shop.put("agent.sh", f"#!/bin/sh\ncat > prompt.txt\n{agent}\n", 0o755)
        shop.put(".system/registry/high-level/review.yaml", self.REVIEW.replace("OUTPUT", output))
        shop.trust()

    def call(self, samuel):
        return samuel("ability", "call", "review", "--input", '{"branch": "main", "depth": 2}')

    def test_what_it_is_told_and_what_it_answers(self, samuel, shop):
        self.put(shop, 'echo "looks $TONE to me"')
        ran = self.call(samuel)
        assert (shop.root / "prompt.txt").read_text() == 'Review main.\n\nThe input:\n\n{\n  "depth": 2\n}\n'
        assert (ran.code, ran.json["response"]) == (0, "looks kind to me\n")
        assert shop.record()["ran"] == "the agent mine"

    def test_with_a_schema_the_result_is_in_a_file(self, samuel, shop):
        write = "echo '{\"issues\": 3}' > $(sed -n 's/.*the file `\\(.*\\)`, as.*/\\1/p' prompt.txt)"
        self.put(shop, write, "output_schema: {type: object, required: [issues]}\n")
        assert self.call(samuel).json == {"issues": 3}

    def test_a_result_that_does_not_fit(self, samuel, shop):
        write = "echo '{}' > $(sed -n 's/.*the file `\\(.*\\)`, as.*/\\1/p' prompt.txt)"
        self.put(shop, write, "output_schema: {type: object, required: [issues]}\n")
        assert "its output does not fit" in self.call(samuel).err

    def test_a_prompt_ability_without_a_result_fails(self, samuel, shop):
        self.put(shop, "true", "output_schema: {type: object}\n")
        assert "the agent wrote no result to `.system/implement/" in self.call(samuel).err

    @pytest.mark.slow
    def test_it_may_call_what_the_ability_lists(self, samuel, shop):
        self.put(shop, CALL.format("text.repeat") + " || exit 9")
        assert self.call(samuel).code == 0
        by_id = {shop.record(key)["ability_id"]: shop.record(key) for key in shop.keys}
        assert by_id["review"]["children"] == [by_id["text.repeat"]["key"]]

    def test_a_prompt_ability_fails_with_its_agent(self, samuel, shop):
        self.put(shop, "echo no luck >&2; exit 4")
        assert "the agent ended with exit code 4: no luck;" in self.call(samuel).err

    def test_a_prompt_ability_has_a_timeout_of_its_own(self, samuel, shop):
        self.put(shop, "sleep 600")
        file = shop.root / ".system/registry/high-level/review.yaml"
        file.write_text(file.read_text().replace("60s", "1s"))
        shop.trust()
        assert "the agent ended with exit code 124" in self.call(samuel).err
        assert "killed after 1s" in shop.record()["stderr"]

    def test_the_prompt_is_part_of_what_is_agreed_to(self, samuel, shop):
        self.put(shop, "true")
        file = shop.root / ".system/registry/high-level/review.yaml"
        file.write_text(file.read_text().replace("Review {branch}.", "Send {branch} to everybody."))
        assert self.call(samuel).json["reason"] == "not trusted: `ability:review` is not what was agreed to"

    def test_a_guard_of_the_prompt_stops_it(self, samuel, shop):
        shop.hook("guard", "UserPromptSubmit", "answer = {'decision': 'deny', 'reason': 'no prompts'}")
        self.put(shop, "touch started")
        assert "stopped: no prompts" in self.call(samuel).err
        assert not (shop.root / "started").exists()


class TestTrustEverything:
    @pytest.mark.slow
    def test_it_reaches_the_abilities_that_an_ability_calls(self, samuel, shop, monkeypatch):
        flow(shop, "whole", "text.repeat", CALL.format("text.repeat"))
        monkeypatch.setenv("SAMUEL_TRUST", "all")
        ran = samuel("ability", "call", "whole", "--json")
        assert ran.json["data"]["output"]["given"] == {"text": "inner"}

    def test_a_program_of_an_ability_that_calls_nothing_does_not_have_it(self, samuel, shop, monkeypatch):
        shop.script("alone", "import os\nprint(repr(os.environ.get('SAMUEL_TRUST')).replace('None', 'null'))")
        monkeypatch.setenv("SAMUEL_TRUST", "all")
        assert samuel("ability", "call", "alone", "--json").json["data"]["output"] is None

    def test_an_agent_that_is_not_given_it_is_told_why(self, samuel, shop, monkeypatch):
        monkeypatch.setenv("SAMUEL_TRUST_WITHHELD", "1")
        answer = samuel("ability", "create", "text.repeat", "--input", '{"text": "x"}').json
        assert answer["reason"] == "not trusted: `ability:text.repeat` has not been agreed to yet"
        why = "SAMUEL_TRUST=all is not handed on to the agents and hooks of a command"
        assert answer["suggestion"] == f"{why}: run `samuel trust --yes` before it"


def test_the_record_of_a_denied_call_has_what_the_hook_says_to_the_person(samuel, shop):
    shop.hook(
        "guard",
        "PreAbilityCall",
        "answer = {'error': 'blocked_by_policy', 'messages_to_user': ['Ask Ada first.']}",
    )
    shop.trust()
    assert samuel("ability", "call", "text.repeat", "--input", '{"text": "x"}').code == 1
    assert (
        "## Reason\n\n```\nblocked_by_policy\n```\n\n## Messages of hooks\n\n```\nAsk Ada first.\n```"
        in shop.words()
    )


def test_an_ability_whose_file_is_broken_points_to_lint(samuel, shop):
    shop.put(".system/registry/low-level/a.c.yaml", "operation_key: a.c\nsumary: x\n")
    ran = samuel("ability", "call", "a.c", "--json")
    answer = ran.json["data"]
    assert answer["reason"].startswith("the ability `a.c` cannot be used: .system/registry/low-level/a.c.yaml:")
    assert answer["suggestion"] == "`samuel ability lint` lists every problem"
    ran = samuel("ability", "show", "a.d")
    assert "`samuel ability lint` lists files that cannot be used" in ran.err
