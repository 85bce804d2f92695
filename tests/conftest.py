"""What all tests share: hook scripts in one line, and a mark that every process of a test carries."""

from __future__ import annotations

import gc
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from samuel.process import procfs
from samuel.process.ledger import LEDGER

from . import forkserver
from .length import FULL, REST

# A busy machine is no failure: no deadlines. `make fuzz` loads `full` by pytest's option --hypothesis-profile.
settings.register_profile("quick", deadline=None, max_examples=15)
settings.register_profile("full", deadline=None, max_examples=200)
settings.load_profile("full" if FULL else "quick")

# A shell that runs the tests in the background makes them, and all that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `make coverage` measures the processes of the tests; what they start takes its time and says its words as ever.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_START", None)

# A server would outlive the test that started it. The tests of servers turn it on.
os.environ["SAMUEL_SERVE"] = "off"
# A shell may forbid cached bytecode: then each of the hundreds of processes would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

TEST_MARK = "SAMUEL_TEST_MARK"

Result = TypeVar("Result")
Patiently = Callable[[Callable[[float], Result], Callable[[Result], bool]], Result]


def sh_script(event: str, body: str) -> str:
    """A hook in sh by the `hook`/`run` protocol: `hook` prints the event, any other argument runs the body."""
    return f'#!/bin/sh\nif [ "$1" = hook ]; then echo {shlex.quote(event)}; exit 0; fi\n{body}\n'


def py_script(event: str, body: str) -> str:
    """The same as a Python program, run by the interpreter that runs the tests."""
    declaration = f"if sys.argv[1] == 'hook':\n    print({event!r})\n    sys.exit()\n"
    return f"#!{sys.executable} -S\nimport sys\n{declaration}{body}\n"


def py_guard(body: str, imports: str = "samuel") -> str:
    """A Python file with a guard of tool calls that has this body."""
    declaration = '@samuel.hook("PreAbilityCall", role="guard")'
    return f"import {imports}\n\n\n{declaration}\ndef guard(event):\n{indent(body, '    ')}\n"


def pytest_xdist_auto_num_workers() -> int:
    """Many tests wait for processes, containers and the disk: two workers for each core keep the cores busy."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Tests stay until the end: Python need not look through them for garbage again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)  # what was chosen by its name or by a mark is not left out for the tests before it
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make test` runs every n-th test of what is marked as `sampled`, and none that is marked as `slow`.

    `make rest` runs the others of these tests, and `make full` all of them. Slow tests of files and directories
    that the command line names are run.
    """
    if FULL:
        return
    is_whole_suite = [config.rootpath / argument for argument in config.args] == [config.rootpath / "tests"]
    counts: Counter[str] = Counter()
    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        is_slow = is_whole_suite and item.get_closest_marker("slow") is not None
        (left_out if is_slow or not _is_in_sample(item, counts) else chosen).append(item)
    if REST:
        chosen, left_out = left_out, chosen
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen


def _is_in_sample(item: pytest.Item, counts: Counter[str]) -> bool:
    for node, mark in item.iter_markers_with_node("sampled"):  # the one that is nearest to the test comes first
        group = node.nodeid.partition("[")[0]
        counts[group] += 1
        return counts[group] % int(mark.kwargs["every"]) == 1
    return True


def pytest_sessionfinish() -> None:
    if "coverage" in sys.modules and (measured := sys.modules["coverage"].Coverage.current()):
        measured.stop()
        measured.save()  # a worker of pytest-xdist does not end as programs do


@pytest.fixture(autouse=True)
def _children_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line takes all children of its process for its own: one called in here leaves that as it was."""
    monkeypatch.setattr(LEDGER, "alone", LEDGER.alone)


@pytest.fixture(scope="session")
def patiently() -> Patiently[Any]:
    """`patiently(attempt, reached)`: what `attempt(seconds)` gives, for what is ended after so many seconds.

    For tests in which something must happen before a deadline does. It is not known how long that takes on a busy
    machine, so the deadline grows until it has happened; the assertions that follow say whether it did.
    """

    def call(attempt: Callable[[float], Any], reached: Callable[[Any], bool]) -> Any:
        for seconds in (0.5, 2.0, 8.0, 30.0, 120.0):
            result = attempt(seconds)
            if reached(result):
                break
        return result

    return call


@pytest.fixture(scope="session")
def sh() -> Callable[[str, str], str]:
    return sh_script


@pytest.fixture(scope="session")
def py() -> Callable[[str, str], str]:
    return py_script


class Marked:
    """The processes that carry this test's mark in their environment."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        self._children = _children()

    def pids(self) -> list[int]:
        pids = []
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and self.mark.encode() in Path("/proc", name, "environ").read_bytes():
                    pids.append(int(name))
            except OSError:  # gone meanwhile, or not ours
                continue
        return pids

    def strays(self) -> list[str]:
        """All but Samuel's own workers: what they run, for the message."""
        commands = []
        for pid in self.pids():
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if command and "samuel.runtimes.worker" not in command:
                commands.append(command)
        return commands

    def check(self) -> None:
        assert self.strays() == []
        assert self.pids() == []
        deadline = time.monotonic() + 60  # what is about to end needs a moment on a busy machine
        while left := [pid for pid in _children() - self._children if not _may_be_the_hosts(pid)]:
            assert time.monotonic() < deadline, f"zombies were left: {left}"
            time.sleep(0.05)


def _may_be_the_hosts(pid: int) -> bool:
    """Dead, and it led a session of its own: such a one is left to the host (see process/tree.py)."""
    stat = procfs.stat(pid)
    return stat is None or (stat.dead and stat.session == pid)


def _children() -> set[int]:
    pids: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        try:
            pids.update(int(pid) for pid in file.read_text().split())
        except OSError:  # a thread that ended meanwhile
            continue
    return pids


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch, samuel_project: object) -> Iterator[Marked]:
    """Every process of the test carries a mark; when the test is over no process may carry it any more."""
    marked = Marked()
    monkeypatch.setenv(TEST_MARK, marked.mark)
    yield marked
    samuel_project.close()  # type: ignore[attr-defined]
    marked.check()


def plain_git(home: Path) -> Callable[..., str]:
    """Real git, without anybody's configuration: `git(directory, "commit", ...)`."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }

    def run(directory: Path, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments], env=env, check=True, capture_output=True, text=True
        )
        return done.stdout

    return run


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., str]:
    return plain_git(tmp_path)


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, Mapping[str, str]], Path]:
    """`repository(directory, {name: content})`: these files, committed. The same ones are committed only once."""
    originals: dict[tuple[tuple[str, str], ...], Path] = {}

    def make(directory: Path, files: Mapping[str, str]) -> Path:
        key = tuple(files.items())
        if key not in originals:
            original = tmp_path_factory.mktemp("repository")
            git = plain_git(original)
            git(original, "init", "-q", "-b", "main")
            for name, content in files.items():
                (original / name).write_text(content)
            git(original, "add", ".")
            git(original, "commit", "-q", "-m", "first")
            originals[key] = original
        return Path(shutil.copytree(originals[key], directory, symlinks=True))

    return make


@pytest.fixture(scope="session")
def compiled_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for the compiled Python of all tests, of all workers."""
    place = tmp_path_factory.getbasetemp()
    shared = (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "pycache"
    shared.mkdir(exist_ok=True)
    return shared


@pytest.fixture(scope="session")
def with_compiled_python(compiled_python: Path) -> Callable[[Path], None]:
    """Have a user's cache, an empty directory, begin with the compiled Python of all other tests.

    Python files are kept there under their full names. Each process would compile the standard library anew.
    """

    def share(cache: Path) -> None:
        (cache / "samuel").mkdir(parents=True)
        (cache / "samuel" / "pycache").symlink_to(compiled_python)

    return share


@pytest.fixture(scope="session")
def fast_samuel() -> Iterator[Path]:
    """A directory for PATH whose `samuel` starts in a tenth of the time (see forkserver.py)."""
    with forkserver.running() as directory:
        yield directory


@pytest.fixture
def samuel_of_agents(fast_samuel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what this process runs call the `samuel` that starts in a tenth of the time."""
    monkeypatch.setattr(sys, "executable", str(fast_samuel / "python"))


@pytest.fixture(scope="session")
def busybox_image() -> Iterator[str]:
    """An image with nothing but busybox, and named for this process: other workers have their own."""
    busybox = shutil.which("busybox")
    why = "podman, runc and busybox-static are not installed"
    if shutil.which("podman") and busybox:
        name = f"localhost/samuel-test-busybox:{os.getpid()}"
        done = subprocess.run(["podman", "import", "-", name], input=_busybox_tar(busybox), capture_output=True)
        if done.returncode == 0:
            yield name
            subprocess.run(["podman", "rmi", "--force", name], capture_output=True)
            return
        why = f"podman cannot store an image: {done.stderr.decode()}"
    if os.environ.get("CI"):
        pytest.fail(f"CI must test this: {why}")
    pytest.skip(f"NOT TESTED: {why}")


def _busybox_tar(busybox: str) -> bytes:
    applets = subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True).stdout.split()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(busybox, "bin/busybox")
        for name in applets:
            link = tarfile.TarInfo(f"bin/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "busybox"
            if name != "busybox":
                tar.addfile(link)
    return packed.getvalue()


class Origin:
    """A bare repository that others fetch from, and the work tree whose commits are published in it.

    They have the same objects, so that to publish a commit is to write a ref: `git push` takes ten times as long.
    """

    def __init__(self, place: Path, name: str, git: Callable[..., str], empty: Path) -> None:
        self.bare = place / f"{name}.git"
        self.work = place / "work" / name
        self._git = git
        shutil.copytree(empty, self.bare)
        shutil.copytree(empty, self.work / ".git", ignore=shutil.ignore_patterns("objects"))
        (self.work / ".git" / "objects").symlink_to(self.bare / "objects")
        (self.work / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")

    @property
    def url(self) -> str:
        return f"file://{self.bare}"

    def push(self, files: Mapping[str, str | Path | None], *, branch: str = "main", tag: str = "") -> str:
        """Commit these and publish; gives the commit. What begins with `#!` is executable, a Path is a link."""
        for name, content in files.items():
            file = self.work / name
            file.unlink(missing_ok=True)
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                file.symlink_to(content)
            elif content is not None:
                file.write_bytes(content.encode())
                file.chmod(0o755 if content.startswith("#!") else 0o644)
        self._git(self.work, "add", "--all", "--force")
        self._git(self.work, "commit", "--quiet", "--allow-empty", "--message=more")
        self._publish(f"heads/{branch}")
        if tag:
            self._publish(f"tags/{tag}")
        return self.head

    def _publish(self, ref: str) -> None:
        for directory in (self.bare, self.work / ".git"):
            if directory == self.bare or ref.startswith("tags/"):
                file = directory / "refs" / ref
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{self.head}\n")

    @property
    def head(self) -> str:
        return (self.work / ".git" / "refs" / "heads" / "main").read_text().strip()


@pytest.fixture(scope="session")
def empty_bare_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("empty")
    plain_git(place)(place, "init", "--quiet", "--bare", "--initial-branch=main", "--template=")
    return place


@pytest.fixture
def origin(tmp_path: Path, git: Callable[..., str], empty_bare_repository: Path) -> Callable[..., Origin]:
    """`origin("org/repo", {path: content})`: a repository to add plugins from."""

    def make(name: str, files: Mapping[str, str | Path | None] | None = None, **more: str) -> Origin:
        new_origin = Origin(tmp_path / "origins", name, git, empty_bare_repository)
        if files is not None:
            new_origin.push(files, **more)
        return new_origin

    return make
