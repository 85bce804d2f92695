from __future__ import annotations

import pytest

from samuel.rules.table import SHIPPED
from samuel.shipped.definition import definition
from samuel.sources.yaml_file import read_hook


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_hook_comes_with_a_definition_that_is_valid_and_disabled(name: str) -> None:
    hook = read_hook(definition(name), f"{name}.yaml")
    assert (hook.id, hook.kind, hook.command, hook.enabled) == (name, "builtin", name, False)
    assert hook.events == (SHIPPED[name].event,)
    assert hook.summary


def test_a_guard_that_cannot_answer_denies() -> None:
    hook = read_hook(definition("policy_guard"), "policy_guard.yaml")
    assert hook.blocking
    assert hook.role == "guard"
