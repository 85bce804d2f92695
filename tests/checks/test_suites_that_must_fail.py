"""That the checks can fail is shown for the suites that load the work, in a project with several."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.cheats.judged import JudgedProject
from tests.conftest import plain_git

from samuel.evidence.plant.planted import CalledRunner
from samuel.evidence.plant.siblings import may_load
from samuel.tasks.task import Task

TASK = Task(id="1", title="Fix: next must return 0 for null", kind="fix")
JS_TESTS = """\
const test = require('node:test');
const assert = require('assert');
const { next } = require('../index.js');

test('next', () => {
  assert.equal(next(1), 2);
});
"""
NEW_TEST = "\ntest('null', () => {\n  assert.equal(next(null), 0);\n});\n"
FILES = {
    "api/core.py": "def same(x):\n    return x\n",
    "api/test_core.py": "from core import same\n\n\ndef test_same():\n    assert same(1) == 1\n",
    "web/package.json": '{"name": "web", "scripts": {"test": "node --test"}}\n',
    "web/index.js": "exports.next = (x) => x + 1;\n",
    "web/test/index.test.js": JS_TESTS,
    "Makefile": "check:\n\tcd api && python -m pytest -q\n\tcd web && node --test\n",
}
SEPARATE = ["cd api && python -m pytest -q", "cd web && node --test"]


def project_with(root: Path, commands: list[str]) -> JudgedProject:
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = plain_git(root.parent)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    project = JudgedProject(root, root.parent / "own", commands, None)
    project.begin()
    return project


@pytest.mark.parametrize("commands", [["make check"], SEPARATE], ids=["one command", "two commands"])
def test_disarmed_suite_is_refused_although_the_other_one_can_fail(tmp_path: Path, commands: list[str]) -> None:
    def cheat(root: Path) -> None:
        (root / "web/index.js").write_text(FILES["web/index.js"] + "require('assert').equal = () => {};\n")
        (root / "web/test/index.test.js").write_text(JS_TESTS + NEW_TEST)

    judged = project_with(tmp_path / "shop", commands).claim(TASK, cheat, "ask")
    assert judged.word == "refused"


@pytest.mark.parametrize("commands", [["make check"], SEPARATE], ids=["one command", "two commands"])
def test_honest_work_in_one_of_two_suites_is_proven(tmp_path: Path, commands: list[str]) -> None:
    def work(root: Path) -> None:
        (root / "web/index.js").write_text("exports.next = (x) => (x === null ? 0 : x + 1);\n")
        (root / "web/test/index.test.js").write_text(JS_TESTS + NEW_TEST)

    assert project_with(tmp_path / "shop", commands).claim(TASK, work, "ask").word == "proven"


@pytest.mark.parametrize(
    ("call", "path", "loads"),
    [
        (CalledRunner("pytest", (), "api"), "api/core.py", True),
        (CalledRunner("pytest", (), "api"), "shared/core.py", True),
        (CalledRunner("pytest", (), "api"), "web/tool.py", False),
        (CalledRunner("pytest", (), "api"), "api/page.js", False),
        (CalledRunner("pytest"), "web/tool.py", True),
        (CalledRunner("pytest"), "native/fast.c", True),
        (CalledRunner("rspec"), "lib/cart.rb", True),
        (CalledRunner("node-test", (), "web"), "api/core.py", False),
    ],
)
def test_suite_may_load_files_of_its_language_outside_the_other_suites(
    call: CalledRunner, path: str, loads: bool
) -> None:
    assert may_load(call, path, {"api", "web", ""}) is loads
