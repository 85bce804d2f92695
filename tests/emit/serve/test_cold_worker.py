"""A call without a server runs Python hooks in a fork of itself, which to them is like a new interpreter."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .served_project import ALLOWED, DENIED, GUARD, INSTALLATION, ServedProject, eventually

OTHER_INTERPRETER = {"PYTHONHASHSEED": "0"}  # a variable that a fork cannot follow: a worker is started instead

PROBE = """
import gc, json, os, pathlib, platform, signal, subprocess, sys, textwrap, urllib.parse, uuid
import msgspec
import samuel

class Documented(msgspec.Struct):
    '''In
        two lines.'''

def targets():
    found = []
    for fd in sorted(map(int, os.listdir("/proc/self/fd"))):
        try:
            found.append((fd, os.readlink(f"/proc/self/fd/{fd}").partition(":")[0]))
        except OSError:
            pass
    return sorted(kind for fd, kind in found if fd > 2), [kind for fd, kind in found if fd <= 2]

@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    print("printed")
    print("warned", file=sys.stderr)
    assert os.environ.pop("SAMUEL_CALL")
    state = {
        "environ": dict(os.environ),
        "environ_of_program": sorted(subprocess.check_output(["/usr/bin/env", "-0"], text=True).split("\\0")),
        "path": sys.path, "argv": sys.argv[:1], "cwd": os.getcwd(), "leads": os.getsid(0) == os.getpid(),
        "stdin": sys.stdin.read(), "files": targets(), "prefix": sys.pycache_prefix,
        "bytecode": sys.dont_write_bytecode, "main": sorted(vars(sys.modules["__main__"]))[:3],
        "signals": [str(signal.getsignal(number)) for number in (2, 1, 13, 14, 15)],
        "mask": [str(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
        "streams": [(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.write_through,
                     type(s.buffer).__name__) for s in (sys.stdin, sys.stdout, sys.stderr)],
        "umask": os.umask(0o22), "collects": gc.isenabled(),
        "finders": [getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path],
        "modules": [module.__spec__.origin for module in (platform, textwrap, urllib.parse)],
        "uri": pathlib.Path("/a b").as_uri(), "linux": uuid._LINUX, "schema": msgspec.json.schema(Documented),
        "forked": "samuel.cli.emit_event" in sys.modules,
    }
    with open(os.environ["HOME"] + "/state", "w") as file:
        json.dump(state, file)
"""


def _state(served: ServedProject, **variables: str) -> dict[str, Any]:
    # The real program: the environment of the one that tests start otherwise is that of another process.
    command = (f"{INSTALLATION}/samuel", "emit")
    answer = served.run(command, "PreAbilityCall", stdin=ALLOWED, SAMUEL_SERVE="off", **variables)
    assert answer.code == 0, answer
    state: dict[str, Any] = json.loads((served.home / "state").read_text())
    return state


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables",
    [{}, {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}, {"SECRET_TOKEN": "s3cret", "LANG": "C"}],
    ids=["plain", "variables of the interpreter", "a secret"],
)
def test_forked_worker_looks_like_a_new_interpreter(served: ServedProject, variables: dict[str, str]) -> None:
    served.files.python_hook("guard", PROBE)
    fork = _state(served, **variables)
    interpreter = _state(served, **variables, **OTHER_INTERPRETER)
    assert fork.pop("forked")
    assert not interpreter.pop("forked")
    assert "s3cret" not in json.dumps(fork)
    # What `-c` leaves in the namespace is of no use to hooks.
    assert fork.pop("main") is not None
    interpreter.pop("main")
    assert fork == interpreter


def test_records_of_a_forked_worker_are_those_of_a_started_one(served: ServedProject) -> None:
    served.files.python_hook("guard", GUARD)
    answers = [served.cold("PreAbilityCall", stdin=DENIED, **more) for more in ({}, OTHER_INTERPRETER)]
    assert answers[0] == answers[1]
    assert answers[0].code == 2
    assert served.calls_of_guard() == 2


CRASHES = {
    "exit": "import os; os._exit(3)",
    "signal": "import os; os.kill(os.getpid(), 9)",
    "exception": "raise ValueError('wrong')",
    "exit of the interpreter": "raise SystemExit(0)",
    "stack": "f = lambda: f(); f()",
    "unwinding": "import threading; threading.Thread(target=lambda: 1 / 0).start(); raise KeyboardInterrupt",
}


@pytest.mark.parametrize("code", CRASHES.values(), ids=CRASHES)
def test_guard_that_crashes_in_a_fork_denies_with_the_same_words(served: ServedProject, code: str) -> None:
    head, _, _ = GUARD.partition("    with open")
    served.files.python_hook("guard", f"{head}    {code}\n")
    forked = served.cold("PreAbilityCall", stdin=ALLOWED)
    started = served.cold("PreAbilityCall", stdin=ALLOWED, **OTHER_INTERPRETER)
    assert forked == started
    assert forked.code == 2
    assert b"Traceback" not in forked.err


def test_nothing_of_a_forked_worker_is_left_at_its_deadline(served: ServedProject) -> None:
    served.files.config('[hooks.PreAbilityCall]\ntimeout = "1s"\n')
    served.files.python_hook(
        "guard",
        """
import os, time
import samuel

@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    for leave_session in (False, True):
        if not os.fork():
            if leave_session:
                os.setsid()
            with open(os.environ["HOME"] + f"/pid-{leave_session}", "w") as file:
                file.write(str(os.getpid()))
            time.sleep(600)
    time.sleep(600)
""",
    )
    answer = served.cold("PreAbilityCall", stdin=ALLOWED)
    assert answer.code == 2
    assert b"killed after 1s" in answer.err
    for name in ("pid-False", "pid-True"):
        pid = int((served.home / name).read_text())
        eventually(lambda pid=pid: not Path(f"/proc/{pid}").exists(), f"{pid} still runs")


def test_caller_that_is_killed_takes_its_forked_worker_along(served: ServedProject) -> None:
    served.files.python_hook(
        "guard",
        """
import os, time
import samuel

@samuel.hook("PreAbilityCall", role="guard")
def guard(event):
    with open(os.environ["HOME"] + "/pid", "w") as file:
        file.write(str(os.getpid()))
    os.kill(os.getppid(), 9)
    time.sleep(600)
""",
    )
    assert served.cold("PreAbilityCall", stdin=ALLOWED).code in (-9, 128 + 9)
    pid = int((served.home / "pid").read_text())
    eventually(lambda: not Path(f"/proc/{pid}").exists() or _is_dead(pid), f"{pid} still runs")


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] in "ZX"
    except OSError:
        return not os.path.exists(f"/proc/{pid}")


def test_assertions_of_a_guard_hold_with_an_interpreter_that_ignores_its_own(served: ServedProject) -> None:
    head, _, _ = GUARD.partition("    with open")
    served.files.python_hook("guard", f"{head}    assert event is None\n")
    optimized = (f"{INSTALLATION}/python", "-O", "-m", "samuel", "emit")
    answer = served.run(optimized, "PreAbilityCall", stdin=ALLOWED, SAMUEL_SERVE="off")
    assert answer.code == 2, answer
