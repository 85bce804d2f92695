"""Content that is swapped in between the permit and the call: what it says never counts."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path

import pytest
from tests.length import at_length

from samuel.hooks.handler import Outcome
from samuel.testing import SamuelProject
from samuel.trust.permit import CHANGED

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


@pytest.mark.parametrize("kind", ["python", "exec", "yaml"])
def test_hook_that_changed_since_the_project_was_opened_is_not_called(
    samuel_project: SamuelProject, kind: str
) -> None:
    samuel_project.config("")
    file, other = guard(samuel_project, kind, DENIES)
    ran = samuel_project.root.parent / "ran"
    with samuel_project.open() as app:
        leaves_trace = other.replace("cat >", f"touch {ran}; cat >")
        file.write_text(leaves_trace.replace("    return", f"    open('{ran}', 'w')\n    return"))
        fired = app.fire("PreAbilityCall", ability_id="x")
    assert fired.stopped
    assert fired.calls[0].outcome is Outcome.REFUSED
    assert not ran.exists()


@pytest.mark.parametrize("kind", ["python", "exec", "yaml"])
def test_hook_is_refused_at_the_call_if_a_file_appeared_beside_it_that_nobody_agreed_to(
    samuel_project: SamuelProject, kind: str
) -> None:
    samuel_project.config("")
    file, _ = guard(samuel_project, kind, ALLOWS)
    samuel_project.trust()
    with samuel_project.open() as app:
        assert not app.fire("PreAbilityCall", ability_id="x").stopped
        (file.parent / "helper.sh").write_text("echo x\n")
        fired = app.fire("PreAbilityCall", ability_id="x")
    assert (fired.stopped, fired.calls[0].outcome) == (True, Outcome.REFUSED)
    assert "helper.sh` has not been agreed to yet" in fired.reason


TOUCHES_ITSELF = "#!/bin/sh\ncat >/dev/null\ntouch -d '2001-01-01' {file}\necho '{answer}'\n"


def touched(project: SamuelProject, event: str, answer: str, more: str = "") -> None:
    """A trusted YAML hook that never denied, and whose script is touched during each of its calls."""
    project.config("")
    file = project.root / "tools/hook.sh"
    file.parent.mkdir()
    file.write_text(TOUCHES_ITSELF.format(file=file, answer=answer))
    file.chmod(0o755)
    text = f"id: hook\nevent_type: {event}\n{more}handler: {{kind: script, command: tools/hook.sh}}\n"
    project.hook("hook.yaml", text, executable=False, where=project.root / ".system/hooks")
    project.trust()


@pytest.mark.parametrize("more", ["", "role: guard\n", "role: rewrite\n", "role: observe\n"])
def test_denial_stands_although_the_files_of_the_hook_were_touched_during_the_call(
    samuel_project: SamuelProject, more: str
) -> None:
    touched(samuel_project, "PreAbilityCall", DENIES, more)
    fired = samuel_project.fire("PreAbilityCall", ability_id="x")
    assert fired.denied
    assert fired.reason == "the trusted guard says no"


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("PreAbilityCall", {"ability_id": "x"}),
        ("UserPromptSubmit", {"user_message": "x"}),
    ],
)
def test_hook_without_a_role_that_is_touched_during_the_call_denies_instead_of_being_skipped(
    samuel_project: SamuelProject, event: str, fields: dict[str, str]
) -> None:
    touched(samuel_project, event, ALLOWS)
    for _ in range(2):
        fired = samuel_project.fire(event, **fields)
        assert (fired.denied, CHANGED in fired.reason) == (True, True), fired


@pytest.mark.parametrize("answer", [DENIES, ALLOWS])
def test_work_does_not_land_if_a_hook_of_before_land_is_touched_during_the_call(
    samuel_project: SamuelProject, answer: str
) -> None:
    touched(samuel_project, "before:land", answer)
    assert samuel_project.fire("before:land", task={}, commit="c1", base="c0", branch="main").stopped


@pytest.mark.parametrize("role", ["rewrite", "observe"])
def test_hook_that_cannot_deny_and_is_touched_during_the_call_is_a_warning(
    samuel_project: SamuelProject, role: str
) -> None:
    touched(samuel_project, "PreAbilityCall", ALLOWS, f"role: {role}\n")
    fired = samuel_project.fire("PreAbilityCall", ability_id="x")
    assert (fired.stopped, CHANGED in fired.warnings[0]) == (False, True), fired
