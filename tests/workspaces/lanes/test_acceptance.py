"""Acceptance tests of tasks that are worked on in lanes: the same grades, and each lands with its task."""

from __future__ import annotations

import sys

from tests.workspaces.lanes.project import LaneProject

CHECK = f'["{sys.executable} -m unittest discover -s tests -t ."]'
FILES = {
    "tests/__init__.py": "",
    "tests/test_it.py": (
        "import unittest\n\n\nclass OldTest(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    ),
}
ACCEPTANCE = (
    "import unittest\n\nfrom answer_$SAMUEL_TASK_ID import answer\n\n\nclass AnswerTest(unittest.TestCase):\n"
    "    def test_one(self):\n        self.assertEqual(answer(1), 2)\n\n"
    "    def test_two(self):\n        self.assertEqual(answer(2), 3)\n"
)
AUTHOR = (
    f'if [ "$SAMUEL_MODE" = acceptance ]; then cat > tests/test_answer_$SAMUEL_TASK_ID.py <<END\n{ACCEPTANCE}END\n'
)
HONEST = AUTHOR + 'else printf "def answer(n):\\n    return n + 1\\n" > answer_$SAMUEL_TASK_ID.py; fi\n'
LIAR = AUTHOR + 'else printf "def answer(n):\\n    return 2\\n" > answer_$SAMUEL_TASK_ID.py; fi\n'
SETTINGS = 'acceptance = "agent"\nacceptance_visible = false\nmax_task_attempts = 2'


def test_lanes_judge_by_the_acceptance_tests_of_each_task(lanes: LaneProject) -> None:
    lanes.prepare(3, settings=SETTINGS, checks=CHECK, files=FILES)
    lanes.task("any", HONEST)
    lanes.task("3", LIAR)
    lanes.start(lanes=2, code=1)
    rows = {id: (row["status"], row["grade"]) for id in "123" if (row := lanes.row(id))}
    assert rows == {"1": ("completed", "proven"), "2": ("completed", "proven"), "3": ("blocked", "")}
    for id in "12":
        tests = lanes.git("show", f"main:tests/test_answer_{id}.py")
        assert tests == ACCEPTANCE.replace("$SAMUEL_TASK_ID", id)
    assert "test_answer_3" not in lanes.git("ls-tree", "-r", "--name-only", "main")
    attempts = lanes.samuel("run", "show", "3", "--json").data["attempts"]
    assert [attempt["mode"] for attempt in attempts] == ["acceptance", "implementation", "implementation"]
    assert "some of which you cannot see" in attempts[-1]["why"]
    acceptance = {entry["id"]: entry for entry in lanes.samuel("run", "status", "--json").data["acceptance"]}
    assert (acceptance["1"]["hidden"], len(acceptance["1"]["files"]), acceptance["1"]["why"]) == (1, 1, "")
