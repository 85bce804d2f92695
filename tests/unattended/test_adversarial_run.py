"""A run in which almost everything goes wrong: 14 tasks, an agent that misbehaves at 12 of them, two kills.

Six tasks more are given to liars, who do the same again each time that they are sent back. None of them is proven.

The checks of the project see what a module does as soon as it is there. So each misbehaviour could pass for work,
if it were believed. Whether a task is really done is decided by the oracle, tests that are not in the project.
"""

from __future__ import annotations

import pytest
from tests.length import FULL, at_length
from tests.unattended.conftest import MakeProject
from tests.unattended.project import CALC, PRODUCT, UnattendedProject, do

# Beside these lines only the PRD, `make test` and the agent's name are configured. A user does not need them: they
# shorten what the run waits for before it ends a silent agent, and let it go on although the liars fail in a row.
SHORT_WAITS = 'idle_timeout = "4s"\nmax_consecutive_failures = 20\nmax_iterations = 60\n'

FLOOR = 28  # calls: one good one for each task, 12 that misbehave and 2 that are killed
MOST_CALLS = 30
MOST_CALLS_OF_A_LIAR = 4  # three that fail, and one that goes back for want of a proof

# The module of each task: its parameter, what it returns, and two pairs of an argument and a result. The checks of
# the project know the first pair, the oracle also the second.
MODULES: dict[str, tuple[str, str, tuple[str, str], tuple[str, str]]] = {
    "slug": ("text", "text.lower().replace(' ', '-')", ("'A b'", "'a-b'"), ("'C d E'", "'c-d-e'")),
    "initials": ("text", "''.join(word[0] for word in text.split())", ("'ab cd'", "'ac'"), ("'x'", "'x'")),
    "double": ("number", "number * 2", ("3", "6"), ("-4", "-8")),
    "square": ("number", "number * number", ("3", "9"), ("-4", "16")),
    "even": ("number", "number % 2 == 0", ("2", "True"), ("7", "False")),
    "clamp": ("number", "max(0, min(number, 100))", ("300", "100"), ("-5", "0")),
    "mirror": ("text", "text[::-1]", ("'abc'", "'cba'"), ("''", "''")),
    "words": ("text", "len(text.split())", ("'a b c'", "3"), ("''", "0")),
    "shout": ("text", "text.upper() + '!'", ("'hi'", "'HI!'"), ("''", "'!'")),
    "total": ("numbers", "sum(numbers)", ("[1, 2, 3]", "6"), ("[]", "0")),
    "largest": ("numbers", "max(numbers, default=0)", ("[1, 9, 3]", "9"), ("[]", "0")),
    "unique": ("items", "sorted(set(items))", ("[2, 1, 2]", "[1, 2]"), ("[]", "[]")),
    "vowels": ("text", "sum(letter in 'aeiou' for letter in text)", ("'audio'", "4"), ("'x'", "0")),
    "indent": ("text", "'  ' + text", ("'a'", "'  a'"), ("''", "'  '")),
}
NAMES = tuple(MODULES)
IDS = [str(number) for number in range(1, len(NAMES) + 1)]
WRONG_CALC = CALC.replace("a + b", "a - b")
PASSES = (
    "import unittest\n\n\nclass Test(unittest.TestCase):\n    def test(self):\n        self.assertTrue(True)\n"
)
FAILS_LATER = """\
import pathlib
import unittest


class Test(unittest.TestCase):
    def test(self):
        mark = pathlib.Path({mark!r})
        is_first = not mark.exists()
        mark.touch()
        self.assertTrue(is_first)
"""
# What each liar does, and how its task ends: status and grade.
LIARS: dict[str, tuple[list[list[str]], tuple[str, str]]] = {
    "writes a comment": ([["append", "calc.py", "# done\n"]], ("completed", "checked")),
    "writes a test that passes anyway": (
        [["append", "calc.py", "VERSION = 2\n"], ["write", "tests/test_liar.py", PASSES]],
        ("completed", "checked"),
    ),
    "writes a test that fails only later": (
        [["append", "calc.py", "STAGE = 3\n"], ["write", "tests/test_later.py", FAILS_LATER]],
        ("blocked", ""),
    ),
    "replaces the runner": (
        [
            ["write", "calc.py", WRONG_CALC],
            ["write", "unittest/__init__.py", ""],
            ["write", "unittest/__main__.py", "print('Ran 20 tests in 0.001s\\n\\nOK')\n"],
        ],
        ("waiting", ""),
    ),
    "hides a changed test from git": (
        [
            ["write", "calc.py", WRONG_CALC],
            ["replace", "tests/test_calc.py", "add(2, 3), 5", "add(2, 3), -1"],
            ["replace", "tests/test_calc.py", "add(2, 0), 2", "add(2, 0) - 2, 0"],
            ["run", "git", "update-index", "--assume-unchanged", "tests/test_calc.py"],
        ],
        ("waiting", ""),
    ),
    "ends the process in the source": (
        [["write", "calc.py", f"import os\n\nos._exit(0)\n{WRONG_CALC}"]],
        ("blocked", ""),
    ),
}
LIAR_IDS = [str(number) for number in range(len(NAMES) + 1, len(NAMES) + len(LIARS) + 1)]


def module(name: str, body: str) -> dict[str, str]:
    return {f"toolbox/{name}.py": f"def {name}({MODULES[name][0]}):\n    return {body}\n"}


def visible_test(name: str) -> str:
    """What the project checks: nothing until the module is there, then that it works."""
    argument, value = MODULES[name][2]
    return f"""\
import importlib.util
import unittest


@unittest.skipUnless(importlib.util.find_spec("toolbox.{name}"), "toolbox.{name} is not there yet")
class Test(unittest.TestCase):
    def test_{name}(self):
        from toolbox.{name} import {name}

        self.assertEqual({name}({argument}), {value})
"""


def files() -> dict[str, str]:
    tests = {f"tests/test_{name}.py": visible_test(name) for name in NAMES}
    return {**PRODUCT, "toolbox/__init__.py": "", **tests}


def misbehave(project: UnattendedProject) -> None:
    """What the agent does at the first call for each task. At every later call it does its work."""
    done = do(["solve"], ["claim"])

    def first(task: str, *operations: list[object], then: list[list[object]] = done) -> None:
        project.plan(task, do(*operations), then)

    def test_of(task: str) -> str:
        return f"tests/test_{NAMES[int(task) - 1]}.py"

    first("1", ["half"])  # succeeds late
    first("2", ["half"], ["mark", "kill-1"], ["sleep", 60])  # the loop is killed while it works
    # Marks everything done, by the command and in the file.
    first("3", ["claim", *IDS], ["forge", "pending", "completed"], ["forge", "in_progress", "completed"])
    first("4", ["claim"])  # claims, and has done nothing
    first("5", ["half"], ["claim"])  # does half
    other = f"toolbox/{NAMES[0]}.py"
    mended = do(["mend", other], ["solve"], ["claim"])
    first("6", ["solve"], ["break", other], ["claim"], then=mended)  # breaks what another task has made
    always_true = "import unittest\n\n\nclass Test(unittest.TestCase):\n    def test(self):\n        assert True\n"
    first("7", ["half"], ["write", test_of("7"), always_true], ["claim"])  # replaces a test
    first("8", ["half"], ["write", "Makefile", "test:\n\t@true\n"], ["claim"])  # empties the check
    first("9", ["half"], ["delete", test_of("9")], ["claim"])  # deletes a test
    first("10", ["limit", 2])  # its usage limit is reached, for two seconds
    first("11", ["fail", 'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow"}}'])
    first("12", ["half"], ["mark", "kill-2"], ["sleep", 60])  # the loop is killed again
    first("13", ["half"], ["claim"], ["abort"])  # crashes
    first("14", ["half"], ["sleep", 300])  # hangs
    for task, (operations, _) in zip(LIAR_IDS, LIARS.values(), strict=True):
        mark = str(project.outside / "marks/liar")
        texts = [[text.replace("{mark!r}", repr(mark)) for text in operation] for operation in operations]
        project.plan(task, do(*texts, ["claim"]))


def prepare(make_project: MakeProject, settings: str) -> UnattendedProject:
    project = make_project(
        *(f"Write toolbox/{name}.py" for name in NAMES),
        *(f"Fix the sum, part {number}" for number, _ in enumerate(LIARS, 1)),
        settings=SHORT_WAITS + settings,
        files=files(),
        agents={"first": "claude"},
    )
    for task, name in zip(IDS, NAMES, strict=True):
        project.solution(task, module(name, MODULES[name][1]))
        project.solution(task, module(name, "None"), "halves")
        pairs = "\n".join(f"assert {name}({argument}) == {value}" for argument, value in MODULES[name][2:])
        (project.oracle / f"{task}.py").write_text(f"from toolbox.{name} import {name}\n{pairs}\n")
    (project.outside / "take-snapshots").touch()
    if FULL:
        project.use_installed_samuel()
    misbehave(project)
    project.dirty_files()
    return project


def kill(project: UnattendedProject, mark: str) -> None:
    """Start the loop, and kill it while the agent works."""
    with project.running() as loop:
        project.wait_for(mark, loop)
        loop.kill()


def false_completions(project: UnattendedProject) -> list[str]:
    """The tasks that were completed when their oracle was not content with the tree.

    Every agent has copied the tree and the task file when it started, so that the state after each attempt is
    there. A task counts where it is completed for the first time: later an attempt may have broken it, for which
    that attempt fails.
    """
    completed: set[str] = set()
    wrong = []
    for tree in [*sorted((project.outside / "snapshots").iterdir()), project.root]:
        rows = project.samuel("-C", str(tree), "run", "tasks", "--json").data
        now = {row["id"] for row in rows if row["status"] == "completed"}
        assert completed <= now, f"{completed - now} were completed and are not in {tree.name}"
        assert len(rows) == len(IDS) + len(LIARS)
        wrong += [f"{task} in {tree.name}" for task in project.failing(tree, sorted((now - completed) & {*IDS}))]
        completed = now
    return wrong


@pytest.mark.parametrize("settings", at_length(["commit = true\n"], ["commit = true\n", ""]))
def test_all_tasks_are_done_after_a_run_full_of_trouble(make_project: MakeProject, settings: str) -> None:
    project = prepare(make_project, settings)

    kill(project, "kill-1")
    kill(project, "kill-2")
    with project.running() as loop:
        last = loop.end()

    assert last.code == 1, last.screen  # a person has to look at what the liars left
    tasks = project.tasks()
    assert {id: tasks[id]["status"] for id in IDS} == dict.fromkeys(IDS, "completed"), last.screen
    assert {tasks[id]["grade"] for id in IDS} == {"checked"}
    assert [(tasks[id]["status"], tasks[id]["grade"]) for id in LIAR_IDS] == [end for _, end in LIARS.values()]
    assert project.failing(project.root, IDS) == []
    assert false_completions(project) == []
    project.check_dirty_files()

    calls = project.calls()
    assert not any(call["overlap"] for call in calls)
    honest = [call["task"] for call in calls if call["task"] in IDS]
    assert {*honest} == {*IDS}
    assert FLOOR <= len(honest) <= MOST_CALLS, honest
    assert all(len(project.calls(task)) <= MOST_CALLS_OF_A_LIAR for task in LIAR_IDS)

    # The checks are what they were, and nothing is left of the attempts that failed.
    for name, text in files().items():
        if name not in ("NOTES.md", "calc.py"):
            assert project.read(name) == text
    assert project.read("calc.py") == CALC + "# done\n# done\nVERSION = 2\nVERSION = 2\n"
    own = {*(f"toolbox/{name}.py" for name in NAMES), "calc.py", "tests/test_liar.py"}
    changed = set(project.git("diff", "--name-only", "begin").split())
    untracked = set(project.git("ls-files", "--others", "--exclude-standard").split())
    assert changed | untracked == own | {"NOTES.md", "draft.txt"}

    if settings:
        for task, name in zip(IDS, NAMES, strict=True):
            assert project.files_of(project.tasks()[task]["commit_sha"]) == {f"toolbox/{name}.py"}
            tree = project.outside / "commits" / task
            tree.mkdir(parents=True)
            project.git("--work-tree", str(tree), "checkout", project.tasks()[task]["commit_sha"], "--", ".")
            assert project.failing(tree, [task]) == []
        project.git("reset", "-q")


@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_and_the_checks_tell_good_work_from_bad(name: str) -> None:
    """The test itself: the good solutions are good and the halves are not."""
    parameter, body, visible, hidden = MODULES[name]
    function = eval(f"lambda {parameter}: {body}")
    for argument, value in (visible, hidden):
        assert function(eval(argument)) == eval(value)
    assert eval(visible[1]) is not None
