"""Every way in which a handler can go wrong, on real processes.

The chain has the faulty handler first and a good one behind it, on `context.extra`. Expected of the faulty one:

    fault                               exec            python (in a worker)
    exit 1                              crashed         crashed (`sys.exit(1)`, and `os._exit(1)`)
    killed by a signal                  crashed         crashed
    not JSON                            bad_output      bad_output (a value that is no JSON data)
    JSON of the wrong shape             bad_output      bad_output
    a list instead of an object         bad_output      bad_output
    nothing                             ok              ok
    100 MB of output                    bad_output      bad_output (returned), ok (printed: that is stderr)
    hang                                timed_out       timed_out
    hang, ignoring TERM                 timed_out       timed_out
    grandchild holds stdout             ok              ok
    setsid daemon                       ok              ok
    forks 50 children                   ok              ok
    closes stdin early                  ok              ok
    invalid UTF-8                       bad_output      bad_output (a lone surrogate)
    NaN                                 bad_output      bad_output
    no shebang / no function any more   not_started     crashed
    a syntax error meanwhile            crashed         crashed
    deleted meanwhile                   not_started     not_started

`ok` is no fault: it neither warns nor stops, strict or not. Of all others: strict stops, not strict warns. In all
cases the next handler runs, and no process is left.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.length import combined

from samuel.hooks.handler import Outcome
from samuel.testing import SamuelProject

EXTRA = '{"extras": [{"name": "faulty.md", "content": "said before the fault"}]}'
STRICT_OR_NOT = [True, False]
TASK = {"id": "1", "description": "x" * 200_000}  # more than a pipe holds


class Fault(NamedTuple):
    body: str
    outcome: Outcome
    says: str = ""  # a part of the message
    timeout: float = 120.0  # a busy machine is no fault
    answers: bool = False  # its answer is in the result
    then: Callable[[Path], object] | None = None  # what happens to the file between discovery and call

    @property
    def fatal(self) -> bool:
        return self.outcome is not Outcome.OK


def rewrite(text: str) -> Callable[[Path], object]:
    return lambda file: file.write_text(text)


EXEC = {
    "exit 1": Fault("echo why >&2; exit 1", Outcome.CRASHED, "exit code 1: why"),
    "killed by a signal": Fault("kill -SEGV $$", Outcome.CRASHED, "killed by SIGSEGV"),
    "not JSON": Fault("echo hello", Outcome.BAD_OUTPUT, "not JSON"),
    "JSON of the wrong shape": Fault("""echo '{"extras": "text"}'""", Outcome.BAD_OUTPUT, "extras"),
    "a list": Fault("echo '[1]'", Outcome.BAD_OUTPUT, "not a list"),
    "nothing": Fault("true", Outcome.OK),
    "100 MB of output": Fault("head -c 100000000 /dev/zero", Outcome.BAD_OUTPUT, "handler_output_bytes"),
    "hang": Fault("sleep 600", Outcome.TIMED_OUT, "after 0.5s", 0.5),
    "hang, ignoring TERM": Fault("trap '' TERM; sleep 600", Outcome.TIMED_OUT, "after 0.5s", 0.5),
    "grandchild holds stdout": Fault(f"echo '{EXTRA}'; sleep 600 &", Outcome.OK, answers=True),
    "setsid daemon": Fault(
        f"setsid sleep 600 </dev/null >/dev/null 2>&1 & echo '{EXTRA}'", Outcome.OK, answers=True
    ),
    "forks 50 children": Fault(
        f"i=0; while [ $i -lt 50 ]; do sleep 600 & i=$((i+1)); done; echo '{EXTRA}'", Outcome.OK, answers=True
    ),
    "closes stdin early": Fault(f"exec 0<&-; echo '{EXTRA}'", Outcome.OK, answers=True),
    "invalid UTF-8": Fault(
        r"""printf '{"extras": [{"name": "a", "content": "\377"}]}'""", Outcome.BAD_OUTPUT, "UTF-8"
    ),
    "NaN": Fault("""echo '{"x": NaN}'""", Outcome.BAD_OUTPUT, "not JSON"),
    "no shebang": Fault("true", Outcome.NOT_STARTED, "no shebang", then=rewrite("echo hello\n")),
    "a syntax error meanwhile": Fault("true", Outcome.CRASHED, "exit code 2", then=rewrite("#!/bin/sh\nif\n")),
    "not executable meanwhile": Fault(
        "true", Outcome.NOT_STARTED, "not executable", then=lambda file: file.chmod(0o644)
    ),
    "deleted meanwhile": Fault("true", Outcome.NOT_STARTED, "does not exist", then=Path.unlink),
}

NO_FUNCTION = "import samuel\n"
PYTHON = {
    "exit 1": Fault("sys.exit(1)", Outcome.CRASHED, "SystemExit"),
    "exit 1 at once": Fault("os._exit(1)", Outcome.CRASHED, "exit code 1"),
    "an exception": Fault("raise RuntimeError('why')", Outcome.CRASHED, "RuntimeError: why"),
    "killed by a signal": Fault("os.kill(os.getpid(), 11)", Outcome.CRASHED, "killed by SIGSEGV"),
    "not JSON": Fault("return {'x': object()}", Outcome.BAD_OUTPUT, "not plain JSON"),
    "JSON of the wrong shape": Fault("return {'extras': 'text'}", Outcome.BAD_OUTPUT, "extras"),
    "a list": Fault("return [1]", Outcome.BAD_OUTPUT, "not a list"),
    "nothing": Fault("return None", Outcome.OK),
    "100 MB returned": Fault("return {'x': 'x' * 100_000_000}", Outcome.BAD_OUTPUT, "handler_output_bytes"),
    "100 MB printed": Fault("print('x' * 100_000_000)", Outcome.OK),
    "hang": Fault("time.sleep(600)", Outcome.TIMED_OUT, "after 1s", 1.0),
    "hang, ignoring TERM": Fault(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    while True:\n        time.sleep(600)",
        Outcome.TIMED_OUT,
        "after 1s",
        1.0,
    ),
    "grandchild holds stdout": Fault(
        f"subprocess.Popen(['sleep', '600']); return {EXTRA}", Outcome.OK, answers=True
    ),
    "setsid daemon": Fault(
        f"subprocess.Popen(['sleep', '600'], start_new_session=True); return {EXTRA}", Outcome.OK, answers=True
    ),
    "forks 50 children": Fault(
        f"[os.fork() or time.sleep(600) for _ in range(50)]; return {EXTRA}", Outcome.OK, answers=True
    ),
    "closes stdin early": Fault(f"os.close(0); return {EXTRA}", Outcome.OK, answers=True),
    "invalid UTF-8": Fault(r"return {'x': '\ud800'}", Outcome.BAD_OUTPUT, "not plain JSON"),
    "NaN": Fault("return {'x': float('nan')}", Outcome.BAD_OUTPUT, "NaN"),
    "no function any more": Fault(
        "return None", Outcome.CRASHED, "no function `faulty`", then=rewrite(NO_FUNCTION)
    ),
    "a syntax error meanwhile": Fault("return None", Outcome.CRASHED, "SyntaxError", then=rewrite("def\n")),
    "deleted meanwhile": Fault("return None", Outcome.NOT_STARTED, "does not exist", then=Path.unlink),
}

PYTHON_HOOK = """
import os, signal, subprocess, sys, time
import samuel

@samuel.hook("context.extra")
def {name}(event):
    {body}
"""
LATER = '{"extras": [{"name": "later.md", "content": "still here"}]}'


@pytest.fixture
def exec_chain(samuel_project: SamuelProject, sh: Callable[[str, str], str]) -> Callable[[Fault], Path]:
    def write(fault: Fault) -> Path:
        samuel_project.hook("later", sh("context.extra", f"echo '{LATER}'"))
        return samuel_project.hook("faulty", sh("context.extra", fault.body))

    return write


@pytest.fixture
def python_chain(samuel_project: SamuelProject) -> Callable[[Fault], Path]:
    def write(fault: Fault) -> Path:
        samuel_project.python_hook("later", PYTHON_HOOK.format(name="later", body=f"return {LATER}"))
        return samuel_project.python_hook("faulty", PYTHON_HOOK.format(name="faulty", body=fault.body))

    return write


def suffer(project: SamuelProject, marked: Any, file: Path, fault: Fault, strict: bool) -> None:
    project.config(
        f"""
        [hooks."context.extra"]
        handlers = [
            {{ use = "faulty", strict = {str(strict).lower()}, timeout = "{fault.timeout * 1000:.0f}ms" }},
            "later",
        ]
        """
    )
    # A file that is changed is refused; here it is the runtime that has to cope with it.
    app = project.open(trust_everything=fault.then is not None)
    if fault.then is not None:
        fault.then(file)
    fired = app.fire("context.extra", task=TASK)

    faulty, later = fired.calls
    assert (faulty.handler.name, faulty.outcome) == ("faulty", fault.outcome), faulty.message
    assert fault.says in faulty.message

    assert (later.handler.name, later.outcome) == ("later", Outcome.OK), later.message
    extra_names = [extra["name"] for extra in fired.result["extras"]]
    assert extra_names == ["faulty.md", "later.md"] if fault.answers else extra_names == ["later.md"]

    assert fired.stopped is (strict and fault.fatal)
    assert fired.ok is not fired.stopped
    if fault.fatal:
        assert [warning for warning in fired.warnings if warning.startswith(f"`faulty` {fault.outcome}: ")]
        assert fired.stopped is fired.reason.startswith("`faulty` ")
    else:
        assert fired.warnings == ()

    assert marked.strays() == []  # at once, not only when the project is closed
    app.close()
    marked.check()


@pytest.mark.parametrize(("fault", "strict"), combined(list(EXEC), STRICT_OR_NOT))
def test_each_fault_of_an_executable_hook_has_its_outcome(
    samuel_project: SamuelProject, marked: Any, exec_chain: Callable[[Fault], Path], fault: str, strict: bool
) -> None:
    suffer(samuel_project, marked, exec_chain(EXEC[fault]), EXEC[fault], strict)


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "strict"), combined(list(PYTHON), STRICT_OR_NOT))
def test_each_fault_of_a_python_hook_has_its_outcome(
    samuel_project: SamuelProject, marked: Any, python_chain: Callable[[Fault], Path], fault: str, strict: bool
) -> None:
    suffer(samuel_project, marked, python_chain(PYTHON[fault]), PYTHON[fault], strict)


@pytest.mark.slow
def test_all_faults_in_one_chain(
    samuel_project: SamuelProject, marked: Any, sh: Callable[[str, str], str]
) -> None:
    """They do not disturb each other, nor the handlers between them."""
    faults = {name: fault for name, fault in EXEC.items() if fault.then is None}
    chain = [
        f'{{ use = "{number:02}-faulty", timeout = "{fault.timeout * 1000:.0f}ms" }}, "{number:02}-good"'
        for number, fault in enumerate(faults.values())
    ]
    samuel_project.config(f'[hooks."context.extra"]\nhandlers = [{", ".join(chain)}]')
    for number, fault in enumerate(faults.values()):
        samuel_project.hook(f"{number:02}-faulty", sh("context.extra", fault.body))
        samuel_project.hook(f"{number:02}-good", sh("context.extra", f"echo '{LATER}'"))
    fired = samuel_project.fire("context.extra", task=TASK)
    assert [call.outcome for call in fired.calls[::2]] == [fault.outcome for fault in faults.values()]
    assert {call.outcome for call in fired.calls[1::2]} == {Outcome.OK}
    assert len(fired.result["extras"]) == len(faults) + sum(fault.answers for fault in faults.values())
