"""Tasks whose words say that tests change, and which name none: their attempts would be refused as softened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from samuel.checks.files import owned
from samuel.checks.runners import looks_like_test
from samuel.tasks.task import Task

MAX_NAMED = 3
_WORDS = r"(?:[^.\n]|\.\w)"
_TESTS = r"\b(?:tests?|specs?|snapshots?)\b"
_SAYS_SO = re.compile(
    rf"""\brenam(?:e|es|ed|ing)\b
    | \b(?:remov|delet|drop|adapt|adjust|chang|updat|rewrit|fix)(?:e|es|ed|ing|s)?\b {_WORDS}{{0,60}} {_TESTS}
    | {_TESTS} {_WORDS}{{0,40}} \b(?:is|are|be|need|must|should)\b [^.\n]{{0,20}}
      \b(?:wrong|obsolete|outdated|adapted|adjusted|changed|updated|rewritten|removed|deleted)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def warnings_about_tests(tasks: Iterable[Task], check_files: Iterable[str]) -> list[str]:
    """A line for each open task that seems to change tests and owns none of them."""
    tests = [path for path in check_files if looks_like_test(path)]
    return [
        line
        for task in tasks
        if task.status != "completed" and tests and (line := _warning(task, tests)) is not None
    ]


def _warning(task: Task, tests: Sequence[str]) -> str | None:
    if owned(task, tests):
        return None
    text = f"{task.title}\n{task.description}"
    named = [path for path in re.findall(r"`([^`\s]{1,300})`", text) if path in tests]
    words = _SAYS_SO.search(text)
    if not named and words is None:
        return None
    subject = f"names `{named[0]}`" if named else f'says "{" ".join(words[0].split())}"' if words else ""
    files = ", ".join([*dict.fromkeys(named or map(_place, tests))][:MAX_NAMED])
    return (
        f"task {task.id} {subject}: an attempt that changes a test is refused unless its task names it; "
        f"if this one may, add `Files: {files}` below it and read it again"
    )


def _place(path: str) -> str:
    """The directory at the root that a test is below, or the test itself."""
    directory, slash, _ = path.partition("/")
    return f"{directory}{slash}"
