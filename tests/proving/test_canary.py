"""The temporary guard of a proof: it denies its own mark and nothing else, and no project can leave it out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from samuel.app import App, Overrides
from samuel.base.paths import CANARIES
from samuel.emit.host import proof_guards
from samuel.proving import canary as canaries
from samuel.proving.canary import ALLOWED, DENIED, LONGEST_PROOF
from samuel.testing import SamuelProject


def opened(project: SamuelProject) -> App:
    """The project as `samuel emit` opens it."""
    return project.open(overrides=Overrides(user_guards=proof_guards(project.user)))


def fire(project: SamuelProject, tool_input: Any) -> tuple[bool, str]:
    with opened(project) as app:
        fired = app.fire("PreAbilityCall", ability_id="shell", tool_input=tool_input)
    return fired.stopped, fired.reason


def test_the_guard_denies_its_mark_and_notes_what_it_was_asked(samuel_project: SamuelProject) -> None:
    with canaries.released(samuel_project.user.state) as canary:
        assert fire(samuel_project, {"command": "rm -rf build"}) == (False, "")
        assert canary.judged() == set()
        assert fire(samuel_project, {"commands": [f"touch /x/{canary.allowed}"]}) == (False, "")
        assert canary.judged() == {ALLOWED}
        assert fire(samuel_project, {"command": f"touch /x/{canary.denied}"}) == (True, canary.reason)
        assert canary.judged() == {ALLOWED, DENIED}


def test_the_guard_is_gone_when_the_proof_ends(samuel_project: SamuelProject) -> None:
    with canaries.released(samuel_project.user.state) as canary:
        pass
    assert fire(samuel_project, {"command": f"touch {canary.denied}"}) == (False, "")
    assert not (samuel_project.user.state / CANARIES).exists()
    assert canary.judged() == set()


def test_two_proofs_at_once_have_marks_of_their_own(samuel_project: SamuelProject) -> None:
    state = samuel_project.user.state
    with canaries.released(state) as first:
        with canaries.released(state) as second:
            assert fire(samuel_project, {"command": second.denied}) == (True, second.reason)
        assert first.judged() == set()
        assert fire(samuel_project, {"command": first.denied}) == (True, first.reason)


@pytest.mark.parametrize("settings", ["handlers = []", 'handlers = ["default"]', "handlers = []\nstrict = false"])
def test_no_samuel_toml_can_leave_the_guard_out(samuel_project: SamuelProject, settings: str) -> None:
    samuel_project.config(f"[hooks.PreAbilityCall]\n{settings}\n")
    with canaries.released(samuel_project.user.state) as canary:
        assert fire(samuel_project, {"command": canary.denied})[0]


def test_what_a_killed_proof_left_is_removed(samuel_project: SamuelProject) -> None:
    directory: Path = samuel_project.user.state / CANARIES
    with canaries.released(samuel_project.user.state) as canary:
        before = canary.notes.stat().st_mtime - LONGEST_PROOF - 1
        os.utime(canary.notes, (before, before))
        assert fire(samuel_project, {"command": canary.denied}) == (False, "")
        assert list(directory.iterdir()) == []


def test_a_proof_does_not_change_what_a_run_pinned(samuel_project: SamuelProject) -> None:
    with opened(samuel_project) as app:
        before = app.tool_hooks_pin
    with canaries.released(samuel_project.user.state) as canary:
        with opened(samuel_project) as app:
            assert app.tool_hooks_pin == before
        assert fire(samuel_project, {"command": canary.denied})[0]
