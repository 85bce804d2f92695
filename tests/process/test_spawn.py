from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from samuel.process.reason import NotRunnable
from samuel.process.spawn import Finished, run, start
from samuel.process.tree import end

Python = Callable[..., Finished]
HANGS = 300.0  # seconds: less than the programs that hang here would take, more than a busy machine takes
MB = 1024 * 1024


class TestAnOrdinaryProgram:
    def test_stdout_and_stderr_come_back_apart(self, python: Python) -> None:
        done = python("import sys; sys.stdout.write('out'); sys.stderr.write('err')")
        assert done[:4] == ("exited", 0, b"out", b"err")
        assert done.why == ""
        assert done.duration > 0

    def test_exit_code_comes_back(self, python: Python) -> None:
        assert python("raise SystemExit(1)")[:2] == ("exited", 1)

    def test_end_by_a_signal_is_a_negative_return_code(self, python: Python) -> None:
        assert python("import os; os.kill(os.getpid(), 11)")[:2] == ("exited", -signal.SIGSEGV)

    def test_program_gets_its_directory_and_environment_and_nothing_else(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        done = run(["/usr/bin/env"], cwd=str(tmp_path), env={**env, "A": "ä=1"})
        names = {line.partition("=")[0] for line in done.stdout.decode().splitlines()}
        assert names == {*env, "A", "SAMUEL_CALL"}
        assert "A=ä=1" in done.stdout.decode()
        assert run(["/bin/pwd"], cwd=str(tmp_path), env=env).stdout.decode().strip() == str(tmp_path)

    def test_a_name_is_looked_up_on_the_path_it_gets(self, env: dict[str, str], tmp_path: Path) -> None:
        program = tmp_path / "greet"
        program.write_text("#!/bin/sh\necho hello\n")
        program.chmod(0o755)
        done = run(["greet"], cwd="/", env={**env, "PATH": f"{tmp_path}:/bin"})
        assert done.stdout == b"hello\n"

    def test_no_descriptor_of_ours_leaks_into_it(self, python: Python) -> None:
        with open("/dev/null") as file:
            os.set_inheritable(file.fileno(), True)
            done = python("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))")
        assert done.stdout.startswith(b"[0, 1, 2")
        assert len(done.stdout.split(b",")) == 4  # and the one that lists them

    def test_run_leaves_no_descriptor_open(self, python: Python) -> None:
        python("")
        before = os.listdir("/proc/self/fd")
        python("print(1)", stdin=b"x" * MB)
        run(["/nowhere"], cwd="/", env={})
        assert os.listdir("/proc/self/fd") == before


class TestInput:
    def test_megabyte_of_input_comes_back(self, env: dict[str, str]) -> None:
        payload = os.urandom(MB)
        done = run(["/bin/cat"], cwd="/", env=env, stdin=payload, timeout=300)
        assert done.ended == "exited"
        assert done.stdout == payload

    @pytest.mark.parametrize("size", [0, 1, 4096, 4097, 65536, 65537])
    def test_inputs_around_the_size_of_a_pipe_come_back(self, env: dict[str, str], size: int) -> None:
        assert run(["/bin/cat"], cwd="/", env=env, stdin=b"x" * size, timeout=300).stdout == b"x" * size

    def test_program_need_not_read_its_input(self, env: dict[str, str]) -> None:
        assert run(["/bin/true"], cwd="/", env=env, stdin=b"x" * MB, timeout=300)[:2] == ("exited", 0)

    def test_program_may_close_its_input_early(self, python: Python) -> None:
        code = "import os, time; os.read(0, 10); os.close(0); time.sleep(.05); print('well')"
        assert python(code, stdin=b"x" * MB)[:3] == ("exited", 0, b"well\n")

    def test_empty_input_ends_at_once(self, env: dict[str, str]) -> None:
        assert run(["/bin/cat"], cwd="/", env=env, timeout=300)[:3] == ("exited", 0, b"")


class TestOutput:
    def test_a_hundred_megabytes_are_cut_off(self, python: Python) -> None:
        code = "import os\nfor _ in range(1600): os.write(1, b'x' * 65536)"
        done = python(code, output_limit=MB)
        assert done.ended == "too_much_output"
        assert done.stdout == b"x" * MB

    def test_exactly_the_limit_is_fine(self, python: Python) -> None:
        assert python("print('x' * 99)", output_limit=100)[:2] == ("exited", 0)
        assert python("print('x' * 100)", output_limit=100).ended == "too_much_output"

    def test_end_of_a_long_stderr_is_kept(self, python: Python) -> None:
        done = python("import os\nfor _ in range(160): os.write(2, b'x' * 65536)\nos.write(2, b'last')")
        assert done.ended == "exited"
        assert len(done.stderr) == 64 * 1024
        assert done.stderr.endswith(b"xlast")

    def test_output_can_be_watched_while_it_comes(self, python: Python, env: dict[str, str]) -> None:
        code = "import os, sys\nos.write(1, b'a'); sys.stdin.read(1); os.write(2, b'b')"
        chunks: list[bytes] = []
        python(code, on_output=chunks.append)
        assert sorted(chunks) == [b"a", b"b"]

    def test_each_stream_can_be_copied(self, python: Python) -> None:
        out, err = bytearray(), bytearray()
        code = "import os\nos.write(1, b'hello'); os.write(2, b'trouble')"
        done = python(code, stdout_to=out.extend, stderr_to=err.extend)
        assert (bytes(out), bytes(err)) == (b"hello", b"trouble")
        assert done.stdout == b"hello"

    def test_a_watcher_that_fails_ends_the_call(self, python: Python) -> None:
        def watch(chunk: bytes) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            python("print(1, flush=True); import time; time.sleep(60)", on_output=watch)


class TestTheDeadline:
    def test_hanging_program_is_ended(self, python: Python, patiently: Any) -> None:
        code = "import time; print(1, flush=True); time.sleep(600)"
        done = patiently(lambda seconds: python(code, timeout=seconds), lambda done: done.stdout)
        assert done.ended == "timed_out"
        assert done.stdout == b"1\n"
        assert done.duration < HANGS

    def test_hanging_program_that_closed_its_output_is_ended(self, python: Python) -> None:
        done = python("import os, time; os.close(1); os.close(2); time.sleep(600)", timeout=0.5)
        assert done.duration < HANGS

    def test_program_that_ignores_sigterm_is_killed(self, python: Python, patiently: Any) -> None:
        code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(600)"
        done = patiently(lambda seconds: python(code, timeout=seconds), lambda done: done.stdout)
        assert (done.ended, done.stdout) == ("timed_out", b"1\n")
        assert done.duration < HANGS

    def test_stopped_program_is_ended(self, python: Python) -> None:
        assert python("import os; os.kill(os.getpid(), 19)", timeout=0.3).duration < HANGS

    def test_program_that_writes_without_end_is_ended(self, python: Python) -> None:
        done = python("import os\nwhile 1: os.write(2, b'x' * 65536)", timeout=0.5)
        assert done.ended == "timed_out"
        assert done.duration < HANGS

    def test_program_may_clean_up_within_its_grace_period(self, python: Python, patiently: Any) -> None:
        code = """
import signal, sys, time
def stop(*_): print("x" * 200_000); print("cleaned up"); sys.exit(3)
signal.signal(15, stop); print(flush=True); time.sleep(600)
"""
        done = patiently(lambda seconds: python(code, timeout=seconds, grace=60.0), lambda done: done.stdout)
        assert done.ended == "timed_out"
        assert done.stdout.endswith(b"cleaned up\n")
        assert done.duration < HANGS

    def test_fifty_children_that_ignore_sigterm_are_killed(self, python: Python, patiently: Any) -> None:
        code = """
import os, signal, time
signal.signal(15, signal.SIG_IGN)
for _ in range(50):
    if os.fork() == 0: break
print("all there", flush=True)
time.sleep(600)
"""
        done = patiently(lambda seconds: python(code, timeout=seconds), lambda done: b"all there" in done.stdout)
        assert done.ended == "timed_out"
        assert done.duration < HANGS


DAEMON = """
import os, sys, time
if os.fork(): {parent}
os.setsid()
{again}
{close}
time.sleep(600)
"""
STAYS, GOES = "time.sleep(600)", "os._exit(0)"
TWICE = "if os.fork(): os._exit(0)"
QUIET = "n = os.open('/dev/null', os.O_RDWR); [os.dup2(n, fd) for fd in (0, 1, 2)]"


class TestNothingStaysBehind:
    """The `env` fixture checks it; here are the ways to try."""

    @pytest.mark.parametrize("parent", [STAYS, GOES], ids=["parent hangs", "parent exits"])
    @pytest.mark.parametrize("again", ["", TWICE], ids=["setsid", "double fork"])
    @pytest.mark.parametrize("close", ["", QUIET], ids=["holds the pipes", "quiet"])
    def test_daemon_of_a_call_is_ended(self, python: Python, parent: str, again: str, close: str) -> None:
        timeout = 0.6 if parent == STAYS else HANGS
        done = python(DAEMON.format(parent=parent, again=again, close=close), timeout=timeout)
        assert done.ended == ("timed_out" if parent == STAYS else "exited")
        assert done.duration < HANGS

    def test_grandchild_that_holds_the_output_is_ended(self, python: Python) -> None:
        code = "import os, time\nif os.fork(): print('mine', flush=True); os._exit(7)\ntime.sleep(600)"
        done = python(code)
        assert done[:3] == ("exited", 7, b"mine\n")
        assert 0.2 < done.duration < HANGS

    def test_output_of_a_grandchild_in_time_counts(self, python: Python) -> None:
        code = "import os, time\nif os.fork(): os._exit(0)\ntime.sleep(.05); print('late', flush=True)"
        assert python(code)[:3] == ("exited", 0, b"late\n")

    def test_daemon_without_its_environment_is_ended_while_its_parent_lives(
        self, python: Python, tmp_path: Path, patiently: Any
    ) -> None:
        code = f"""
import os, time
if os.fork(): time.sleep(600)
os.setsid()
os.execve("/bin/sh", ["sh", "-c", "echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; sleep 600"], {{}})
"""
        reached = (tmp_path / "pid").exists
        assert patiently(lambda seconds: python(code, timeout=seconds), lambda _: reached()).ended == "timed_out"
        assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()

    def test_interrupt_ends_the_program(self, env: dict[str, str], tmp_path: Path) -> None:
        def interrupt(chunk: bytes) -> None:
            signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            run(["/bin/sh", "-c", "echo; sleep 60"], cwd="/", env=env, on_output=interrupt)

    def test_interrupt_while_waiting_ends_the_program(self, env: dict[str, str]) -> None:
        main = threading.get_ident()

        def interrupt_soon(chunk: bytes) -> None:
            threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()

        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            run(
                ["/bin/sh", "-c", "setsid sleep 600 & echo; sleep 600"], cwd="/", env=env, on_output=interrupt_soon
            )
        assert time.monotonic() - begun < HANGS


class TestNotStarted:
    def refused(self, argv: list[str], env: Mapping[str, str], cwd: str = "/") -> str:
        done = run(argv, cwd=cwd, env=env)
        assert done.ended == "not_started"
        assert done.stdout == done.stderr == b""
        return done.why

    def test_missing_program_is_reported(self, env: dict[str, str]) -> None:
        assert self.refused(["/no/such"], env) == "`/no/such` does not exist"
        assert self.refused(["no-such"], env) == f"`no-such` was not found on PATH ({env['PATH']})"
        assert self.refused([], env) == "there is no program to run: the command is empty"

    def test_missing_working_directory_is_reported(self, env: dict[str, str]) -> None:
        why = self.refused(["/bin/true"], env, cwd="/no/where")
        assert why == "the working directory `/no/where` does not exist"

    def test_directory_instead_of_a_program_is_reported(self, env: dict[str, str]) -> None:
        assert self.refused(["/tmp"], env) == "`/tmp` is a directory"

    @pytest.mark.parametrize(
        ("content", "mode", "why"),
        [
            ("#!/bin/sh\n", 0o644, "`./hook` is not executable; `chmod +x ./hook`"),
            (
                "echo 1\n",
                0o755,
                "`./hook` has no shebang line (`#!/bin/sh`) and is not a program for this machine",
            ),
            (
                "#!/no/such/sh\n",
                0o755,
                "`./hook` names an interpreter that cannot be run: `#!/no/such/sh`",
            ),
            (
                "#!/bin/sh\r\n",
                0o755,
                "`./hook` names an interpreter that cannot be run: `#!/bin/sh\\r`",
            ),
        ],
    )
    def test_file_that_is_not_a_program_is_reported(
        self, env: dict[str, str], tmp_path: Path, content: str, mode: int, why: str
    ) -> None:
        (tmp_path / "hook").write_bytes(content.encode())
        (tmp_path / "hook").chmod(mode)
        assert self.refused(["./hook"], env, cwd=str(tmp_path)) == why

    def test_dangling_link_instead_of_a_program_is_reported(self, env: dict[str, str], tmp_path: Path) -> None:
        (tmp_path / "hook").symlink_to("gone")
        why = self.refused(["./hook"], env, cwd=str(tmp_path))
        assert why == "`./hook` is a link to something that does not exist"

    def test_arguments_that_are_too_long_are_reported(self, env: dict[str, str]) -> None:
        why = self.refused(["/bin/true", "x" * 5 * MB], env)
        assert why == "the arguments and environment of `/bin/true` are longer than the system allows"

    def test_nul_in_an_argument_is_reported(self, env: dict[str, str]) -> None:
        assert "embedded null byte" in self.refused(["/bin/true", "a\0b"], env)
        assert "embedded null byte" in self.refused(["/bin/tr\0ue"], env)
        assert "embedded null byte" in self.refused(["/bin/true"], {**env, "A": "a\0b"})
        assert "illegal environment variable name" in self.refused(["/bin/true"], {**env, "A=B": ""})

    def test_argument_that_cannot_be_encoded_is_reported(self, env: dict[str, str]) -> None:
        assert "surrogates not allowed" in self.refused(["/bin/true", "\ud800"], env)

    def test_start_raises_for_a_program_that_cannot_run(self, env: dict[str, str]) -> None:
        with pytest.raises(NotRunnable, match="does not exist"):
            start(["/no/such"], cwd="/", env=env)


@pytest.mark.slow
def test_twenty_threads_can_run_programs_at_once(env: dict[str, str]) -> None:
    script = "setsid sleep 60 >/dev/null 2>&1 & cat; exit $1"

    def run_one(number: int) -> Finished:
        argv = ["/bin/sh", "-c", script, "sh", str(number)]
        return run(argv, cwd="/", env=env, stdin=f"{number}".encode(), timeout=300)

    with ThreadPoolExecutor(20) as pool:
        for number, done in enumerate(pool.map(run_one, range(60))):
            assert done[:3] == ("exited", number, f"{number}".encode())


def test_a_worker_is_left_alone_until_it_is_ended(env: dict[str, str]) -> None:
    worker = start(["/bin/sh", "-c", "setsid sleep 60 & cat"], cwd="/", env=env)
    with worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        for _ in range(3):
            assert run(["/bin/true"], cwd="/", env=env)[:2] == ("exited", 0)
        worker.stdin.write(b"still here\n")
        worker.stdin.flush()
        assert worker.stdout.readline() == b"still here\n"
        end(worker, grace=10)
        assert worker.returncode == -signal.SIGTERM


WITHOUT = """
import os, sys
from samuel.process import ledger, procfs
{cut}
from samuel.process.spawn import run
env = dict(os.environ)
print(run(["/bin/cat"], cwd="/", env=env, stdin=b"x" * 300_000, timeout=300)[:2])
print(run(["/bin/sh", "-c", "exit 3"], cwd="/", env=env, timeout=300)[:2])
print(run(["/bin/sh", "-c", "sleep 600 & exit 4"], cwd="/", env=env, timeout=300)[:2])
print(run(["/bin/sh", "-c", "sleep 600; exit 5"], cwd="/", env=env, timeout=.3, grace=60)[:2])
"""


@pytest.mark.parametrize(
    "cut",
    [
        "del os.pidfd_open",
        "del os.pidfd_open; ledger.LEDGER.linux = False",
        "del os.pidfd_open, os.waitid; ledger.LEDGER.linux = False",
    ],
    ids=["no pidfd", "no lists of children", "no waitid"],
)
def test_run_works_without_pidfd_and_subreaper(env: dict[str, str], cut: str) -> None:
    done = run([sys.executable, "-c", WITHOUT.format(cut=cut)], cwd="/", env=env, timeout=300)
    assert done.stderr == b""
    assert done.stdout.decode().splitlines() == [
        "('exited', 0)",
        "('exited', 3)",
        "('exited', 4)",
        "('timed_out', -15)",
    ]


class OnceItPrinted:
    """Ends a program after its first output, and asks for its CPU time meanwhile."""

    every = 0.05

    def __init__(self) -> None:
        self.output = b""
        self.cpu: list[float | None] = []

    def take(self, chunk: bytes) -> None:
        self.output += chunk

    def __call__(self, cpu_seconds: Callable[[], float | None]) -> bool:
        self.cpu.append(cpu_seconds())
        return b"enough" in self.output


class TestAProgramThatIsStopped:
    def test_ends_as_at_its_deadline_with_its_output_so_far(self, env: dict[str, str], tmp_path: Path) -> None:
        check = OnceItPrinted()
        body = "trap 'echo bye; exit 0' TERM; echo enough; while :; do sleep 0.1; done"
        done = run(
            ["/bin/sh", "-c", body], cwd=str(tmp_path), env=env, stop=check, on_output=check.take, grace=HANGS
        )
        assert (done.ended, done.stdout) == ("stopped", b"enough\nbye\n")

    @pytest.mark.slow
    def test_is_asked_about_though_it_prints_nothing_and_its_cpu_time_is_that_of_the_tree(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        check = OnceItPrinted()
        check.take(b"")
        body = "(i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done); echo enough; sleep 600"
        done = run(["/bin/sh", "-c", body], cwd=str(tmp_path), env=env, stop=check, on_output=check.take)
        assert done.ended == "stopped"
        if sys.platform == "linux":
            assert (check.cpu[-1] or 0) > 0
        assert len(check.cpu) > 1
