"""One agent process: what it is given, what is kept of it, and that nothing of it stays behind."""

from __future__ import annotations

import json
import resource
import stat
import subprocess
import uuid
from pathlib import Path
from typing import Any

import pytest

from samuel.agents.process_files import log_path
from samuel.clients.adapter.agent import Agent
from samuel.clients.adapter.ending import EndingKind
from samuel.clients.claude import adapter as claude
from samuel.process.reason import NotRunnable
from samuel.version import __version__

MB = 1024 * 1024
SECRET = "sk-very-secret"


class TestThePrompt:
    PROMPT = "0123456789abcde\n" * (MB // 16)

    def test_of_a_megabyte_comes_by_stdin(self, desk: Any) -> None:
        desk.recorder("agent")
        assert desk.run(Agent("a", ("agent", "-")), self.PROMPT).exit_code == 0
        assert desk.recorded()["stdin"] == self.PROMPT
        assert desk.recorded()["argv"][1:] == ["-"]

    def test_of_a_megabyte_comes_by_a_file_that_only_the_user_reads(self, desk: Any) -> None:
        desk.recorder("agent")
        desk.run(Agent("a", ("agent", "{prompt_file}"), prompt="file"), self.PROMPT)
        record = desk.recorded()
        assert (record["file"], record["mode"], record["stdin"]) == (self.PROMPT, "0o600", "")
        assert record["argv"][1] == str(desk.state / "prompts" / "iteration-0007.md")

    def test_comes_as_an_argument_as_long_as_it_fits(self, desk: Any) -> None:
        desk.recorder("agent")
        prompt = "x{prompt_file}" + "ä" * 60_000
        assert desk.run(Agent("a", ("agent", "--say={prompt}"), prompt="argument"), prompt).exit_code == 0
        assert desk.recorded()["argv"][1] == f"--say={prompt}"

    def test_is_never_an_option_of_the_agents_program(self, desk: Any) -> None:
        desk.recorder("agent")
        assert desk.run(Agent("a", ("agent", "{prompt}"), prompt="argument"), "--config=evil").exit_code == 0
        assert desk.recorded()["argv"][1] == "\n--config=evil"

    @pytest.mark.parametrize("size", [128 * 1024, MB])
    def test_that_is_too_long_for_an_argument_is_refused_with_a_way_out(self, desk: Any, size: int) -> None:
        desk.recorder("agent")
        with pytest.raises(NotRunnable, match=f"{size} bytes are more than the 131071 .*\n.*stdin"):
            desk.run(Agent("a", ("agent", "{prompt}"), prompt="argument"), "x" * size)
        assert not desk.record.exists()

    def test_just_short_enough_is_what_the_system_takes(self, desk: Any) -> None:
        desk.recorder("agent")
        longest = Agent("a", ("agent", "{prompt}"), prompt="argument")
        assert desk.run(longest, "x" * (128 * 1024 - 1)).exit_code == 0


class TestTheEnvironment:
    def test_has_only_what_was_named(self, desk: Any) -> None:
        desk.recorder("agent")
        host = {**desk.host, "MY_KEY": SECRET, "OTHER_KEY": "other"}
        desk.run(Agent("a", ("agent",), env=("MY_KEY", "UNSET_KEY")), environment=host)
        env = desk.recorded()["env"]
        own = {"SAMUEL_CALL", "SAMUEL_TRUST_WITHHELD"}
        assert env.keys() - {"LC_CTYPE"} == {"PATH", "HOME", "LANG", "MY_KEY", *own}
        assert env["MY_KEY"] == SECRET

    def test_a_reference_becomes_the_host_s_value_and_a_missing_one_is_said(self, desk: Any) -> None:
        desk.recorder("agent")
        env = {"KEY": "$MY_KEY", "PLAIN": "a $MY_KEY b", "GONE": "$NOT_THERE", "EMPTY": ""}
        done = desk.run(Agent("a", ("agent",)), env=env, environment={**desk.host, "MY_KEY": SECRET})
        environment = desk.recorded()["env"]
        assert (environment["KEY"], environment["PLAIN"], environment["EMPTY"]) == (SECRET, "a $MY_KEY b", "")
        assert "GONE" not in environment
        assert done.notes == ("`GONE` is left out of the agent's environment: `$NOT_THERE` is not set",)

    def test_what_the_user_trusts_is_not_the_agent_s_to_say(self, desk: Any) -> None:
        desk.recorder("agent")
        done = desk.run(Agent("a", ("agent",)), env={"SAMUEL_TRUST": "all", "T": "$SAMUEL_TRUST"})
        assert not {"SAMUEL_TRUST", "T"} & desk.recorded()["env"].keys()
        assert len(done.notes) == 2

    def test_this_run_s_variables_stand_above_the_event_s(self, desk: Any) -> None:
        desk.recorder("agent")
        desk.run(Agent("a", ("agent",)), env={"SAMUEL_TASK_ID": "9"}, variables={"SAMUEL_TASK_ID": "1"})
        assert desk.recorded()["env"]["SAMUEL_TASK_ID"] == "1"

    def test_no_secret_is_written_anywhere(self, desk: Any) -> None:
        desk.recorder("agent")
        host = {**desk.host, "MY_KEY": SECRET}
        agent = Agent("a", ("agent", "{prompt_file}"), prompt="file", env=("MY_KEY",))
        done = desk.run(agent, env={"AGAIN": "$MY_KEY"}, environment=host)
        assert desk.recorded()["env"]["AGAIN"] == SECRET
        assert SECRET not in desk.everything_on_disk()
        assert SECRET not in repr(done)

    def test_samuel_on_its_path_is_this_one(self, desk: Any) -> None:
        (desk.root / "samuel").mkdir()  # a folder of that name is not the package
        (desk.root / "samuel" / "__main__.py").write_text("print('the wrong one')")
        desk.program("samuel", "#!/bin/sh\necho the wrong one\n")
        done = desk.run(desk.sh("samuel --version; command -v samuel"))
        version, where = done.stdout_tail.splitlines()
        assert version == f"samuel {__version__}"
        assert where == str(desk.state / "bin" / "samuel")


class TestTheOutput:
    def test_is_streamed_kept_whole_and_its_tail_given_back(self, desk: Any) -> None:
        chunks: list[bytes] = []
        body = "yes 0123456789abcde | head -c 300000; echo; echo last; echo aside >&2"
        done = desk.run(desk.sh(body), on_output=chunks.append)
        log = Path(done.stdout_path)
        assert log == desk.state / "logs" / "iteration-0007.log"
        assert log.stat().st_size == 300_006
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
        assert log.with_suffix(".err").read_text() == "aside\n"
        assert len(done.stdout_tail) == 8192
        assert done.stdout_tail.endswith("\nlast\n")
        assert done.stderr_tail == "aside\n"
        assert sum(map(len, chunks)) == 300_012

    def test_comes_while_the_agent_works(self, desk: Any) -> None:
        heard_file = desk.root / "heard"  # the agent ends well only if we heard it before it ended
        wait = f"n=0; until [ -e {heard_file} ]; do n=$((n + 1)); [ $n -lt 1000 ] || exit 1; sleep 0.1; done"
        assert desk.run(desk.sh(f"echo a; {wait}"), on_output=lambda _: heard_file.touch()).exit_code == 0

    @pytest.mark.slow
    def test_without_end_is_bounded_in_memory_and_on_disk(self, desk: Any) -> None:
        """The beginning and the end are there, the usage on the last line too."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        result = '{"type": "result", "usage": {"input_tokens": 3, "output_tokens": 4}}'
        body = f"echo first; head -c 200000000 /dev/zero; echo; echo '{result}'"
        chunks: list[bytes] = []
        done = desk.run(
            desk.sh(body, stream=claude.ClaudeStream), on_output=lambda chunk: chunks.append(chunk[-100:])
        )
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 60 * 1024  # KiB; a line may take 16 MB
        log = Path(done.stdout_path)
        assert 16 * MB < log.stat().st_size <= 64 * MB
        with log.open("rb") as file:
            assert file.readline() == b"first\n"
            assert next(line for line in file if b"samuel" in line).endswith(b"bytes left out here]\n")
        assert done.usage == {"input_tokens": 3, "output_tokens": 4}
        assert done.stdout_tail.endswith(f"\n{result}\n")
        assert b"".join(chunks[-2:]).endswith(f"{result}\n".encode())
        log.unlink()

    @pytest.mark.slow
    def test_on_stderr_is_bounded_too(self, desk: Any) -> None:
        done = desk.run(desk.sh("head -c 100000000 /dev/zero >&2; echo last >&2"))
        errors = Path(done.stdout_path).with_suffix(".err")
        assert errors.stat().st_size <= 64 * MB
        assert done.stderr_tail.endswith("last\n")
        errors.unlink()

    def test_of_an_earlier_attempt_is_replaced_and_a_planted_link_not_followed(self, desk: Any) -> None:
        victim = desk.root.parent / "victim"
        victim.write_text("mine")
        (desk.state / "logs").mkdir()
        (desk.state / "logs" / "iteration-0007.log").symlink_to(victim)
        done = desk.run(desk.sh("echo hello"))
        assert victim.read_text() == "mine"
        assert Path(done.stdout_path).read_text() == "hello\n"
        assert not Path(done.stdout_path).is_symlink()
        assert Path(desk.run(desk.sh("echo again")).stdout_path).read_text() == "again\n"

    def test_of_each_run_is_in_its_own_directory_and_what_a_killed_run_left_is_kept(self, desk: Any) -> None:
        first = desk.run(desk.sh("echo first; echo aside >&2"), run_id="run-1")
        again = desk.run(desk.sh("echo again"), run_id="run-1")
        other = desk.run(desk.sh("echo other"), run_id="run-2")
        logs = desk.state / "logs"
        assert first.stdout_path == again.stdout_path == str(log_path(desk.state, "run-1", 7, "output"))
        assert other.stdout_path == str(logs / "run-2/iteration-0007.log")
        assert {str(file.relative_to(logs)): file.read_text() for file in logs.rglob("*.*")} == {
            "run-1/iteration-0007.log": "again\n",
            "run-1/iteration-0007.log.1": "first\n",
            "run-1/iteration-0007.err.1": "aside\n",
            "run-2/iteration-0007.log": "other\n",
        }

    @pytest.mark.parametrize("run_id", ["../up", "a/b", "..", ""])
    def test_of_a_run_whose_id_is_not_a_plain_name_stays_in_the_logs(self, desk: Any, run_id: str) -> None:
        done = desk.run(desk.sh("echo hello"), run_id=run_id)
        assert done.stdout_path == str(desk.state / "logs/iteration-0007.log")

    def test_prompt_file_of_a_run_is_in_its_own_directory(self, desk: Any) -> None:
        done = desk.run(desk.sh("cat {prompt_file}", prompt="file"), "the prompt", run_id="run-1")
        assert done.stdout_tail == "the prompt"
        assert (desk.state / "prompts/run-1/iteration-0007.md").read_text() == "the prompt"

    def test_tells_tokens_and_cost(self, desk: Any) -> None:
        result = {"type": "result", "usage": {"input_tokens": 5, "output_tokens": 6}, "total_cost_usd": 0.5}
        agent = desk.sh(f"echo '{json.dumps(result)}'", stream=claude.ClaudeStream)
        assert desk.run(agent).usage == {"input_tokens": 5, "output_tokens": 6, "cost_usd": 0.5}
        assert desk.run(desk.sh("echo nothing", stream=claude.ClaudeStream)).usage == {}
        assert desk.run(desk.sh("echo nothing")).usage == {}


class TestTheEnd:
    @pytest.mark.parametrize(("body", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)])
    def test_agent_that_ends_reports_its_exit_code(self, desk: Any, body: str, code: int) -> None:
        done = desk.run(desk.sh(body))
        assert (done.exit_code, done.timed_out) == (code, False)

    def test_comes_at_the_timeout_for_the_whole_tree(self, desk: Any, patiently: Any) -> None:
        mark = {"SAMUEL_TEST_MARK": uuid.uuid4().hex}
        agent = desk.sh("echo started; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' & sleep 600")
        done = patiently(
            lambda seconds: desk.run(agent, timeout=seconds, variables=mark), lambda done: done.stdout_tail
        )
        assert (done.exit_code, done.timed_out, done.stdout_tail) == (124, True, "started\n")
        assert done.ending.kind == EndingKind.TIMED_OUT
        assert not carriers(mark["SAMUEL_TEST_MARK"])

    def test_an_agent_that_is_not_there_is_said(self, desk: Any) -> None:
        with pytest.raises(
            NotRunnable, match=r"`claude` was not started: `claude` was not found(.|\n)*npm install"
        ):
            desk.run(claude.AGENT)

    def test_when_whoever_listens_fails_nothing_goes_on(self, desk: Any) -> None:
        mark = uuid.uuid4().hex

        def fail(_: bytes) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            desk.run(desk.sh("echo a; sleep 60"), on_output=fail, variables={"SAMUEL_TEST_MARK": mark})
        assert not carriers(mark)


def carriers(mark: str) -> list[str]:
    """The processes that have the mark in their environment."""
    environments = map(str, Path("/proc").glob("[0-9]*/environ"))
    return subprocess.run(["grep", "-ls", mark, *environments], capture_output=True, text=True).stdout.split()
