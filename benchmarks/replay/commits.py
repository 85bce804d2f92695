"""Which commits are replayed: evenly spaced ones that touch code, the same ones each time."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from samuel.evidence.conventions import is_test_file
from samuel.evidence.task_kind import task_kind

HERE = Path(__file__).parent
CODE = ("*.py", "*.js", "*.mjs", "*.ts", "*.rs")
NO_CODE = (":!docs", ":!*/docs/*", ":!benches", ":!setup.py", ":!.*")


class Project(NamedTuple):
    name: str
    language: str
    check: str
    since: str
    until: str = "2100-01-01"
    most: int = 1000
    """Commits of each sample at most."""
    needs: Mapping[str, str] = MappingProxyType({})
    """What git ignores and the checks need, by its path below the directory of environments."""


class Commit(NamedTuple):
    project: Project
    id: str
    parent: str
    message: str
    kind: str
    sample: str
    """`all`: of all commits that touch code; `mixed`: of those that touch tests and source."""

    @property
    def subject(self) -> str:
        return self.message.partition("\n")[0].strip()

    @property
    def body(self) -> str:
        return self.message.partition("\n")[2].strip()


def projects() -> list[Project]:
    tables = tomllib.loads((HERE / "projects.toml").read_text())
    return [Project(name=name, **table) for name, table in tables.items()]


def sampled(project: Project, clone: Path, count: int) -> Iterator[Commit]:
    """`count` of the commits that touch code, and `count` more of those that touch tests and source."""
    count = min(count, project.most)
    ids = _touching_code(project, clone)
    of_all = _spaced(ids, count)
    with_tests = _mixed(project, clone)
    mixed = [id for id in ids if id not in of_all and id in with_tests]
    for id in (*of_all, *_spaced(mixed, count)):
        message = git(clone, "log", "-1", "--format=%B", id).strip()
        parent = git(clone, "rev-parse", f"{id}^").strip()
        sample = "all" if id in of_all else "mixed"
        yield Commit(project, id, parent, message, kind_of(id, message), sample)


def _touching_code(project: Project, clone: Path) -> list[str]:
    period = [f"--since={project.since}", f"--until={project.until}"]
    paths = [*CODE, *NO_CODE]
    return git(clone, "log", "--no-merges", "--min-parents=1", *period, "--format=%H", "--", *paths).split()


def _mixed(project: Project, clone: Path) -> set[str]:
    """The commits that touch a test file and another file with code."""
    period = [f"--since={project.since}", f"--until={project.until}"]
    listing = git(clone, "log", "--no-merges", *period, "--format=%x00%H", "--name-only", "--", *CODE, *NO_CODE)
    entries = (entry.split("\n") for entry in listing.split("\0") if entry)
    return {id for id, *paths in entries if len({is_test_file(path) for path in paths if path}) == 2}


def _spaced(ids: list[str], count: int) -> list[str]:
    """At most `count` of these, evenly spaced."""
    count = min(count, len(ids))
    return [ids[number * len(ids) // count] for number in range(count)]


def kind_of(id: str, message: str) -> str:
    """The kind that a person gave the commit, who read its message and its diff; else by its words."""
    kinds = tomllib.loads((HERE / "kinds.toml").read_text())
    by_hand = next((kind for kind, ids in kinds.items() if id[:10] in ids), None)
    return by_hand or task_kind("", message.partition("\n")[0]) or "other"


def git(directory: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(directory), *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")
