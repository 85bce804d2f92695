from __future__ import annotations

from tests.process.conftest import env, python, wait_for

__all__ = ["env", "python", "wait_for"]
