"""A project of its own for each test: product code, tests, a Makefile, a PRD, and a stand-in agent.

Everything goes through the command line, as a person would use it. What the agent goes by and what it notes is in
`outside`, a directory beside the project, and so is the oracle: tests that no agent and no check can see.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

AGENT = Path(__file__).with_name("agent.py")
PYTHON = f"{sys.executable} -SB"  # without `site` it starts twice as fast
INSTALLED = (sys.executable, "-P", "-m", "samuel")
NOTHING = subprocess.DEVNULL
PATIENCE = 120.0  # seconds after which a test gives up: a busy machine is no failure

# What a run waits for is shortened, so that a test takes seconds. A real run does the same without these lines.
QUICK = 'pause = "0s"\n'

MAKEFILE = f"test:\n\t@{PYTHON} -m unittest discover -q -s tests -t .\n"
CALC = "def add(a, b):\n    return a + b\n"
TEST_CALC = """\
import unittest

from calc import add


class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_add_nothing(self):
        self.assertEqual(add(2, 0), 2)
"""
# What pytest would load for the tests of Samuel itself is left out: it takes longer than the tests.
_UNUSED = ("hypothesispytest", "xdist", "xdist.looponfail", "samuel", "platformdirs", "cacheprovider")
LEAN_PYTEST = " ".join(f"-p no:{name}" for name in _UNUSED)
PYTEST = f'["{sys.executable} -B -m pytest -q {LEAN_PYTEST} tests"]'

PRODUCT: Mapping[str, str] = {
    "calc.py": CALC,
    "tests/test_calc.py": TEST_CALC,
    "tests/__init__.py": "",
    "Makefile": MAKEFILE,
    ".gitignore": "__pycache__/\n",
    "NOTES.md": "notes\n",
}

NO_CHECKS = dict.fromkeys(("Makefile", "tests/test_calc.py", "tests/__init__.py"))
"""`files` of a project in which no check can be found."""

Operation = list[Any]


def do(*operations: Operation) -> list[Operation]:
    """One call of the agent."""
    return list(operations)


def prd(*titles: str, **bodies: str) -> str:
    """A PRD with the tasks 1, 2, ...; `t2="Files: a.py"` is what stands below the title of the second."""
    tasks = [f"### {number} {title}\n\n{bodies.get(f't{number}', '')}\n" for number, title in enumerate(titles, 1)]
    return "# The product\n\nWe need it.\n\n## Tasks\n\n" + "\n".join(tasks)


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def screen(self) -> str:
        return self.out + self.err

    @property
    def data(self) -> Any:
        """What `--json` gives."""
        assert self.out, self.err
        return json.loads(self.out)["data"]


class RunningLoop:
    """`samuel run start` in the background, with its screen in files."""

    def __init__(self, process: subprocess.Popen[bytes], screen: Path) -> None:
        self.process = process
        self._screen = screen

    @property
    def screen(self) -> str:
        return self._screen.read_text(errors="replace")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> Ran:
        code = self.process.wait(PATIENCE)
        return Ran(code, self.screen, "")


class UnattendedProject:
    """A project, what is beside it, and the commands of its user."""

    def __init__(self, base: Path, programs: Path, home: Path) -> None:
        self.root = base / "project"
        self.outside = base / "outside"
        self.oracle = self.outside / "oracle"
        self._plan: dict[str, list[list[Operation]]] = {}
        self._env = {
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "LANG": "C.UTF-8",
            "COLUMNS": "80",
        }
        for name in ("marks", "prompts", "snapshots", "solutions", "halves", "oracle"):
            (self.outside / name).mkdir(parents=True, exist_ok=True)
        (self.outside / "plan.json").write_text("{}")
        self._program = programs / "samuel"
        if not (self.outside / "samuel").exists():
            (self.outside / "samuel").symlink_to(self._program)

    def use_installed_samuel(self) -> None:
        """Have agents call the installed program, and not one that starts in less time (see forkserver.py)."""
        (self.outside / "samuel").unlink()

    # What the agent does

    def plan(self, task: str, *calls: list[Operation]) -> None:
        """What the agent does for a task (or `*`, or `AGENT:TASK`), call by call; the last one is repeated."""
        self._plan[task] = list(calls)
        (self.outside / "plan.json").write_text(json.dumps(self._plan))

    def solution(self, task: str, files: Mapping[str, str], variant: str = "solutions") -> None:
        """What the agent writes when it solves a task; `halves` is what it writes when it does not."""
        shutil.rmtree(self.outside / variant / task, ignore_errors=True)
        for name, text in files.items():
            put(self.outside / variant / task / name, text)

    def calls(self, task: str | None = None) -> list[dict[str, Any]]:
        """The calls of agents so far."""
        entries = lines(self.outside / "calls.jsonl")
        return [entry for entry in entries if task in (None, entry["task"])]

    def commands(self) -> list[dict[str, Any]]:
        """What came of the commands that agents ran."""
        return lines(self.outside / "commands.jsonl")

    def prompt(self, number: int) -> str:
        """The prompt of the n-th call; -1 is the last one."""
        return sorted((self.outside / "prompts").iterdir())[number - (number > 0)].read_text()

    def has_mark(self, name: str) -> bool:
        return (self.outside / "marks" / name).exists()

    def mark(self, name: str) -> None:
        (self.outside / "marks" / name).touch()

    # What a person does

    def samuel(self, *arguments: str, code: int | None = 0) -> Ran:
        """Run a command; `code` is the exit code that it must have, None for any."""
        ran = self._ran(["samuel", *arguments])
        assert code in (None, ran.code), ran.screen
        return ran

    def start(self, *arguments: str, code: int | None = 0) -> Ran:
        """`samuel run start` to its end."""
        with self.running(*arguments, program=(str(self._program),)) as loop:
            ran = loop.end()
        assert code in (None, ran.code), ran.screen
        return ran

    @contextmanager
    def running(self, *arguments: str, program: tuple[str, ...] = INSTALLED) -> Iterator[RunningLoop]:
        """`samuel run start` in the background: the installed program, for what is killed is a process."""
        screen = self.outside / f"screen-{time.monotonic_ns()}.txt"
        command = [*program, "run", "start", "--yes", *arguments]
        with screen.open("wb") as file:
            process = subprocess.Popen(
                command, cwd=self.root, env=self._env, stdin=NOTHING, stdout=file, stderr=file
            )
        (self.outside / "loop.pid").write_text(str(process.pid))
        try:
            yield RunningLoop(process, screen)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def wait_for(self, what: str | Callable[[], bool], loop: RunningLoop) -> None:
        """Wait for a mark of the agent, or for a condition, while the loop runs."""

        def reached() -> bool:
            return self.has_mark(what) if isinstance(what, str) else what()

        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert loop.process.poll() is None, f"the run ended before `{what}`:\n{loop.screen}"
            assert time.monotonic() < deadline, f"`{what}` did not come:\n{loop.screen}"
            time.sleep(0.02)

    def git(self, *arguments: str) -> str:
        return self._ran(["git", *arguments], check=True).out

    def configure(self, old: str, new: str) -> None:
        """Edit samuel.toml, and commit it."""
        file = self.root / "samuel.toml"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
        self.git("commit", "-q", "-m", "configure", "samuel.toml")

    def dirty_files(self) -> None:
        """A person has work of their own in the tree: a tracked file and a new one."""
        self.write("NOTES.md", "notes\nmy own thought\n")
        self.write("draft.txt", "my draft\n")

    def check_dirty_files(self) -> None:
        assert self.read("NOTES.md") == "notes\nmy own thought\n"
        assert self.read("draft.txt") == "my draft\n"
        assert self.git("diff", "--cached", "--name-only").split() == []
        committed = self.git("log", "--format=", "--name-only", "begin..").split()
        assert not {"NOTES.md", "draft.txt"} & set(committed)

    # What a person sees

    def tasks(self) -> dict[str, dict[str, Any]]:
        return {task["id"]: task for task in self.samuel("run", "tasks", "--json").data}

    def statuses(self) -> dict[str, str]:
        return {id: task["status"] for id, task in self.tasks().items()}

    def status(self) -> dict[str, Any]:
        return dict(self.samuel("run", "status", "--json").data)

    def attempts(self, task: str) -> list[dict[str, Any]]:
        """The records of all attempts of a task, the first one first."""
        return list(self.samuel("run", "show", task, "--json").data["attempts"])

    def outcomes(self, task: str) -> list[str]:
        return [entry["outcome"] for entry in self.attempts(task)]

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def write(self, name: str, text: str) -> None:
        put(self.root / name, text)

    def exists(self, name: str) -> bool:
        return (self.root / name).exists()

    def files_of(self, commit: str) -> set[str]:
        """The files of a commit, which must be on the branch."""
        self.git("merge-base", "--is-ancestor", commit, "HEAD")
        return set(self.git("show", "--format=", "--name-only", commit).split())

    def failing(self, tree: Path, tasks: list[str]) -> list[str]:
        """The tasks whose oracle is not content with a tree."""
        command = [sys.executable, "-ISB", "-c", ORACLE, str(tree), str(self.oracle), *tasks]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return list(json.loads(done.stdout))

    def _ran(self, command: list[str], check: bool = False) -> Ran:
        env = {**self._env, **GIT_NAMES}
        done = subprocess.run(
            command, cwd=self.root, env=env, capture_output=True, text=True, stdin=NOTHING, check=check
        )
        return Ran(done.returncode, done.stdout, done.stderr)


GIT_NAMES = {"GIT_CONFIG_NOSYSTEM": "1"}

# The oracle of each task is a file of assertions; a failure of any kind counts.
ORACLE = """
import json, pathlib, sys
tree, oracle, *tasks = sys.argv[1:]
sys.path.insert(0, tree)
failing = []
for task in tasks:
    try:
        exec(pathlib.Path(oracle, f"{task}.py").read_text(), {})
    except BaseException:
        failing.append(task)
print(json.dumps(failing))
"""


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def agents_table(names: Mapping[str, str]) -> str:
    """`[agents.NAME]` for stand-in agents; the value is `plain` or `claude`, the stream that it prints."""
    tables = []
    for name, stream in names.items():
        command = json.dumps(["{python}", "-IS", str(AGENT), name, stream, "{prompt_file}"])
        typed = 'stream = "claude"\n' if stream == "claude" else ""
        tables.append(f"[agents.{name}]\ncommand = {command}\n{typed}")
    return "\n".join(tables)


def copy_project(original: Path, root: Path) -> None:
    shutil.copytree(original, root, symlinks=True)


def end_agents(base: Path) -> None:
    """End the agents that a failed test has left: a loop that was killed cannot end its own."""
    for call in lines(base / "outside/calls.jsonl"):
        with suppress(OSError):  # it has ended, as it should
            if os.readlink(f"/proc/{call['pid']}/cwd") == str(base / "project"):
                os.kill(call["pid"], signal.SIGKILL)
