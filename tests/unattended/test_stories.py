"""Two projects as people have them, adopted in the evening and looked at in the morning.

One is a Python package with its test in the root, the other one a JavaScript package whose installed dependencies
have Python tests in them. Nothing is configured but the agent: `run init` finds the checks.
"""

from __future__ import annotations

import shutil

import pytest
from tests.unattended.conftest import MakeProject
from tests.unattended.project import LEAN_PYTEST, UnattendedProject, do

NONE = dict.fromkeys(("calc.py", "tests/test_calc.py", "tests/__init__.py", "Makefile"))
DONE = do(["solve"], ["claim"])

# A Python package

INFLECT = 'def underscore(word):\n    return word.replace("-", "_").lower()\n'
TEST_INFLECT = """\
from inflect_words import underscore


def test_underscore():
    assert underscore("Device-Type") == "device_type"
"""
PYTHON_PACKAGE = {
    **NONE,
    "inflect_words.py": INFLECT,
    "test_inflect_words.py": TEST_INFLECT,
    "setup.cfg": f"[metadata]\nname = inflect-words\nversion = 1.0\n\n[tool:pytest]\naddopts = {LEAN_PYTEST}\n",
    "README.md": "# Words\n\n- `underscore`\n",
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
}
KEBABIZE = INFLECT + '\n\ndef kebabize(word):\n    return word.replace("_", "-").lower()\n'
TEST_KEBABIZE = TEST_INFLECT.replace("underscore\n\n\n", "kebabize, underscore\n\n\n", 1) + (
    '\n\ndef test_kebabize():\n    assert kebabize("Device_Type") == "device-type"\n'
)


@pytest.fixture
def python_package(make_project: MakeProject) -> UnattendedProject:
    project = make_project(
        "Add kebabize",
        "Add it to the README",
        "Rewrite the rules",
        "Set the version to 1.1",
        t2="Depends on: 1",
        files=PYTHON_PACKAGE,
        checks=None,
        settings="commit = true",
    )
    project.solution("1", {"inflect_words.py": KEBABIZE, "test_inflect_words.py": TEST_KEBABIZE})
    project.solution("2", {"README.md": "# Words\n\n- `underscore`\n- `kebabize`\n"})
    project.solution("4", {"setup.cfg": PYTHON_PACKAGE["setup.cfg"].replace("1.0", "1.1")})
    return project


@pytest.mark.slow
def test_a_python_package_gets_its_checks_and_its_morning_despite_a_hard_task(
    python_package: UnattendedProject,
) -> None:
    project = python_package
    assert "pytest" in project.read("samuel.toml")
    # Ctrl-C in the first task, and a third one that the agent cannot do.
    project.plan("1", do(["solve"], ["interrupt"], ["claim"]), DONE)
    project.plan("3", do(["write", "inflect_words.py", "def underscore(:\n"], ["claim"]))

    project.start(code=130)
    project.start(code=1)

    assert project.statuses() == {"1": "completed", "2": "completed", "3": "blocked", "4": "completed"}
    assert project.git("show", "HEAD:inflect_words.py") == KEBABIZE
    assert "kebabize" in project.git("show", "HEAD:README.md")
    assert "1.1" in project.git("show", "HEAD:setup.cfg")
    assert project.git("status", "--porcelain") == ""
    assert "inflect_words.py" in project.samuel("run", "show", "3", "--diff").out
    assert all(project.tasks()[id]["commit_sha"] for id in ("1", "2", "4"))


# A JavaScript package

JS_PACKAGE = {
    **NONE,
    "package.json": """{
  "name": "tiny-args",
  "version": "1.0.0",
  "scripts": {"lint": "node lint.js", "pretest": "npm run lint --silent", "test": "node --test test/"}
}
""",
    "index.js": "exports.parse = (words) => ({ _: words });\n",
    "lint.js": "require('fs').appendFileSync('../outside/lint.log', 'x');\n",
    "test/parse.js": """\
const test = require('node:test');
const assert = require('node:assert');
const { parse } = require('..');
test('words', () => assert.deepStrictEqual(parse(['a'])._, ['a']));
""",
    ".gitignore": "node_modules/\n",
    "node_modules/node-gyp/gyp/tests/test_gyp.py": "def test_gyp():\n    raise SystemExit(1)\n",
    "node_modules/node-gyp/pytest.ini": "[pytest]\n",
}
WITH_CHOICES = "exports.parse = (words) => ({ _: words });\nexports.choices = (words) => new Set(words);\n"
TEST_CHOICES = """\
const test = require('node:test');
const assert = require('node:assert');
const { choices } = require('..');
test('choices', () => assert.ok(choices(['a']).has('a')));
"""


@pytest.fixture
def js_package(make_project: MakeProject) -> UnattendedProject:
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("NOT TESTED: node and npm are not installed")
    project = make_project(
        "Add choices",
        "Describe them",
        files=JS_PACKAGE,
        checks=None,
        settings='commit = true\nevidence = "in place"',
    )
    project.solution("1", {"index.js": WITH_CHOICES, "test/choices.js": TEST_CHOICES})
    project.solution("2", {"README.md": "choices\n"})
    return project


@pytest.mark.slow
def test_a_js_package_is_checked_by_its_own_tests_and_a_softened_script_is_put_back(
    js_package: UnattendedProject,
) -> None:
    project = js_package
    config = project.read("samuel.toml")
    assert "npm test" in config
    assert "pytest" not in config  # what is installed is not the project's
    assert "lint" not in config  # `pretest` runs it already
    softened = JS_PACKAGE["package.json"].replace("node --test test/", "true")
    project.plan("1", do(["write", "index.js", "broken(\n"], ["write", "package.json", softened], ["claim"]), DONE)

    project.start()

    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert project.read("package.json") == JS_PACKAGE["package.json"]
    first = project.tasks()["1"]
    assert first["attempts"] == 1
    assert project.files_of(first["commit_sha"]) == {"index.js", "test/choices.js"}
    assert project.git("status", "--porcelain") == ""
    assert project.exists("node_modules/node-gyp/gyp/tests/test_gyp.py")


@pytest.mark.slow
def test_a_js_package_loses_no_file_of_a_completed_task_after_ctrl_c(js_package: UnattendedProject) -> None:
    project = js_package
    project.plan("1", do(["solve"], ["interrupt"], ["claim"]), DONE)

    project.start(code=130)
    project.start()

    assert project.statuses() == {"1": "completed", "2": "completed"}
    assert project.files_of(project.tasks()["1"]["commit_sha"]) == {"index.js", "test/choices.js"}
    assert project.git("status", "--porcelain") == ""
