from __future__ import annotations

import pytest

from samuel.shipped.table import SHIPPED_HOOKS, definition
from samuel.sources.yaml_file import read_hook


@pytest.mark.parametrize("name", SHIPPED_HOOKS)
def test_every_shipped_hook_comes_with_a_definition_that_is_valid_and_disabled(name: str) -> None:
    hook = read_hook(definition(name), f"{name}.yaml", SHIPPED_HOOKS)
    assert (hook.id, hook.kind, hook.command, hook.enabled) == (name, "builtin", name, False)
    assert hook.events == SHIPPED_HOOKS[name].events
    assert hook.summary


def test_the_definition_of_policy_guard_is_a_blocking_guard() -> None:
    hook = read_hook(definition("policy_guard"), "policy_guard.yaml", SHIPPED_HOOKS)
    assert hook.blocking
    assert hook.role == "guard"
