from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.runtimes.python import PythonRuntime

from .contract import LIMIT, RuntimeContract, event, setting

MODULE = f"""
import os, subprocess, sys, time
import samuel

@samuel.hook("context.extra")
def answers(event):
    return {{"extras": [{{"name": "a", "content": "b"}}]}}

@samuel.hook("context.extra")
def empty(event):
    pass

@samuel.hook("context.extra")
def data(event):
    return {{"data": {{"Venv": ".venv"}}, "unknown": [1]}}

@samuel.hook("context.extra")
def crash(event):
    raise RuntimeError("the reason")

@samuel.hook("context.extra")
def hang(event):
    subprocess.Popen(["sleep", "60"], start_new_session=True)
    time.sleep(60)

@samuel.hook("context.extra")
def bad(event):
    return "hello"

@samuel.hook("context.extra")
def flood(event):
    return {{"x": "x" * {4 * LIMIT}}}

@samuel.hook("context.extra")
def chatter(event):
    print("chatter")
    return {{"x": 1}}

@samuel.hook("context.extra")
def echo(event):
    task = event.task
    return dict(deadline_ms=event.deadline_ms, event="context.extra", size=len(task["text"]), id=task["id"])

def helper(event):
    return {{}}

@samuel.hook("context.extra")
def who(event):
    return {{"pid": os.getpid(), "cwd": os.getcwd(), "first": sys.path[0]}}

@samuel.hook("context.extra")
def later_exit(event):
    import threading
    threading.Timer(0.05, os._exit, (7,)).start()
    return {{}}
"""


def of(root: Path, function: str, origin: Origin = Origin.PROJECT, owner: str = "hooks") -> Handler:
    file = root / "hooks.py"
    if not file.exists():
        file.write_text(MODULE)
    return Handler(
        name=f"hooks:{function}",
        event="context.extra",
        origin=origin,
        runtime="python",
        owner=owner,
        path=str(file),
        entry=function,
    )


class TestContract(RuntimeContract):
    def build(self, root: Path) -> PythonRuntime:
        (root / "hooks.py").write_text(MODULE)
        return PythonRuntime(setting(root, root.parent / "samuel-cache"))

    def handler(self, root: Path, behaviour: str) -> Handler:
        return of(root, behaviour)


@pytest.fixture
def runtime(tmp_path: Path, marked: Any) -> Any:
    runtime = PythonRuntime(setting(tmp_path, tmp_path / "cache"))
    yield runtime
    runtime.close()


def pid(runtime: PythonRuntime, handler: Handler) -> int:
    reply = runtime.call(handler, event(), 10.0)
    assert reply.outcome is Outcome.OK, reply
    return int(reply.result["pid"])


def lives(child: int) -> bool:
    """Until the last of its threads has ended its descriptors are open; a child can be waited for only then."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


@pytest.mark.slow
def test_a_worker_stays_warm(runtime: PythonRuntime, tmp_path: Path) -> None:
    assert len({pid(runtime, of(tmp_path, "who")) for _ in range(3)}) == 1


@pytest.mark.slow
def test_hooks_of_one_directory_share_a_worker_and_plugins_do_not(runtime: PythonRuntime, tmp_path: Path) -> None:
    project = pid(runtime, of(tmp_path, "who", owner="a"))
    assert pid(runtime, of(tmp_path, "who", owner="b")) == project
    user = pid(runtime, of(tmp_path, "who", Origin.USER))
    first = pid(runtime, of(tmp_path, "who", Origin.DISTRIBUTION, owner="a"))
    two = pid(runtime, of(tmp_path, "who", Origin.DISTRIBUTION, owner="b"))
    assert len({project, user, first, two}) == 4


@pytest.mark.slow
def test_a_module_that_changed_is_loaded_anew_by_a_new_worker(runtime: PythonRuntime, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    hook = tmp_path / "importing.py"
    hook.write_text(
        "import os, sys, samuel\n"
        f"sys.path.append({str(library)!r})\n"
        "from rules import LIMIT\n"
        '@samuel.hook("context.extra")\n'
        'def limit(event):\n    return {"limit": LIMIT, "pid": os.getpid()}\n'
    )
    handler = msgspec.structs.replace(of(tmp_path, "limit"), path=str(hook))
    limits, pids = [], set()
    for rules in ("LIMIT = 1\n", None, "LIMIT = 22\n"):
        if rules is not None:
            (library / "rules.py").write_text(rules)
        reply = runtime.call(handler, event(), 30.0)
        assert reply.outcome is Outcome.OK, reply
        limits.append(reply.result["limit"])
        pids.add(reply.result["pid"])
    assert limits == [1, 1, 22]
    assert len(pids) == 2


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["hang", "flood"])
def test_after_a_kill_there_is_a_new_worker(runtime: PythonRuntime, tmp_path: Path, fault: str) -> None:
    before = pid(runtime, of(tmp_path, "who"))
    runtime.call(of(tmp_path, fault), event(), 1.0)
    assert pid(runtime, of(tmp_path, "who")) != before


@pytest.mark.slow
def test_an_exception_does_not_cost_the_worker(runtime: PythonRuntime, tmp_path: Path) -> None:
    before = pid(runtime, of(tmp_path, "who"))
    assert runtime.call(of(tmp_path, "crash"), event(), 10.0).outcome is Outcome.CRASHED
    assert pid(runtime, of(tmp_path, "who")) == before


@pytest.mark.slow
def test_a_worker_that_died_while_it_was_idle_is_not_the_next_calls_fault(
    runtime: PythonRuntime, tmp_path: Path
) -> None:
    before = pid(runtime, of(tmp_path, "who"))
    runtime.call(of(tmp_path, "later_exit"), event(), 10.0)
    until = time.monotonic() + 120
    while lives(before):
        assert time.monotonic() < until
        time.sleep(0.005)
    assert pid(runtime, of(tmp_path, "who")) != before


@pytest.mark.slow
def test_it_runs_in_the_project_and_shadows_nothing(runtime: PythonRuntime, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "beside.py").write_text("VALUE = 3")
    (tmp_path / "hooks.py").write_text(
        MODULE + "\nimport json, beside\nassert beside.VALUE == 3\njson.dumps({})\n"
    )
    reply = runtime.call(of(tmp_path, "who"), event(), 10.0)
    assert reply.outcome is Outcome.OK, reply.stderr
    assert reply.result["cwd"] == str(tmp_path)
    assert reply.result["first"] != str(tmp_path)


@pytest.mark.slow
def test_a_function_without_the_mark_is_not_called(runtime: PythonRuntime, tmp_path: Path) -> None:
    reply = runtime.call(of(tmp_path, "helper"), event(), 10.0)
    assert reply.outcome is Outcome.CRASHED
    assert "no function `helper` with @samuel.hook" in reply.message


@pytest.mark.slow
def test_describe_lists_the_decorated_functions(runtime: PythonRuntime, tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(
        "import samuel\n"
        "@samuel.hook('before_loop', 'context.extra', order=5, strict=True, timeout='3s', role='guard')\n"
        "def f(event): ...\n"
        "def g(event): ...\n"
    )
    reply = runtime.describe(str(file), "discovery", 10.0)
    declaration = {"function": "f", "order": 5, "strict": True, "timeout": "3s", "role": "guard"}
    declaration |= {"mode": None, "serial": False, "background": False}
    assert reply.result["declared"] == [
        {**declaration, "event": "before_loop"},
        {**declaration, "event": "context.extra"},
    ]


@pytest.mark.slow
def test_nothing_is_compiled_beside_the_hook(runtime: PythonRuntime, tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("VALUE = 3")
    (tmp_path / "hooks.py").write_text(MODULE + "\nimport beside\n")
    pid(runtime, of(tmp_path, "who"))
    assert not (tmp_path / "__pycache__").exists()
    assert list((tmp_path / "cache").rglob("beside*.pyc"))


LEAVING = {
    "working directory": "os.chdir('/')",
    "umask": "os.umask(0o007)",
    "variable": "os.environ['LEFT'] = '1'",
    "removed variable": "del os.environ['PATH']",
    "environment": "os.environ = dict(os.environ)",
    "path": "sys.path.insert(0, '/left')",
    "signal handler": "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "blocked signal": "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])",
    "alarm": "signal.alarm(1000)",
    "stdout": "sys.stdout = open(os.devnull, 'w')",
    "recursion limit": "sys.setrecursionlimit(5000)",
    "exception": "os.chdir('/'); raise ValueError",
}
LEAVES = """
import os, signal, sys
import samuel

{at_import}

@samuel.hook("context.extra")
def leaves(event):
    {in_call}

@samuel.hook("context.extra")
def who(event):
    umask = os.umask(0o22)
    os.umask(umask)
    state = [umask, os.getcwd(), sys.path, dict(os.environ, SAMUEL_CALL=""), type(os.environ).__name__,
             sys.getrecursionlimit(), str(signal.getsignal(signal.SIGTERM)), signal.alarm(0),
             sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))), sys.stdout is sys.__stdout__]
    return {{"pid": os.getpid(), "state": state}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", LEAVING.values(), ids=LEAVING)
def test_what_a_hook_changes_in_its_process_does_not_reach_the_next_call(
    runtime: PythonRuntime, tmp_path: Path, code: str
) -> None:
    (tmp_path / "hooks.py").write_text(LEAVES.format(at_import="", in_call=code))
    before = runtime.call(of(tmp_path, "who"), event(), 10.0).result
    assert before["state"]
    runtime.call(of(tmp_path, "leaves"), event(), 10.0)
    after = runtime.call(of(tmp_path, "who"), event(), 10.0).result
    assert after["state"] == before["state"]
    assert after["pid"] != before["pid"]


@pytest.mark.slow
def test_worker_stays_with_what_a_hook_changes_as_it_is_imported(runtime: PythonRuntime, tmp_path: Path) -> None:
    at_import = "sys.path.insert(0, '/library'); os.environ['SET'] = '1'"
    (tmp_path / "hooks.py").write_text(LEAVES.format(at_import=at_import, in_call="os.environ['SET'] = '1'"))
    first = pid(runtime, of(tmp_path, "who"))
    assert runtime.call(of(tmp_path, "leaves"), event(), 10.0).outcome is Outcome.OK
    assert pid(runtime, of(tmp_path, "who")) == first
