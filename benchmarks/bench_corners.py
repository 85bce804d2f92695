"""What the corners of the evidence add to a check: tests on the old source, a planted failure, a task in all."""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import Row

AIM = 1.25
MODULES = 60  # with a test that takes 30 ms each
TEST = """\
import time

from lib import module_{number}


def test_value():
    time.sleep(0.03)
    assert module_{number}.VALUE == {number}
"""
AGENT = """\
case "$SAMUEL_TASK_ID" in
1) echo 'OTHER = 1' >> lib/module_1.py ;;
2) echo 'FIXED = 2' >> lib/module_2.py
   printf '\\n\\ndef test_fixed():\\n    assert getattr(module_2, "FIXED", 0) == 2\\n' >> tests/test_2.py ;;
3) printf '\\n\\ndef test_more():\\n    assert module_3.VALUE > 2\\n' >> tests/test_3.py ;;
esac
samuel run done "$SAMUEL_TASK_ID"
"""
# A change of the source alone, of source and tests, and of tests alone: their shares among 521 commits of twelve
# public Python projects, and what each cost before there were corners.
TASKS = {"1": "Tidy module 1", "2": "Fix module 2", "3": "Add a test for module 3"}
SHARES = {"1": 0.46, "2": 0.40, "3": 0.14}
RUNS_BEFORE = {"1": 1, "2": 2, "3": 2}
LOGGED_RUN = re.compile(r"^\$ (.*)  \((?:ok|failed), [\d.]+ s\)$", re.MULTILINE)


def run(scratch: Path) -> Iterator[Row]:
    root = scratch / "project"
    check = f"{sys.executable} -B -m pytest -q -p no:cacheprovider"
    environment = _make(root, scratch, check)
    attempts = {id: _attempt(root, environment, id) for id in TASKS}
    whole = statistics.mean(_seconds(checks, "own") for checks in attempts.values())
    for what, corner in (("the changed tests on the old source", "old source"), ("a planted failure", "planted")):
        seconds = [_seconds(checks, corner) for checks in attempts.values() if _seconds(checks, corner)]
        mean = statistics.mean(seconds)
        yield Row(f"{what}, vs the whole check", f"{mean:.2f} s", f"{whole:.2f} s", f"{mean / whole:.2f}x")
    cost = sum(share * sum(check["seconds"] for check in attempts[id]) / whole for id, share in SHARES.items())
    before = sum(share * RUNS_BEFORE[id] for id, share in SHARES.items())
    what = "checks of a task over a mix of changes, in times of the check, vs without corners"
    yield Row(what, f"{cost:.2f}", f"{before:.2f}", f"{cost / before:.2f}x", f"<= {AIM}x", cost / before <= AIM)
    runs = _logged(root)
    partial = sum(command != check for command in runs)
    yield Row(
        "runs of these three tasks",
        f"{len(runs)}, {partial} of them of one file or two",
        "5",
        f"{len(runs) / 5:.2f}x",
    )


def _make(root: Path, scratch: Path, check: str) -> dict[str, str]:
    for name in ("lib", "tests"):
        (root / name).mkdir(parents=True)
    (root / "lib/__init__.py").touch()
    (root / "conftest.py").touch()
    for number in range(1, MODULES + 1):
        (root / f"lib/module_{number}.py").write_text(f"VALUE = {number}\n")
        (root / f"tests/test_{number}.py").write_text(TEST.format(number=number))
    (root / "agent.sh").write_text(AGENT)
    (root / "samuel.toml").write_text(
        f'[methodology.ralph]\nagent = "mine"\npause = "0s"\nquality_checks = [{json.dumps(check)}]\n'
        '[agents.mine]\ncommand = ["sh", "agent.sh", "{prompt_file}"]\n'
    )
    stories = [{"id": id, "title": title, "passes": False} for id, title in TASKS.items()]
    (scratch / "prd.json").write_text(json.dumps({"userStories": stories}))
    home = scratch / "home"
    home.mkdir()
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
    }
    for command in (
        ["git", "init", "-q"],
        ["git", "config", "user.name", "t"],
        ["git", "config", "user.email", "t@example.org"],
        ["samuel", "run", "init", "--from", "../prd.json", "--no-commit", "--no-write-back", "--yes"],
        ["git", "add", "-A"],
        ["git", "commit", "-qm", "x"],
        ["samuel", "run", "start", "--yes"],
    ):
        subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    return environment


def _attempt(root: Path, environment: dict[str, str], id: str) -> list[dict[str, Any]]:
    """The runs of the checks for the only attempt of a task."""
    command = ["samuel", "run", "show", id, "--json"]
    answer = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    (attempt,) = json.loads(answer.stdout)["data"]["attempts"]
    return list(attempt["checks"])


def _seconds(checks: list[dict[str, Any]], corner: str) -> float:
    return sum(check["seconds"] for check in checks if check["corner"] == corner)


def _logged(root: Path) -> list[str]:
    """The command line of each run of a check, from the logs of the attempts."""
    files = [path for path in (root / ".samuel").rglob("*checks*") if path.is_file()]
    return [command for path in files for command in LOGGED_RUN.findall(path.read_text(errors="replace"))]
