"""A worker that stays answers as a new one would: what it imported may change, appear and vanish."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.runtimes.python import PythonRuntime

from .contract import event, setting

HOOK = """
import os, sys, time
sys.path[:0] = "one", os.path.abspath("two")
try:
    import package.rules as rules
except ImportError:
    try:
        import rules
    except ImportError:
        rules = None
import samuel

@samuel.hook("context.extra")
def answer(event):
    if os.path.exists("wait"):
        open("waiting", "w").close()
        while os.path.exists("wait"):
            time.sleep(0.01)
    return {"word": rules and rules.WORD, "pid": os.getpid()}
"""


class Project:
    """A project with a Python hook that imports `rules` from one of two directories."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("hooks/hook.py", HOOK)
        for directory in ("one", "two"):
            (root / directory).mkdir()
        self.runtime = PythonRuntime(setting(root, root / "cache"))
        self.handler = Handler(
            name="hook",
            event="context.extra",
            origin=Origin.PROJECT,
            runtime="python",
            path=str(root / "hooks/hook.py"),
            entry="answer",
        )

    def write(self, name: str, text: str) -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def result(self) -> dict[str, Any]:
        reply = self.runtime.call(self.handler, event(), 30.0)
        assert reply.outcome is Outcome.OK, reply
        return dict(reply.result)

    def word(self) -> str | None:
        word: str | None = self.result()["word"]
        return word


@pytest.fixture
def project(tmp_path: Path, compiled_python: Path, marked: Any) -> Iterator[Project]:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/pycache").symlink_to(compiled_python)
    project = Project(tmp_path)
    yield project
    project.runtime.close()


def _let_directory_times_pass(project: Project) -> None:
    for directory in ("one", "two"):
        os.utime(project.root / directory, (1_700_000_000, 1_700_000_000))


@pytest.mark.slow
def test_module_that_changes_during_the_call_that_imports_it_is_loaded_anew(project: Project) -> None:
    project.write("one/rules.py", 'WORD = "before"\n')
    project.write("wait", "")
    words: list[str | None] = []
    call = threading.Thread(target=lambda: words.append(project.word()))
    call.start()
    while not (project.root / "waiting").exists():
        time.sleep(0.01)
    project.write("one/rules.py", 'WORD = "after"\n')
    (project.root / "wait").unlink()
    call.join()
    assert words == ["before"]
    assert project.word() == "after"


@pytest.mark.slow
def test_module_that_changes_to_one_of_the_same_size_and_time_is_loaded_anew(project: Project) -> None:
    for word in ("aaa", "bbb"):
        os.utime(project.write("one/rules.py", f'WORD = "{word}"\n'), (1_700_000_000, 1_700_000_000))
        assert project.word() == word


@pytest.mark.slow
@pytest.mark.parametrize("settled", [True, False], ids=["old directory", "new directory"])
@pytest.mark.parametrize("name", ["one/rules.py", "two/rules.py", "two/rules/__init__.py"])
def test_module_that_was_missing_is_imported_once_it_is_there(project: Project, name: str, settled: bool) -> None:
    if settled:
        _let_directory_times_pass(project)
    assert [project.word(), project.word()] == [None, None]
    project.write(name, 'WORD = "there"\n')
    assert project.word() == "there"
    (project.root / name).unlink()
    if "/rules/" in name:
        (project.root / name).parent.rmdir()
    assert project.word() is None


@pytest.mark.slow
def test_module_that_was_missing_in_a_package_is_imported_once_it_is_there(project: Project) -> None:
    project.write("one/package/__init__.py", "")
    project.write("one/rules.py", 'WORD = "outside"\n')
    assert project.word() == "outside"
    project.write("one/package/rules.py", 'WORD = "inside"\n')
    assert project.word() == "inside"


@pytest.mark.slow
def test_module_in_an_earlier_directory_of_the_path_replaces_the_later_one(project: Project) -> None:
    project.write("two/rules.py", 'WORD = "two"\n')
    _let_directory_times_pass(project)
    assert [project.word(), project.word()] == ["two", "two"]
    project.write("one/rules.py", 'WORD = "one"\n')
    assert project.word() == "one"
