"""Content that is swapped in between the permit and the call: what it says never counts."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path

import pytest
from tests.length import at_length

from samuel.dispatch.dispatcher import CHANGED
from samuel.testing import SamuelProject

DENIES, ALLOWS = '{"decision": "deny", "reason": "the trusted guard says no"}', "{}"
PYTHON = "import samuel\n\n@samuel.hook('PreAbilityCall', role='guard')\ndef guard(event):\n    return {}\n"
YAML = "id: guard\nevent_type: PreAbilityCall\nhandler: {kind: script, command: tools/guard.sh}\nblocking: true\n"


def script(answer: str) -> str:
    return f"#!/bin/sh\n[ \"$1\" = hook ] && echo PreAbilityCall && exit\ncat >/dev/null\necho '{answer}'\n"


def guard(project: SamuelProject, kind: str, answer: str) -> tuple[Path, str]:
    """A trusted guard of this kind that answers so; its file, and the same with the other answer."""
    other = ALLOWS if answer == DENIES else DENIES
    if kind == "python":
        text = PYTHON.replace("return {}", f"return {answer}")
        return project.python_hook("guard", text), PYTHON.replace("return {}", f"return {other}")
    if kind == "exec":
        return project.hook("guard.sh", script(answer)), script(other)
    file = project.root / "tools/guard.sh"
    file.parent.mkdir()
    file.write_text(script(answer))
    file.chmod(0o755)
    project.hook("guard.yaml", YAML, executable=False, where=project.root / ".system/hooks")
    return file, script(other)


@pytest.mark.parametrize("kind", ["python", "exec", "yaml"])
def test_guard_that_is_swapped_all_the_time_never_lets_a_call_through(
    samuel_project: SamuelProject, kind: str
) -> None:
    samuel_project.config("")
    file, swapped = guard(samuel_project, kind, DENIES)
    trusted, mode = file.read_text(), file.stat().st_mode
    samuel_project.open()
    over = threading.Event()
    other = samuel_project.root.parent / "other"

    def swap() -> None:
        for text in itertools.cycle((swapped, trusted)):
            other.write_text(text)
            other.chmod(mode)
            os.replace(other, file)
            if over.is_set():
                return

    writer = threading.Thread(target=swap)
    writer.start()
    try:
        for _ in range(at_length(20, 150)):
            assert samuel_project.fire("PreAbilityCall", ability_id="x").stopped
    finally:
        over.set()
        writer.join()


@pytest.mark.parametrize("kind", ["exec", "yaml"])
def test_guard_whose_file_was_another_for_a_moment_is_refused(samuel_project: SamuelProject, kind: str) -> None:
    """Its content is what it was before, so only the call that was under way does not count."""
    samuel_project.config("")
    file, _ = guard(samuel_project, kind, ALLOWS)
    text = script(ALLOWS).replace("cat", f"[ -e swapped ] || {{ cp -p {file} swapped; cp swapped {file}; }}\ncat")
    file.write_text(text)
    samuel_project.trust()
    fired = samuel_project.fire("PreAbilityCall", ability_id="x")
    assert (fired.stopped, CHANGED in fired.reason) == (True, True), fired.reason
    assert not samuel_project.fire("PreAbilityCall", ability_id="x").stopped
