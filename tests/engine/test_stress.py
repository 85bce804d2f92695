"""Fresh processes that use everything for the first time from many threads at once: none of them may crash.

msgspec builds its description of a type at the first use, and a thread that meets a half-built one ends the
process. Only a fresh process has types that are unused: `make stress` starts 500 of them, `make test` a few.
Threads are switched as often as Python can, so that a process meets more of the moments that matter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.length import at_length, sample

from samuel.events.catalogue import EVENTS
from samuel.events.compose import Arrange

CONCURRENT = [event.name for event in EVENTS if event.composition.arrange is Arrange.TOGETHER]
COMMANDS = at_length(1, 20)  # for each concurrent event, with an empty home and with one that knows the hooks
LIBRARY = at_length(1, 100)  # for each way to use the library
THREADS = at_length(8, 16)

HOOKS = ("first", "second", "third", "fourth")

# All of them answer at the same moment: each waits until the others are there.
HOOK = f"""#!{sys.executable} -S
import json, os, sys, time
if sys.argv[1] == "hook":
    print({" ".join(CONCURRENT)!r})
    sys.exit()
there = os.path.join("there", json.load(sys.stdin)["event_id"])
os.makedirs(there, exist_ok=True)
open(os.path.join(there, os.path.basename(__file__)), "w").close()
while len(os.listdir(there)) < {len(HOOKS)}:
    time.sleep(0.0002)
print('{{"results": [{{"title": "seen", "detail": "here"}}]}}')
"""
COMMAND = "import sys; sys.setswitchinterval(1e-6); from samuel.__main__ import main; sys.exit(main())"
PROGRAM = """
import sys, threading
import samuel
from samuel.events.catalogue import EVENTS
from samuel.events.schema import sample

sys.setswitchinterval(1e-6)
WAY, THREADS = sys.argv[1], int(sys.argv[2])
TRIED = [event for event in EVENTS if not event.irreversible]
STOP = next(event for event in EVENTS if event.name == "SessionStop")
together = threading.Barrier(THREADS)
fired = []


def handler(number):
    @samuel.hook("SessionStop", "TurnEnd", "context.extra", "UserPromptSubmit")
    def answer(event):
        return {"data": {"number": number}}

    answer.__name__ = f"answer_{number}"
    return answer


def open_app():
    return samuel.open(".", handlers=[handler(number) for number in range(12)])


def work(number, app):
    own = app or open_app()
    together.wait()
    event = TRIED[number % len(TRIED)] if WAY == "different-events" else STOP
    fired.append(own.fire(event.name, **sample(event)).ok)
    if app is None:
        own.close()


shared = None if WAY == "app-per-thread" else open_app()
threads = [threading.Thread(target=work, args=(number, shared)) for number in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if shared:
    shared.close()
assert len(fired) == THREADS, fired
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("XDG_", "SAMUEL_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SAMUEL_TRUST", "all")
    root = tmp_path / "project"
    hooks = root / ".samuel/hooks"
    hooks.mkdir(parents=True)
    (root / "samuel.toml").write_text("")
    for name in HOOKS:
        (hooks / name).write_text(HOOK)
        (hooks / name).chmod(0o755)
    monkeypatch.chdir(root)
    return root


def started(home: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    command = [sys.executable, "-X", "faulthandler", "-c", *argv]
    return subprocess.run(command, env={**os.environ, "HOME": str(home)}, capture_output=True, text=True)


def check_none_crashed(what: str, processes: Sequence[subprocess.CompletedProcess[str]]) -> None:
    failed = [done for done in processes if done.returncode != 0]
    crashed = [done for done in failed if done.returncode < 0]
    print(f"{what}: {len(processes)} processes, {len(crashed)} crashed, {len(failed) - len(crashed)} failed")
    assert not failed, f"{len(failed)} of {len(processes)}, the first: {failed[0].stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("event", sample(CONCURRENT, every=3))
def test_command_line_fires_concurrent_event_without_crash(event: str, project: Path, tmp_path: Path) -> None:
    """Hooks are asked what they are for in threads (with an empty home), and called in threads."""
    homes = [tmp_path / f"home-{number}" for number in range(COMMANDS) for _ in ("empty", "knows the hooks")]
    processes = [started(home, COMMAND, "hooks", "fire", event) for home in homes]
    check_none_crashed(event, processes)
    for done in processes:
        result = json.loads(done.stdout)["result"]
        assert len(result.get("results") or result["candidates"]) == len(HOOKS), (done.stdout, done.stderr)


@pytest.mark.parametrize("way", ["app-shared", "app-per-thread", "different-events"])
def test_library_fires_from_many_threads_without_crash(way: str, project: Path, tmp_path: Path) -> None:
    check_none_crashed(way, [started(tmp_path / "home", PROGRAM, way, str(THREADS)) for _ in range(LIBRARY)])
