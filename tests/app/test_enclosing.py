"""The guards of the project around an opened one."""

from __future__ import annotations

import pytest
from tests.conftest import py_guard

import samuel
from samuel.process.passed import PINNED
from samuel.testing import SamuelProject

GUARD = py_guard("return {}")


def test_call_in_a_nested_project_is_refused_if_the_run_around_it_pinned_other_guards(
    samuel_project: SamuelProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that makes a project of its own below that of its run is still the agent of the run."""
    samuel_project.config("")
    samuel_project.python_hook("guard", GUARD)
    samuel_project.trust()
    with samuel_project.open() as around:
        pin = around.tool_hooks_pin
    inner = samuel_project.root / "pkg"
    inner.mkdir()
    (inner / "samuel.toml").touch()
    monkeypatch.setenv("SAMUEL_PROJECT_ROOT", str(samuel_project.root))
    monkeypatch.setenv(PINNED, pin)
    with samuel.App(inner) as app:
        assert [project.pinned_run is not None for project in app.enclosing] == [True]
        assert app.fire("PreAbilityCall", ability_id="x").ok
    samuel_project.config("[hooks.PreAbilityCall]\nhandlers = []\n")
    with (
        samuel.App(inner) as app,
        pytest.raises(samuel.SamuelError, match="not what they were when the run started"),
    ):
        app.fire("PreAbilityCall", ability_id="x")
