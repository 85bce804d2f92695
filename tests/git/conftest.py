from __future__ import annotations

from tests.process.conftest import env

__all__ = ["env"]
