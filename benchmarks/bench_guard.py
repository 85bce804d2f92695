"""The reader of shell commands, and the decision of shell_guard, one by one on 10,000 commands.

The commands are those of everyday work and those that try to hide something, from the tests. The guard is called
as a function, and by the project's server through its socket, as an agent's hook calls it but without the start of
a process. A rule that asks git about the project starts git.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

from bench_emit import CALL, NATIVE, SAMUEL, command, serve
from bench_shell import valid_commands
from measure import Row, Times, below, times

from samuel.emit.serve import wire
from samuel.events import PreAbilityCall
from samuel.events.event import Plugin
from samuel.shell import commands
from samuel.shipped.shell_guard.hook import hook

EVERYDAY = Path(__file__).parents[1] / "tests" / "shipped" / "everyday_commands.txt"
COUNT = 10_000


def run(scratch: Path) -> Iterator[Row]:
    lines = EVERYDAY.read_text(encoding="utf-8").splitlines()
    everyday = [line.replace("\\n", "\n") for line in lines if line and not line.startswith("#")]
    texts = list(islice(cycle((*everyday, *valid_commands())), COUNT))
    root = scratch / "home" / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").touch()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    os.environ["HOME"] = str(scratch / "home")
    plugin = Plugin(name="shell_guard", config={}, data_dir="")

    def decide(text: str) -> None:
        call = {"ability_id": "shell", "tool_input": {"command": text}}
        hook(PreAbilityCall(**call, project_root=str(root), plugin=plugin))

    yield below(
        f"reading a shell command, {COUNT:,} of them, p50 and p95", times(measured(commands, texts)), 0.002
    )
    yield below(
        f"a decision of shell_guard, {COUNT:,} of them, p50 and p95", times(measured(decide, texts)), 0.002
    )

    yield from by_the_server(scratch, texts)


def by_the_server(scratch: Path, texts: list[str]) -> Iterator[Row]:
    """The same decisions through the socket of the server."""
    root = scratch / "guarded"
    (root / "src").mkdir(parents=True)
    (scratch / "runtime").mkdir(mode=0o700)
    os.environ["XDG_RUNTIME_DIR"] = str(scratch / "runtime")
    os.environ.pop("SAMUEL_SERVE", None)
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for words in (("init", "--yes"), ("hooks", "enable", "shell_guard"), ("trust", "--yes")):
        subprocess.run([SAMUEL, *words], cwd=root, check=True, capture_output=True)
    serve(command(NATIVE, "PreAbilityCall", directory=root, stdin=CALL), root)
    call = server_call(root)
    call("ls")
    before = processor_seconds(root)
    decisions = times(measured(call, texts))
    spent = (processor_seconds(root) - before) / len(texts)
    yield below(
        f"the same by the warm server, through its socket, {COUNT:,} of them, p50 and p95", decisions, 0.002
    )
    yield below("processor time of the server for each of them, on average", Times(spent, spent), 0.002)
    subprocess.run([SAMUEL, "serve", "stop"], cwd=root, capture_output=True, check=True)


def processor_seconds(root: Path) -> float:
    """What the server has used so far: a figure that other programs on the machine do not change."""
    status = subprocess.run(
        [SAMUEL, "serve", "status", "--json"], cwd=root, capture_output=True, check=True
    ).stdout
    process = json.loads(status)["data"][0]["pid"]
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def server_call(root: Path) -> Callable[[str], None]:
    """A function that has the server of a project answer a call; each call is a connection of its own."""
    lines = subprocess.run([NATIVE, "--socket"], cwd=root, capture_output=True, check=True, text=True).stdout
    path, version, installation, directory, proof = lines.splitlines()
    fields = (wire.EMIT, *(text.encode() for text in (version, installation, directory, proof)))
    header = wire.header(fields, [b"PreAbilityCall"], (b"=".join(item) for item in os.environb.items()))

    def call(text: str) -> None:
        payload = json.dumps({"ability_id": "shell", "tool_input": {"command": text}}).encode()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(path)
            connection.sendall(header)
            connection.sendall(wire.data_frame(payload))
            replies = wire.Replies(connection.recv)
            while (kind := replies.next()[0]) != wire.ANSWER:
                if kind == wire.COLD:
                    raise RuntimeError("the server did not answer")

    return call


def measured(call: Callable[[str], object], texts: list[str]) -> list[float]:
    call(texts[0])  # what is loaded once is not part of a call
    seconds = []
    for text in texts:
        start = time.perf_counter()
        call(text)
        seconds.append(time.perf_counter() - start)
    return seconds
