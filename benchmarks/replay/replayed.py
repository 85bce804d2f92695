"""Replaying one commit through Samuel: its parent is the project, its message the task, its diff the work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
from commits import HERE, Commit, git

LOGGED_RUN = re.compile(r"^\$ (.*)  \((?:ok|failed), ([\d.]+) s\)$", re.MULTILINE)
SECONDS = 600  # of one command
ATTEMPTS = 4
RUST = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"}


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one commit."""

    project: str
    language: str
    commit: str
    subject: str
    kind: str
    sample: str
    excluded: str = ""
    """Why it is not counted: the tests of the commit or of its parent do not pass here without Samuel."""
    status: str = ""
    grade: str = ""
    attempts: int = 0
    sent_back: tuple[str, ...] = ()
    """Why each attempt but the last one went back."""
    why: str = ""
    """Why the last one was not accepted, if it was not; else what its grade rests on."""
    runs: int = 0
    """Runs of the check for all attempts, without the baseline."""
    partial_runs: int = 0
    """Those of them that ran a few test files only."""
    cost: float = 0.0
    """The runs, each that ran a few test files only as the share of the time that a run of all of them takes."""
    seconds: float = 0.0
    """The time of all runs."""
    whole_seconds: float = 0.0
    """The mean time of those that ran all tests."""
    old_runs: int = 0
    """Runs by the old rule: one, and one more if tests changed."""
    corners: tuple[str, ...] = ()
    shown_to_fail: str = ""


class Replay:
    """Replays commits below a scratch directory; `envs` has what the projects need."""

    def __init__(self, clones: Path, envs: Path, scratch: Path) -> None:
        self._clones = clones
        self._envs = envs
        self._scratch = scratch

    def replayed(self, commit: Commit) -> Replayed:
        place = self._scratch / f"{commit.project.name}-{commit.id[:10]}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        facts = {
            "project": commit.project.name,
            "language": commit.project.language,
            "commit": commit.id[:10],
            "subject": commit.subject,
            "kind": commit.kind,
            "sample": commit.sample,
        }
        try:
            excluded = self._remembered(commit, place)
            result = {} if excluded else self._run(commit, place)
            return Replayed(**facts, excluded=excluded, **result)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _remembered(self, commit: Commit, place: Path) -> str:
        """Why a commit is left out, found out once for each machine."""
        file = self._scratch / "excluded" / commit.id
        if not file.exists():
            excluded = self._excluded(commit, place)
            file.parent.mkdir(exist_ok=True)
            file.write_text(excluded)
        return file.read_text()

    def _excluded(self, commit: Commit, place: Path) -> str:
        root = place / "plain"
        for name, id in (("parent", commit.parent), ("commit", commit.id)):
            self._checked_out(commit, id, root)
            done = subprocess.run(
                ["sh", "-c", self._check(commit)], cwd=root, env=self._environment(place), capture_output=True
            )
            if done.returncode:
                return f"the tests of the {name} fail here: {_last_line(done.stdout + done.stderr)}"
        return ""

    def _checked_out(self, commit: Commit, id: str, root: Path) -> None:
        shutil.rmtree(root, ignore_errors=True)
        git(
            self._clones,
            "clone",
            "-q",
            "--shared",
            "--no-checkout",
            str(self._clones / commit.project.name),
            str(root),
        )
        git(root, "checkout", "-q", "-B", "main", id)
        for source, target in commit.project.needs.items():
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", str(self._envs / source), str(root / target)], check=True)
            with (root / ".git/info/exclude").open("a") as file:
                file.write(f"/{target}\n")

    def _check(self, commit: Commit) -> str:
        return commit.project.check.format(envs=self._envs)

    def _run(self, commit: Commit, place: Path) -> dict[str, Any]:
        root = place / commit.project.name
        self._checked_out(commit, commit.parent, root)
        for name, value in (("user.name", "a"), ("user.email", "a@example.org")):
            git(root, "config", name, value)
        agent = json.dumps(
            [sys.executable, "-IS", str(HERE / "agent.py"), commit.parent, commit.id, "{prompt_file}"]
        )
        (root / "samuel.toml").write_text(
            f'pass_env = ["CARGO_HOME", "RUSTUP_HOME"]\n[methodology.ralph]\nagent = "replay"\npause = "0s"\n'
            f"quality_checks = [{json.dumps(self._check(commit))}]\n"
            f"[agents.replay]\ncommand = {agent}\n"
        )
        env = self._environment(place)
        story = {"id": "1", "title": commit.subject, "description": commit.body, "passes": False}
        (place / "prd.json").write_text(json.dumps({"userStories": [story]}))
        self._samuel(root, env, "run", "init", "--from", "../prd.json", "--no-commit", "--no-write-back", "--yes")
        git(root, "add", "-f", "samuel.toml")
        git(root, "commit", "-q", "-m", "begin")
        done = self._samuel(root, env, "run", "start", "--yes", "--iterations", str(ATTEMPTS), code=None)
        screen = done.stdout + done.stderr
        task = json.loads(self._samuel(root, env, "run", "tasks", "--json").stdout)["data"][0]
        task_answer = json.loads(self._samuel(root, env, "run", "show", task["id"], "--json").stdout)["data"]
        return _summary(task, task_answer["attempts"], screen) | _counted(root, self._check(commit))

    def _samuel(
        self, root: Path, env: dict[str, str], *arguments: str, code: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "samuel", *arguments]
        done = subprocess.run(
            command, cwd=root, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS
        )
        if code is not None and done.returncode != code:
            raise RuntimeError(f"{' '.join(arguments[:2])}: {done.stdout}{done.stderr}")
        return done

    def _environment(self, place: Path) -> dict[str, str]:
        home = place / "home"
        home.mkdir(exist_ok=True)
        rust = {name: os.environ.get(name, str(Path.home() / directory)) for name, directory in RUST.items()}
        return {
            **rust,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(self._scratch / "cache"),
            "LANG": "C.UTF-8",
            "COLUMNS": "200",
            "SAMUEL_SERVE": "off",
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }


def _summary(task: dict[str, Any], attempts: list[dict[str, Any]], screen: str) -> dict[str, Any]:
    if not attempts:
        return {"status": task["status"], "why": screen[-2000:]}
    last = attempts[-1]
    evidence = last.get("evidence") or {}
    records = [check for attempt in attempts for check in attempt["checks"]]
    return {
        "status": task["status"],
        "grade": last.get("grade") or "",
        "attempts": len(attempts),
        "sent_back": tuple(f"{attempt['outcome']}: {attempt['why']}"[:600] for attempt in attempts[:-1]),
        "why": evidence.get("rests_on") or f"{last['outcome']}: {last['why']}"[:1500],
        "old_runs": 2 if last["check_files"] else 1,
        "corners": tuple(f"{check['corner']} {'ok' if check['passed'] else 'red'}" for check in records),
        "shown_to_fail": evidence.get("shown_to_fail", ""),
    }


def _counted(root: Path, check: str) -> dict[str, Any]:
    """The runs of the check for all attempts, from the logs, which have each; the baseline is in none."""
    texts = [path.read_text(errors="replace") for path in (root / ".samuel").rglob("*checks*") if path.is_file()]
    runs = [(command, float(seconds)) for text in texts for command, seconds in LOGGED_RUN.findall(text)]
    whole = [seconds for command, seconds in runs if command == check]
    partial = [seconds for command, seconds in runs if command != check]
    mean = sum(whole) / len(whole) if whole else 0.0
    shares = [min(1.0, seconds / mean) if mean else 1.0 for seconds in partial]
    return {
        "runs": len(runs),
        "partial_runs": len(partial),
        "cost": round(len(whole) + sum(shares), 2),
        "seconds": round(sum(whole) + sum(partial), 2),
        "whole_seconds": round(mean, 2),
    }


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:120] if lines else "no output"
