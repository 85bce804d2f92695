"""A machine of its own for every test: a home, a project, and `samuel(...)`, which runs a command line in it."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.emit.serve.served_project import WarmCalls
from tests.length import at_length

from samuel.cli.edge import run

REAL = (sys.executable, "-m", "samuel")  # the program itself, in a process of its own


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Samuel = Callable[..., Ran]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_compiled_python: Callable[[Path], None]) -> Path:
    """An empty home, and no person's variables."""
    home = tmp_path / "home"
    home.mkdir()
    with_compiled_python(home / "cache")
    for name in (
        "SAMUEL_TRUST",
        "SAMUEL_RUN_ID",
        "SAMUEL_EVENT_ID",
        "SAMUEL_SESSION_ID",
        "SAMUEL_RECIPE",
        "NO_COLOR",
        "FORCE_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    return home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory, and the current one."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    return root


# Tests of `samuel emit`: once more with the project's server. `make test` does that with a sample of them.
EMITTING = {
    *(
        "test_emit",
        "test_emit_client",
        "test_emit_in_run",
        "test_client_hooks",
        "test_session",
        "test_environment",
        "test_relayed_hooks",
    ),
    *("test_guards_stay", "test_own_guard", "test_missing", "test_kodelet_names", "test_examples"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.function.__name__
    sampled = at_length(zlib.crc32(name.encode()) % 16 == 0, True)
    if metafunc.module.__name__.rpartition(".")[2] in EMITTING and "samuel" in metafunc.fixturenames and sampled:
        metafunc.parametrize("samuel", ["cold", "warm"], indirect=True)


@pytest.fixture
def warm_calls(fast_samuel: Path) -> Iterator[WarmCalls]:
    calls = WarmCalls(fast_samuel)
    yield calls
    calls.close()


@pytest.fixture
def samuel(
    request: pytest.FixtureRequest,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Samuel:
    """Run a command line in this process; the project's path is shown as `PROJECT`.

    With the parameter `warm`, `samuel emit` is the native client, and the project's server answers it.
    """
    warm_calls = request.getfixturevalue("warm_calls") if getattr(request, "param", "") == "warm" else None

    def call(*arguments: str, stdin: str = "") -> Ran:
        if warm_calls and arguments[:1] == ("emit",):
            answer = warm_calls.emit(arguments[1:], stdin.encode())
            return Ran(answer.code, _steady(answer.out.decode(), project), _steady(answer.err.decode(), project))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = run(arguments)
        captured = capsys.readouterr()
        return Ran(code, _steady(captured.out, project), _steady(captured.err, project))

    return call


@pytest.fixture
def put(project: Path) -> Callable[..., Path]:
    """Put a file into the project, as a clone would have brought it."""

    def write(name: str, text: str, mode: int = 0o644) -> Path:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


@pytest.fixture
def guard(put: Callable[..., Path]) -> Path:
    """An executable hook for quality.check that was not agreed to yet."""
    return put(".samuel/hooks/guard", GUARD, 0o755)


GUARD = """#!/bin/sh
case $1 in
hook) touch canary; echo quality.check ;;
run) echo '{"ok": true}' ;;
esac
"""


@pytest.fixture
def on_terminal(project: Path) -> Callable[..., tuple[int, str]]:
    """Run the program itself on a terminal, where a person types; gives its exit code and the screen."""

    def call(*arguments: str, typed: str = "", **variables: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        env = {**os.environ, "TERM": "xterm-256color", **variables}
        with subprocess.Popen([*REAL, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
            os.close(theirs)
            os.write(ours, typed.encode())
            screen = b""
            try:
                while chunk := os.read(ours, 65536):
                    screen += chunk
            except OSError:  # how Linux says that the last one on the other side has left
                pass
        os.close(ours)
        return process.returncode, _steady(screen.decode(), project).replace("\r\n", "\n")

    return call


def _steady(text: str, project: Path) -> str:
    """What differs from one run to the next, written the same."""
    text = text.replace(str(project), "PROJECT").replace(str(project.parent / "home"), "HOME")
    text = re.sub(r'"duration_ms": [0-9.e-]+', '"duration_ms": 0', text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b", "MOMENT", text)
    return re.sub(r"(?!2025-01-15)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "WHEN", text)


@pytest.fixture
def journal(project: Path) -> Callable[..., None]:
    """Write calls into the journal, as if they had happened: (event, handler, ms[, outcome[, message]])."""

    def write(*calls: tuple[Any, ...]) -> None:
        lines = []
        for number, (event, handler, duration, *rest) in enumerate(calls):
            outcome, message = (*rest, "ok", "")[:2] if len(rest) < 2 else rest
            record = {
                "kind": "call",
                "call_id": f"evt-{number}.1",
                "event_id": f"evt-{number}",
                "event": event,
                "at": 1736935200.0 + number,
                "handler": handler,
                "origin": "project",
                "runtime": "exec",
                "position": 1,
                "outcome": outcome,
                "duration_ms": duration,
                "message": message,
            }
            lines.append(json.dumps(record))
        place = project / ".samuel/run/journal/2025.jsonl"
        place.parent.mkdir(parents=True)
        place.write_text("\n".join(lines) + "\n")

    return write


@pytest.fixture
def yaml_hook(put: Callable[..., Path], samuel: Samuel) -> Callable[..., None]:
    """`yaml_hook(id, event, body)`: a YAML hook that runs a shell script, and is trusted."""

    def write(id: str, event: str, body: str, more: str = "", *, trust: bool = True) -> None:
        handler = f"handler:\n  kind: script\n  command: ./scripts/hooks/{id}.sh\n"
        put(f".system/hooks/{id}.yaml", f"id: {id}\nevent_type: {event}\n{more}{handler}")
        put(f"scripts/hooks/{id}.sh", f"#!/bin/sh\n{body}\n", 0o755)
        if trust:
            samuel("trust", "--yes")

    return write


def answering(answer: str) -> str:
    """The body of a script that keeps its input in seen.json and prints an answer."""
    return f"cat > seen.json\ncat <<'END'\n{answer}\nEND"
