from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from samuel.shipped.table import SHIPPED_HOOKS


@pytest.mark.parametrize("name", SHIPPED_HOOKS)
def test_the_table_names_a_function_of_each_shipped_hook(name: str) -> None:
    module, _, function = SHIPPED_HOOKS[name].function.partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_importing_the_table_does_not_import_the_code_of_the_hooks() -> None:
    code = "import sys, samuel.shipped.table; print(*(name for name in sys.modules if name.startswith('samuel.')))"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "samuel.shipped.policy_guard.rules" in modules
    assert not [name for name in modules if name.startswith("samuel.shipped.") and name.endswith(".hook")]
    assert "samuel.routing.abilities" not in modules
