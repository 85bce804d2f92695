from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from samuel.process import procfs
from samuel.process.spawn import run, start
from samuel.process.tree import end

Wait = Callable[[Callable[[], bool]], None]


def driver(code: str, env: dict[str, str]) -> str:
    """Run a program that uses Samuel, in a process of its own: what it says, one line a fact."""
    done = run([sys.executable, "-W", "error", "-c", code], cwd="/", env=env, timeout=300)
    assert done.stderr == b""
    return done.stdout.decode()


class TestTheHostProgram:
    def test_children_of_the_host_program_keep_running_and_keep_their_return_code(
        self, env: dict[str, str]
    ) -> None:
        with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, env=env) as lives:
            dead = subprocess.Popen(["/bin/sh", "-c", "exit 42"], env=env)
            apart = subprocess.Popen(["/bin/sh", "-c", "exit 43"], env=env, start_new_session=True)
            os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
            os.waitid(os.P_PID, apart.pid, os.WEXITED | os.WNOWAIT)
            for script in ("exit 0", "setsid sleep 60 & exit 0", "sleep 60"):
                run(["/bin/sh", "-c", script], cwd="/", env=env, timeout=0.4)
            assert lives.poll() is None
            assert (dead.wait(), apart.wait()) == (42, 43)
        assert lives.returncode == 0

    def test_orphans_of_the_host_program_are_not_killed(
        self, env: dict[str, str], tmp_path: Path, wait_for: Wait
    ) -> None:
        # While one of ours lives, orphans come to this process.
        with start(["/bin/cat"], cwd="/", env=env) as worker:
            self.left_alone(env, tmp_path, wait_for)
        end(worker)

    def left_alone(self, env: dict[str, str], tmp_path: Path, wait_for: Wait) -> None:
        pid = self.orphan(env, tmp_path)
        wait_for(lambda: pid in procfs.main_thread_children())
        run(["/bin/true"], cwd="/", env=env)
        stat = procfs.stat(pid)
        assert stat is not None
        assert not stat.dead
        end(pid)

    def test_orphans_of_the_host_program_go_to_init_while_no_call_is_alive(
        self, env: dict[str, str], tmp_path: Path, wait_for: Wait
    ) -> None:
        run(["/bin/true"], cwd="/", env=env)
        pid = self.orphan(env, tmp_path)
        assert pid not in procfs.children(os.getpid())
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: (stat := procfs.stat(pid)) is None or stat.dead)

    def orphan(self, env: dict[str, str], tmp_path: Path) -> int:
        """The number of a process whose parent, a child of the host, has ended."""
        pid_file = tmp_path / "pid"
        script = f"setsid sleep 60 & echo $! > {pid_file}"
        subprocess.run(["/bin/sh", "-c", script], env=env, check=True)
        return int(pid_file.read_text())

    def test_a_taken_exit_status_is_not_a_success(self, env: dict[str, str]) -> None:
        code = """
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from samuel.process.spawn import run
print(run(["/bin/true"], cwd="/", env=dict(os.environ))[:2])
"""
        assert driver(code, env) == "('exited', 255)\n"

    def test_fork_of_the_host_program_can_start_processes_too(self, env: dict[str, str]) -> None:
        code = """
import os
from samuel.process.spawn import run
env = dict(os.environ)
script = "setsid sleep 60 >/dev/null 2>&1 & exit 3"
run(["/bin/true"], cwd="/", env=env)
child = os.fork()
done = run(["/bin/sh", "-c", script], cwd="/", env=env)
if child == 0: os._exit(done.returncode)
print(done.returncode, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
        assert driver(code, env) == "3 3\n"


ESCAPE = '''
import os, pathlib, tempfile
from samuel.process.spawn import run, start
from samuel.process import tree
script = """
env -i setsid sh -c 'echo $$ > "$0"; exec sleep 60' "$1" >/dev/null 2>&1 &
while [ ! -s "$1" ]; do sleep .01; done
"""
def escape():
    with tempfile.TemporaryDirectory() as home:
        run(["/bin/sh", "-c", script, "sh", home + "/pid"], cwd="/", env=dict(os.environ))
        return int(pathlib.Path(home, "pid").read_text())
'''


class TestAProcessOfOurOwn:
    def test_daemon_without_any_mark_is_killed_in_our_own_process(self, env: dict[str, str]) -> None:
        code = """
tree.own_all_children()
worker = start(["/bin/cat"], cwd="/", env=dict(os.environ))
print(os.path.exists(f"/proc/{escape()}"))
print(worker.poll())
tree.end(worker)
worker.communicate()
"""
        assert driver(ESCAPE + code, env) == "False\nNone\n"

    def test_daemon_without_any_mark_is_left_alone_in_a_host_program(self, env: dict[str, str]) -> None:
        code = """
import time
pid = escape()
print(os.path.exists(f"/proc/{pid}"))
tree.own_all_children()
run(["/bin/true"], cwd="/", env=dict(os.environ))
print(os.path.exists(f"/proc/{pid}"))
"""
        assert driver(ESCAPE + code, env) == "True\nFalse\n"

    def test_daemon_without_any_mark_is_left_alone_during_another_call(
        self, env: dict[str, str], tmp_path: Path
    ) -> None:
        go = tmp_path / "go"
        code = (
            f"go = {str(go)!r}\n"
            + """
import threading
tree.own_all_children()
running = threading.Event()
thread = threading.Thread(target=lambda: run(["/bin/sh", "-c", f"echo; until [ -e '{go}' ]; do sleep 0.05; done"],
    cwd="/", env=dict(os.environ), on_output=lambda _: running.set(), timeout=300.0))
thread.start(); running.wait()
pid = escape()
print(os.path.exists(f"/proc/{pid}"))
open(go, "w").close()
thread.join()
print(os.path.exists(f"/proc/{pid}"))
"""
        )
        assert driver(ESCAPE + code, env) == "True\nFalse\n"

    def test_chain_of_forks_into_new_sessions_is_ended(self, env: dict[str, str]) -> None:
        code = """
import sys
from samuel.process import procfs
chain = '''
import os, signal, time
signal.signal(15, signal.SIG_IGN)
for _ in range(20_000):  # it ends by itself, should we fail
    if os.fork(): os._exit(0)
    os.setsid()
    time.sleep(.005)
'''
tree.own_all_children()
done = run([sys.executable, "-c", chain], cwd="/", env=dict(os.environ), timeout=300)
print(done.ended, done.duration < 50, procfs.main_thread_children())
"""
        assert driver(ESCAPE + code, env) == "exited True []\n"


class TestASamuelInsideASamuel:
    INNER = """
import os, sys
from samuel.process.spawn import run
run(["/bin/sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo; sleep 600"], cwd="/", env=dict(os.environ),
    on_output=lambda _: print("running", flush=True))
"""

    def test_processes_of_an_inner_samuel_end_with_it(self, env: dict[str, str], patiently: Any) -> None:
        command = [sys.executable, "-c", self.INNER]
        done = patiently(lambda seconds: run(command, cwd="/", env=env, timeout=seconds), lambda done: done.stdout)
        assert (done.ended, done.stdout) == ("timed_out", b"running\n")

    def test_processes_of_a_killed_inner_samuel_end_too(self, env: dict[str, str], wait_for: Wait) -> None:
        killed_by_its_own_call = "import os, sys\n" + self.INNER.replace(
            'print("running", flush=True)', "os.kill(os.getpid(), 9)"
        )
        assert run([sys.executable, "-c", killed_by_its_own_call], cwd="/", env=env)[:2] == ("exited", -9)


class TestEnd:
    def test_worker_that_ignores_sigterm_is_killed(self, env: dict[str, str]) -> None:
        script = "trap '' TERM; sleep 60 & setsid sleep 60 & echo; sleep 60"
        with start(["/bin/sh", "-c", script], cwd="/", env=env) as worker:
            assert worker.stdout is not None
            worker.stdout.readline()
            end(worker, grace=0.1)
            assert worker.returncode == -9

    def test_dead_worker_leaves_no_process_behind(self, env: dict[str, str]) -> None:
        with start(["/bin/sh", "-c", "setsid sleep 60 & exit 5"], cwd="/", env=env) as worker:
            assert worker.wait() == 5
            end(worker)
            assert worker.returncode == 5

    def test_ending_a_worker_twice_is_harmless(self, env: dict[str, str]) -> None:
        with start(["/bin/sleep", "60"], cwd="/", env=env) as worker:
            end(worker, grace=10)
            end(worker, grace=10)
            assert worker.returncode == -15

    def test_worker_can_be_ended_by_its_pid(self, env: dict[str, str]) -> None:
        with subprocess.Popen(["/bin/sleep", "60"], env=env) as process:
            end(process.pid)
            assert not Path(f"/proc/{process.pid}").exists()
            process.returncode = -15


def test_a_name_with_brackets_does_not_confuse_stat(env: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / ") R 1 ("
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    with start([str(program), "60"], cwd="/", env=env) as process:
        stat = procfs.stat(process.pid)
        assert stat is not None
        assert (stat.parent, stat.group, stat.session) == (os.getpid(), process.pid, process.pid)
        end(process)
