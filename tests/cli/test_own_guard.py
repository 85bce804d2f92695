"""A guard in the user's home directory holds in every project, whatever the project's samuel.toml says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


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
