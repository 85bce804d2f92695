"""A guard in the user's home directory holds in every project, whatever the project's samuel.toml says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.tasks.store import TaskStore
from samuel.tasks.task import Task


@pytest.mark.parametrize("handlers", ["[]", '["default"]', '["..."]'])
def test_samuel_toml_of_a_clone_cannot_leave_out_a_guard_of_the_user(
    samuel: Callable[..., Any], put: Callable[..., Path], sh: Callable[[str, str], str], handlers: str
) -> None:
    guard = Path(os.environ["HOME"], ".samuel/hooks/guard")
    guard.parent.mkdir(parents=True)
    guard.write_text(sh("PreAbilityCall", """echo '{"decision": "deny", "reason": "my own rule"}'"""))
    guard.chmod(0o755)
    put("samuel.toml", f"[hooks.PreAbilityCall]\nhandlers = {handlers}\n")
    ran = samuel("emit", "PreAbilityCall", stdin='{"ability_id": "shell"}')
    assert ran.code == 2
    assert "my own rule" in ran.out


def namesake(samuel: Callable[..., Any], put: Callable[..., Path], sh: Callable[[str, str], str]) -> str:
    """A trusted hook of the project with the name of the user's own guard; the warning about it."""
    guard = Path(os.environ["HOME"], ".samuel/hooks/guard")
    guard.parent.mkdir(parents=True)
    guard.write_text(sh("PreAbilityCall", """echo '{"decision": "deny", "reason": "my own rule"}'"""))
    guard.chmod(0o755)
    put(".samuel/hooks/guard", sh("TurnEnd", "echo '{}'"), 0o755)
    assert samuel("trust", "--yes").code == 0
    return (
        "`guard` of `HOME/.samuel/hooks/guard`, which may be a guard, does not run on `PreAbilityCall`: "
        "`PROJECT/.samuel/hooks/guard` has the same name and comes first"
    )


def test_emit_names_a_guard_of_the_user_that_a_hook_of_the_project_hides(
    samuel: Callable[..., Any], put: Callable[..., Path], sh: Callable[[str, str], str]
) -> None:
    warning = namesake(samuel, put, sh)
    for _ in range(2):  # the second time from what was cached
        ran = samuel("emit", "PreAbilityCall", stdin='{"ability_id": "shell"}')
        assert (ran.code, ran.out) == (0, "{}\n")
        assert ran.err.replace(os.environ["HOME"], "HOME") == f"warning: {warning}\n"


@pytest.mark.slow
def test_run_start_names_a_guard_of_the_user_that_a_hook_of_the_project_hides(
    samuel: Callable[..., Any], put: Callable[..., Path], sh: Callable[[str, str], str], project: Path
) -> None:
    warning = namesake(samuel, put, sh)
    agent = '[agents.mine]\ncommand = ["true"]\nprompt = "stdin"\n'
    put("samuel.toml", f"{agent}[methodology.ralph]\nagent = 'mine'\npause = '0s'\n")
    TaskStore(project / ".samuel/run").replace_all([Task(id="1", title="One")])
    ran = samuel("run", "start", "--yes", "--iterations", "1", "--accept-unguarded")
    assert warning in (ran.out + ran.err).replace(os.environ["HOME"], "HOME")
