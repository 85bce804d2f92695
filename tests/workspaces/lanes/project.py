"""A repository whose tasks are done by shell scripts, in several lanes: real git, processes, the command line.

What an agent does for a task is in `outside`, a directory beside the project; what it did is noted there too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from samuel.receipts.statement import read_statement, why_not_of

INSTALLED = (sys.executable, "-P", "-m", "samuel")
PATIENCE = 900.0  # seconds after which a test gives up: a busy machine is no failure

# It does what `outside/tasks/ID` says, or writes a file of its own. Its clean exit is the claim.
AGENT = """#!/bin/sh
outside={outside}
echo "begin $SAMUEL_TASK_ID $SAMUEL_LANE $SAMUEL_ITERATION $(date +%s.%N)" >> "$outside/calls"
cp "$1" "$outside/prompts/$SAMUEL_ITERATION-$SAMUEL_TASK_ID.md"
if [ -e "$outside/tasks/$SAMUEL_TASK_ID" ]; then
    . "$outside/tasks/$SAMUEL_TASK_ID"
elif [ -e "$outside/tasks/any" ]; then
    . "$outside/tasks/any"
else
    echo "$SAMUEL_TASK_ID" > "work-$SAMUEL_TASK_ID.txt"
fi
code=$?
echo "end $SAMUEL_TASK_ID $SAMUEL_LANE $SAMUEL_ITERATION $(date +%s.%N)" >> "$outside/calls"
exit $code
"""


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


class Call(NamedTuple):
    kind: str
    task: str
    lane: int
    iteration: int
    at: float


class LaneProject:
    def __init__(self, base: Path, programs: Path, home: Path) -> None:
        self.root = base / "project"
        self.outside = base / "outside"
        self.home = home
        self._program = programs / "samuel"
        self.env = {
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "LANG": "C.UTF-8",
        }
        for place in (self.root, home, *(self.outside / name for name in ("tasks", "prompts"))):
            place.mkdir(parents=True, exist_ok=True)

    def prepare(
        self,
        tasks: int | Mapping[str, str],
        settings: str = "",
        more: str = "",
        files: Mapping[str, str] | None = None,
        checks: str = '["sh check.sh"]',
        agent: str = 'claim = "exit"',
    ) -> None:
        """Make the project with its first commit. `tasks` is how many, or by id what stands below each title."""
        bodies = {str(number): "" for number in range(1, tasks + 1)} if isinstance(tasks, int) else tasks
        rows = "\n".join(f"### {id} Task {id}\n\n{body}\n" for id, body in bodies.items())
        self.write("prd.md", f"# Product\n\n## Tasks\n\n{rows}")
        script = self.write("agent.sh", AGENT.format(outside=self.outside))
        script.chmod(0o755)
        self.write("check.sh", "test ! -e broken\n")
        for name, text in (files or {}).items():
            self.write(name, text)
        self.write(
            "samuel.toml",
            f'[methodology.ralph]\nagent = "mine"\npause = "0s"\nmax_iterations = 400\nquality_checks = {checks}\n'
            f'{settings}\n[agents.mine]\ncommand = ["./agent.sh", "{{prompt_file}}"]\n{agent}\n{more}\n',
        )
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A Person")
        self.git("config", "user.email", "person@example.org")
        self.samuel("run", "init", "--prd", "prd.md", "--no-commit")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "begin")
        self.git("tag", "begin")

    def task(self, id: str, script: str) -> None:
        """What the agent does for a task; `any` is for all others."""
        (self.outside / "tasks" / id).write_text(script)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    # What a person does

    def samuel(self, *arguments: str, code: int | None = 0, installed: bool = False) -> Ran:
        program = INSTALLED if installed else (str(self._program),)
        done = subprocess.run(
            [*program, *arguments], cwd=self.root, env=self.env, capture_output=True, text=True, timeout=PATIENCE
        )
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert code in (None, ran.code), ran.screen
        return ran

    def start(self, *arguments: str, lanes: int = 3, code: int | None = 0) -> Ran:
        """`samuel run start` with lanes, to its end."""
        parallel = ("--parallel", str(lanes)) if lanes else ()
        return self.samuel("run", "start", "--yes", *parallel, *arguments, code=code)

    @contextmanager
    def running(self, *arguments: str, lanes: int = 3) -> Iterator[subprocess.Popen[bytes]]:
        """`samuel run start` in the background, in a process group of its own; its screen is in `screen`."""
        screen = self.outside / "screen"
        parallel = ("--parallel", str(lanes)) if lanes else ()
        command = [*INSTALLED, "run", "start", "--yes", *parallel, *arguments]
        with screen.open("ab") as file:
            process = subprocess.Popen(
                command, cwd=self.root, env=self.env, stdout=file, stderr=file, start_new_session=True
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                self.kill(process)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """SIGKILL for the coordinator and whatever is in its process group."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
        process.wait()

    @property
    def screen(self) -> str:
        return (self.outside / "screen").read_text(errors="replace")

    def wait_for(self, condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + PATIENCE
        while not condition():
            assert process.poll() is None, f"the run ended too early:\n{self.screen}"
            assert time.monotonic() < until, f"it did not come:\n{self.screen}"
            time.sleep(0.02)

    def git(self, *arguments: str, cwd: Path | None = None, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.root,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    # What came of it

    def statuses(self) -> dict[str, str]:
        return {task["id"]: task["status"] for task in self.samuel("run", "tasks", "--json").data}

    def row(self, id: str) -> dict[str, Any]:
        tasks = self.samuel("run", "tasks", "--json").data
        return next(task for task in tasks if task["id"] == id)

    def calls(self, kind: str = "begin") -> list[Call]:
        path = self.outside / "calls"
        rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        calls = [
            Call(row[0], row[1], int(row[2] or 0), int(row[3]), float(row[4])) for row in rows if len(row) == 5
        ]
        return [call for call in calls if call.kind == kind]

    def prompts(self, task: str) -> list[str]:
        files = sorted(self.outside.glob(f"prompts/*-{task}.md"), key=lambda file: int(file.name.split("-")[0]))
        return [file.read_text() for file in files]

    def landed(self, branch: str = "main") -> list[str]:
        """The tasks in the trailers of the first-parent commits since the beginning, oldest first."""
        log = self.git("log", "--first-parent", "--reverse", "--format=%H", f"begin..{branch}").split()
        ids: list[str] = []
        for commit in log:
            body = self.git("log", "-1", "--format=%B", commit)
            marks = [line for line in body.splitlines() if line.startswith("Samuel-Iteration: ")]
            subject, *lines = body.splitlines()
            subjects = [line.split()[0] for line in lines if line[:1].isdigit()]  # of a merge of several
            if marks:  # else it is a person's
                subjects = subjects or [subject.removeprefix("Land ").split()[0]]
            assert len(marks) == len(subjects), body
            ids += subjects
        return ids

    def run_id(self) -> str:
        return str(json.loads((self.root / ".samuel/run/run.json").read_text())["run_id"])

    def most_at_once(self) -> int:
        """The highest number of agents that were at work at one moment."""
        moments = [(call.at, 1) for call in self.calls("begin")] + [(call.at, -1) for call in self.calls("end")]
        at_once = highest = 0
        for _, change in sorted(moments):
            at_once += change
            highest = max(highest, at_once)
        return highest

    def lane_directory(self) -> Path:
        (directory,) = (self.home / "state/samuel/lanes").iterdir()
        return directory

    def assert_sound(self, tasks: int, branch: str = "main") -> None:
        """Every task is completed and landed once, git is intact, and no lock is left."""
        assert set(self.statuses().values()) == {"completed"}
        landed = self.landed(branch)
        assert sorted(landed, key=int) == [str(number) for number in range(1, tasks + 1)]
        self.git("fsck", "--no-dangling")
        self.assert_receipts(branch)
        assert list((self.root / ".git").rglob("*.lock")) == []

    def assert_receipts(self, branch: str) -> None:
        """Every commit that Samuel made has its receipt, and no other commit has one."""
        commits = self.git("log", "--format=%H", "--grep=^Samuel-Iteration: ", f"begin..{branch}").split()
        notes = dict(line.split()[::-1] for line in self.git("notes", "--ref=samuel", "list").splitlines())
        assert sorted(notes) == sorted(commits)
        for commit in commits:
            receipt = read_statement(self.git("cat-file", "blob", notes[commit]).encode())
            tree, message = self.git("log", "-1", "--format=%T%n%B", "--no-notes", commit).split("\n", 1)
            assert why_not_of(receipt, commit, tree, message) == ""

    def assert_green(self, branch: str = "main") -> None:
        """The checks pass on every first-parent commit."""
        for commit in self.git("log", "--first-parent", "--format=%H", f"begin..{branch}").split():
            place = self.outside / "checked"
            self.git("worktree", "add", "--detach", "-f", str(place), commit)
            done = subprocess.run(["sh", "check.sh"], cwd=place, env=self.env, check=False)
            self.git("worktree", "remove", "--force", str(place))
            assert done.returncode == 0, commit
