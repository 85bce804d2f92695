"""A hook in a kept container, the same program as a worker without one, and a container for each call."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
from bench_projects import project, user
from measure import Row, at_least, at_most, beside, take_turns

from samuel.confine.containers import engine
from samuel.events import ContextExtra
from samuel.hooks.handler import Handler, Origin, Outcome, Package
from samuel.process.conversation import Conversation
from samuel.process.environment import clean
from samuel.process.reason import NotRunnable
from samuel.runtimes.base import Setting
from samuel.runtimes.oci import ContainerRequest, OciRuntime

LIMIT = 8 * 1024 * 1024
IMAGE = "localhost/samuel-bench:1"

# Answers every line, and once by itself.
PROGRAM = """
#include <string.h>
#include <unistd.h>
static char line[65536];
int main(int count, char **words) {
  if (count < 2 || strcmp(words[1], "serve")) return write(1, "{}\\n", 3) != 3;
  for (long got; (got = read(0, line, sizeof line)) > 0;)
    if (line[got - 1] == '\\n') write(1, "{\\"result\\": {}}\\n", 15);
  return 0;
}
"""


def run(scratch: Path) -> Iterator[Row]:
    with project(scratch) as root:
        try:
            program, image = build(scratch / "image")
        except NotRunnable as error:
            print(f"NOT MEASURED: containers: {error}")
            return
        event = ContextExtra(task={"id": "1", "title": "x" * 800})
        runtime = OciRuntime(Setting(root, {}, user().cache, host=os.environ))
        warm_handler, single = (handler(program.parent, image, serve=serve) for serve in (True, False))
        worker = Conversation([str(program), "serve"], cwd=str(root), env=clean(), over_stdio=True)

        def in_a_container() -> None:
            assert runtime.call(warm_handler, event, 10.0).outcome is Outcome.OK

        def without() -> None:
            line = msgspec.json.encode(ContainerRequest("hook", msgspec.Raw(msgspec.json.encode(event)))) + b"\n"
            assert msgspec.json.decode(worker.ask(line, timeout=10.0, limit=LIMIT).answer) == {"result": {}}

        def bare() -> None:
            flags = engine.limited_flags(container_engine, network=False, cache=user().cache)
            words = [*flags.before, "run", "--rm", "-i", *flags.after, image, "hook"]
            subprocess.run(
                [container_engine.program, *words],
                input=msgspec.json.encode(event),
                capture_output=True,
                check=True,
            )

        container_engine = engine.needed(os.environ)
        warm, plain = take_turns(in_a_container, without, rounds=200, inner=20)
        once, theirs = take_turns(lambda: runtime.call(single, event, 60.0), bare, rounds=10, warm_up=1)
        worker.close()
        runtime.close()
        subprocess.run([container_engine.program, "rmi", "--force", IMAGE], capture_output=True)
    yield beside("a hook in a kept container at 1 KB, vs the same program without one", warm, plain)
    yield at_least(f"the same, vs `{container_engine.name} run` for each call", warm, theirs, 100)
    yield at_most(f"a hook in a container of its own, vs `{container_engine.name} run`", once, theirs, 2)


def build(directory: Path) -> tuple[Path, str]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NotRunnable("there is no C compiler for the program in the image")
    directory.mkdir()
    (directory / "hook.c").write_text(PROGRAM)
    subprocess.run([compiler, "-O2", "-static", "-w", "-o", directory / "hook", directory / "hook.c"], check=True)
    (directory / "Containerfile").write_text('FROM scratch\nCOPY hook /hook\nENTRYPOINT ["/hook"]\n')
    image = engine.pin(IMAGE, containerfile=directory / "Containerfile", host=os.environ, cache=user().cache)
    return directory / "hook", image


def handler(directory: Path, image: str, *, serve: bool) -> Handler:
    package = Package(name="bench", directory=str(directory), kind="oci", image=image, serve=serve)
    return Handler(
        name="bench",
        event="context.extra",
        origin=Origin.PROJECT_PLUGIN,
        runtime="oci",
        entry="hook",
        package=package,
    )
