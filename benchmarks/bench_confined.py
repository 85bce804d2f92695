"""Handlers of plugins within their walls: beside the same without, and beside bare bubblewrap."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from bench_exec import noop
from bench_projects import project
from measure import Row, beside, take_turns

from samuel.confine.walls import walls
from samuel.events import ContextExtra
from samuel.hooks.capability import Capabilities
from samuel.hooks.handler import Handler, Origin, Package
from samuel.process.environment import clean
from samuel.runtimes.base import Runtime, Setting
from samuel.runtimes.exec import ExecRuntime
from samuel.runtimes.python import PythonRuntime

FUNCTION = """
import samuel

@samuel.hook("context.extra")
def note(event):
    return {"extras": [{"name": "note.md", "content": event.task["title"]}]}
"""
EVENT = ContextExtra(task={"id": "1", "title": "x" * 700})
GRANTS = Capabilities(read=("docs",), write=("out/",))


def run(scratch: Path) -> Iterator[Row]:
    kind = walls.strength().kind
    if kind == walls.NONE:
        return
    with project(scratch) as root:
        plugin = root / ".samuel" / "plugins" / "org@p"
        for directory in (plugin, root / "docs"):
            directory.mkdir(parents=True)
        package = Package(name="org/p", directory=str(plugin), kind="skill", grants=GRANTS)
        yield from _exec(root, noop(plugin / "noop"), package, kind)
        (plugin / "plugin.py").write_text(FUNCTION)
        yield from _python(root, plugin / "plugin.py", package, kind)


def _exec(root: Path, program: Path, package: Package, kind: str) -> Iterator[Row]:
    runtime = ExecRuntime(Setting(root, clean(), root.parent / "cache"))
    free = Handler(name="p", event="context.extra", origin=Origin.PROJECT, runtime="exec", path=str(program))
    held = msgspec.structs.replace(free, package=package)
    try:
        yield from _compare(root, runtime, held, free, program, kind)
    finally:
        runtime.close()


def _compare(
    root: Path, runtime: ExecRuntime, held: Handler, free: Handler, program: Path, kind: str
) -> Iterator[Row]:
    mine, without = take_turns(lambda: call(runtime, held), lambda: call(runtime, free), rounds=200)
    yield beside(f"an exec handler within its walls ({kind}), vs without", mine, without)
    if kind != walls.BWRAP:
        return
    payload, environment = msgspec.json.encode(EVENT), clean()
    words = ["bwrap", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    words += [
        "--ro-bind",
        str(root),
        str(root),
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-net",
        "--",
        str(program),
    ]

    def bare() -> None:
        subprocess.run(words, input=payload, capture_output=True, cwd=root, env=environment, check=True)

    mine, theirs = take_turns(lambda: call(runtime, held), bare, rounds=200)
    _reap()
    yield beside("the same, vs bare bwrap through subprocess.run", mine, theirs)


def _reap() -> None:
    """Collect the processes that bare bwrap left to this one: hundreds of them slow down what comes later."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _python(root: Path, file: Path, package: Package, kind: str) -> Iterator[Row]:
    runtime = PythonRuntime(Setting(root, clean(), root.parent / "cache"))
    free = Handler(
        name="p", event="context.extra", origin=Origin.PROJECT, runtime="python", path=str(file), entry="note"
    )
    held = msgspec.structs.replace(free, package=package, origin=Origin.PROJECT_PLUGIN)
    try:
        mine, without = take_turns(lambda: call(runtime, held), lambda: call(runtime, free), rounds=200, inner=20)
    finally:
        runtime.close()
    yield beside(f"a warm python handler within its walls ({kind}), vs without", mine, without)


def call(runtime: Runtime, handler: Handler) -> None:
    reply = runtime.call(handler, EVENT, 10.0)
    assert reply.outcome == "ok", reply
