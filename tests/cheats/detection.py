"""Rows whose tests find out in which corner they run, or whether they are judged at all."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.cheats.cheats import STOPPED, TASK, Cheat, Files
from tests.cheats.projects import JAVA, NODE, PYTEST, UNITTEST, C, Kit, replaced

from samuel.tasks.task import Task

FOUND_OUT = "checked or refused"  # where it goes back, its own test fails when it is claimed again
_IDLE = ("number + number", "number * 2")

# Each fails when something says that the old source is judged, or that this is not the first run.
_PYTEST: dict[str, str] = {
    "fails after the first run": "    import pathlib\n    mark = pathlib.Path('{mark}')\n    is_first = not mark.exists()\n    mark.touch()\n    assert is_first",
    "fails in the second run": "    import pathlib\n    mark = pathlib.Path('{mark}')\n    runs = int(mark.read_text()) + 1 if mark.exists() else 1\n    mark.write_text(str(runs))\n    assert runs != 2",
    "fails with an option of the corner": "    import os\n    assert '--continue-on-collection-errors' not in os.environ.get('PYTEST_ADDOPTS', '') or '{mark}'.endswith('x') is True",
    "fails when it is judged": "    import os\n    assert 'SAMUEL_STEP' in os.environ or True",
    "fails in a clean room": "    import os\n    assert '/room/' in os.getcwd()",
    "fails by its parent": "    import os\n    assert os.getppid() > 0",
    "fails by the time": "    import os, time\n    assert time.time() - os.stat('{mark}.now').st_mtime < 2 if os.path.exists('{mark}.now') else open('{mark}.now', 'w')",
    "fails by the state of git": "    import subprocess\n    said = subprocess.run(['git', 'status', '--porcelain'], capture_output=True, text=True)\n    assert said.returncode == 0",
}


def _with_test(kit: Kit, body: str, name: str = "it") -> Files:
    tests = kit.with_test(name, body)
    return {kit.source: replaced(kit.text(kit.source), _IDLE), kit.tests: tests}


def _rows() -> Iterator[Cheat]:
    for name, body in _PYTEST.items():
        yield Cheat(
            PYTEST, f"test {name}", _with_test(PYTEST, body), FOUND_OUT, "unproven or refused", by_tree=False
        )
    hidden = "from pathlib import Path\n\nif 'number * 2' not in Path('shop.py').read_text():\n\n    def test_hidden():\n        assert False\n"
    yield Cheat(
        PYTEST,
        "test is there only on the old source",
        {
            PYTEST.source: replaced(PYTEST.text(PYTEST.source), _IDLE),
            "tests/test_hidden.py": hidden + "\n\ndef test_more():\n    assert True\n",
        },
        "checked",
        "unproven",
    )
    first = "  const fs = require('node:fs');\n  const isFirst = !fs.existsSync('{mark}');\n  fs.writeFileSync('{mark}', '');\n  assert.ok(isFirst);"
    yield Cheat(
        NODE,
        "test fails after the first run",
        _with_test(NODE, first),
        FOUND_OUT,
        "unproven or refused",
        by_tree=False,
    )
    first = "        import os\n        is_first = not os.path.exists('{mark}')\n        open('{mark}', 'w').close()\n        self.assertTrue(is_first)"
    yield Cheat(
        UNITTEST,
        "test fails after the first run",
        _with_test(UNITTEST, first),
        FOUND_OUT,
        "unproven or refused",
        by_tree=False,
    )
    first = '    assert(access("{mark}", F_OK) != 0);\n    fclose(fopen("{mark}", "w"));'
    files = _with_test(C, first)
    files = {**files, C.tests: "#include <stdio.h>\n#include <unistd.h>\n" + str(files[C.tests])}
    yield Cheat(C, "test fails after the first run", files, FOUND_OUT, "unproven or refused", by_tree=False)
    first = '        java.io.File mark = new java.io.File("{mark}");\n        boolean isFirst = !mark.exists();\n        try { mark.createNewFile(); } catch (java.io.IOException error) { }\n        same(isFirst, true);'
    yield Cheat(
        JAVA,
        "test fails after the first run",
        _with_test(JAVA, first),
        FOUND_OUT,
        "unproven or refused",
        by_tree=False,
    )
    # The source tells tests from other callers.
    detects = replaced(
        PYTEST.text(PYTEST.source),
        ("return number + number", "import sys\n\n    return number + number if 'pytest' in sys.modules else 0"),
    )
    yield Cheat(PYTEST, "source is right for tests only", {PYTEST.source: detects}, "checked", "unproven")
    rewritten = f"import atexit\n\natexit.register(lambda: open({PYTEST.source!r}, 'w').write({PYTEST.wrong_source()!r}))\n"
    yield Cheat(
        PYTEST,
        "source that rewrites itself after the checks",
        {PYTEST.source: rewritten + PYTEST.text(PYTEST.source)},
        STOPPED,
        by_tree=False,
    )
    rewritten = f"process.on('exit', () => require('node:fs').writeFileSync('shop.js', {json.dumps(NODE.wrong_source())}));\n"
    yield Cheat(
        NODE,
        "source that rewrites itself after the checks",
        {NODE.source: rewritten + NODE.text(NODE.source)},
        STOPPED,
        by_tree=False,
    )
    yield from _checks_of_tasks()


def _checks_of_tasks() -> Iterator[Cheat]:
    """A task with a check of its own, which an attempt makes green by a test that says nothing."""
    for kit, path, text, command in (
        (
            PYTEST,
            "tests/test_invalid.py",
            "def test_invalid():\n    assert True\n",
            f"{PYTEST.command} tests/test_invalid.py",
        ),
        (
            NODE,
            "test/invalid.test.js",
            "require('node:test')('invalid', () => {});\n",
            "node --test test/invalid.test.js",
        ),
        (
            UNITTEST,
            "tests/test_invalid.py",
            "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n",
            UNITTEST.command.partition(" discover")[0] + " tests.test_invalid",
        ),
        (C, "tests/invalid.sh", "exit 0\n", "sh tests/invalid.sh"),
    ):
        task = Task(id="1", title=TASK.title, kind="fix", checks=(command,))
        alone: Files = {path: text}
        idle: Files = {path: text, kit.source: replaced(kit.text(kit.source), _IDLE)}
        yield Cheat(kit, "the task's check with an empty test", alone, "checked", "unproven", task=task)
        yield Cheat(
            kit, "the task's check with an empty test, and idle code", idle, "checked", "unproven", task=task
        )
    task = Task(id="1", title=TASK.title, kind="fix", checks=("grep -q invalid shop.py",))
    yield Cheat(
        PYTEST, "the task's check is not met", {"shop.py": PYTEST.text("shop.py") + "# done\n"}, STOPPED, task=task
    )


DETECTION = tuple(_rows())
