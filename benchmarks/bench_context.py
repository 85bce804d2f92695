"""One iteration's snapshot of 1k, 10k and 100k files, beside the git commands that the same facts need."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import Row, Times, at_most, take_turns

from samuel.git.git import Git
from samuel.process import environment
from samuel.prompts.snapshot import take, to_toon

BARE = (
    ("git", "ls-files"),
    ("git", "status", "--porcelain"),
    ("git", "grep", "-I", "-c", "-w", "-e", "TODO", "-e", "FIXME", "-e", "HACK"),
    ("git", "log", "-10", "--oneline"),
)
ENDS = ("py", "py", "py", "py", "py", "ts", "js", "go", "rs", "java", "md", "json")


def run(scratch: Path) -> Iterator[Row]:
    for count, rounds in ((1_000, 15), (10_000, 9), (100_000, 5)):
        root = scratch / f"project-{count}"
        make(root, count)
        yield from _measure(root, scratch / "cache", f"{count // 1000}k files", rounds)
        shutil.rmtree(root)


def _measure(root: Path, cache: Path, what: str, rounds: int) -> Iterator[Row]:
    git = Git(root, environment.clean())
    time.sleep(1.1)
    _git(root, "status")  # git trusts its index from now on: the files are older than it

    def first() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        to_toon(take(root, git, cache))

    ours, *bare = take_turns(first, *(_command(root, command) for command in BARE), rounds=rounds, warm_up=1)
    total = Times(sum(times.p50 for times in bare), sum(times.p95 for times in bare))
    yield at_most(f"a snapshot of {what}, nothing known, vs ls-files + status + grep + log", ours, total, 2)

    paths = random.Random(5).sample([path for path in git.files() if path.endswith(".py")], 5)

    def change() -> None:
        for path in paths:
            with open(root / path, "a") as file:
                file.write("# TODO changed\n")

    _, ours, status = take_turns(  # changing them is not what is measured
        change, lambda: to_toon(take(root, git, cache)), _command(root, BARE[1]), rounds=2 * rounds + 1, warm_up=1
    )
    yield at_most(f"the next one after 5 changed of {what}, vs git status", ours, status, 1.5)


def _command(root: Path, command: tuple[str, ...]) -> Callable[[], object]:
    env = environment.clean()
    return lambda: subprocess.run(command, cwd=root, env=env, stdout=subprocess.DEVNULL, check=False)


def make(root: Path, count: int) -> None:
    """A repository of so many files, by one stream into git: twenty seconds for 100k."""
    root.mkdir(parents=True)
    _git(root, "init", "--quiet", "--initial-branch=main")
    _git(root, "config", "core.looseCompression", "0")
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        for chunk in _history(count):
            process.stdin.write(chunk)
    _git(root, "reset", "--quiet", "--hard")


def _history(count: int) -> Iterator[bytes]:
    dice = random.Random(7)
    lines = [
        f"    value_{number} = compute({number}) + other_{number * 7 % 13}\n".encode() for number in range(200)
    ]
    lines[::40] = [b"    raise KeyError(MAX_INDEX)\n"] * 5
    yield _commit("the project")
    for number in range(count):
        start = dice.randrange(150)
        body = b"".join(lines[start : start + dice.randrange(5, 100)]) + b"# file %d\n" % number
        if number % 20 == 0:
            body += b"# TODO number %d\n" % number
        path = f"package{number // 500:03}/part{number // 50 % 10}/file{number}.{ENDS[number % len(ENDS)]}"
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (os.fsencode(path), len(body), body)
    for number in range(12):
        yield _commit(f"change number {number}")
        yield b"M 100644 inline package000/part0/changed%d.py\ndata 2\nx\n\n" % number


def _commit(subject: str) -> bytes:
    return b"commit refs/heads/main\ncommitter A <a@example.com> 1750000000 +0000\ndata %d\n%s\n" % (
        len(subject),
        subject.encode(),
    )


def _git(root: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=root, env=environment.clean(), check=True, stdout=subprocess.DEVNULL)
