"""`make soak`: a million calls to one server, and what it and its workers hold meanwhile.

Each call is a connection of its own, as the client's are; a few are under way at once, so that the server keeps
a few workers. `python benchmarks/soak.py 20000` makes fewer. Exits with 1 if the server or its largest worker grew
after the first tenth, or if an answer was wrong.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from bench_emit import CALL, NATIVE, SAMUEL, command, guarded_project, serve

from samuel.emit.serve import wire

CALLS = 1_000_000
AT_ONCE = 4
SAMPLES = 40
GROWTH_KIB = 1024  # pages that the allocator takes and gives back
DENIED = json.dumps({"ability_id": "shell", "tool_input": {"command": "rm -rf x"}}).encode()
EVERY_DENIED = 10  # one of so many calls is denied


class Sample(NamedTuple):
    """What the processes hold after so many calls."""

    calls: int
    seconds: float
    server_kib: int
    workers: int
    largest_worker_kib: int
    threads: int
    files: int


def main(calls: int) -> int:
    with tempfile.TemporaryDirectory(prefix="samuel-soak-") as scratch, guarded_project(Path(scratch)) as root:
        os.environ.pop("SAMUEL_SERVE", None)
        serve(command(NATIVE, "PreAbilityCall", directory=root), root)
        status = subprocess.run([SAMUEL, "serve", "status", "--json"], cwd=root, capture_output=True, check=True)
        pid = int(json.loads(status.stdout)["data"][0]["pid"])
        print(*Sample._fields, sep="\t")
        try:
            samples, wrong = soak(root, pid, calls)
        finally:
            subprocess.run([SAMUEL, "serve", "stop"], cwd=root, capture_output=True, check=True)
    settled = next(sample for sample in samples if sample.calls >= calls // 10)
    server = samples[-1].server_kib - settled.server_kib
    worker = samples[-1].largest_worker_kib - settled.largest_worker_kib
    print(f"from {settled.calls:,} calls to {samples[-1].calls:,}: server {server:+} KiB, worker {worker:+} KiB")
    for line in sorted(set(wrong))[:5]:
        print(f"wrong answer: {line}")
    return 1 if wrong or max(server, worker) > GROWTH_KIB else 0


def soak(root: Path, pid: int, calls: int) -> tuple[list[Sample], list[str]]:
    """Make the calls from a few threads; the samples, and the answers that were not the right ones."""
    call = caller(root)
    numbers: Iterator[int] = count()
    answered = [0] * AT_ONCE
    wrong: list[str] = []

    def work(thread_number: int) -> None:
        while (number := next(numbers)) < calls and len(wrong) < 100:
            denied = number % EVERY_DENIED == 0
            try:
                code, output = call(DENIED if denied else CALL)
            except (OSError, wire.WireError) as error:
                wrong.append(f"{type(error).__name__}: {error}")
                continue
            if code != (2 if denied else 0):
                wrong.append(f"exit code {code}: {output!r}")
            answered[thread_number] += 1

    started = time.monotonic()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    samples: list[Sample] = []
    running = True
    while running:
        time.sleep(0.5)
        running = any(thread.is_alive() for thread in threads)
        if not running or sum(answered) >= len(samples) * calls // SAMPLES:
            samples.append(take_sample(pid, sum(answered), time.monotonic() - started))
            print(*samples[-1], sep="\t", flush=True)
    return samples, wrong


def caller(root: Path) -> Callable[[bytes], tuple[int, list[tuple[int, bytes]]]]:
    """A function that makes one call, in the words of the client."""
    answer = subprocess.run([NATIVE, "--socket"], cwd=root, capture_output=True, check=True).stdout
    path, version, installation, directory, proof = answer.splitlines()
    variables = [name + b"=" + value for name, value in os.environb.items()]
    header = wire.header((wire.EMIT, version, installation, directory, proof), [b"PreAbilityCall"], variables)

    def call(stdin: bytes) -> tuple[int, list[tuple[int, bytes]]]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(60)
            connection.connect(path)
            connection.sendall(header + wire.data_frame(stdin))
            replies = wire.Replies(connection.recv)
            while True:
                kind, body = replies.next()
                if kind == wire.ANSWER:
                    code, _, output = wire.decode_answer(body)
                    return code, output
                if kind == wire.COLD:
                    raise wire.WireError(f"cold: {body.decode(errors='replace')}")

    return call


def take_sample(pid: int, calls: int, seconds: float) -> Sample:
    process = Path(f"/proc/{pid}")
    children = [line for task in process.glob("task/*/children") for line in task.read_text().split()]
    return Sample(
        calls,
        round(seconds, 1),
        resident_kib(process),
        len(children),
        max((resident_kib(Path(f"/proc/{child}")) for child in children), default=0),
        len(list(process.glob("task/*"))),
        len(list(process.glob("fd/*"))),
    )


def resident_kib(process: Path) -> int:
    return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS))
