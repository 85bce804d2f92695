"""Whether a caller has the variables of the server, as a process of its own would read them."""

from __future__ import annotations

import os

import pytest

from samuel.emit.serve.warm_project import OwnVariables
from samuel.testing import SamuelProject


def test_first_of_two_variables_with_the_same_name_counts(
    samuel_project: SamuelProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in Python: a hook of the caller's own process would get `strict`."""
    samuel_project.config('pass_env = ["MODE", "OTHER"]\n')
    monkeypatch.setenv("MODE", "lax")
    monkeypatch.delenv("OTHER", raising=False)
    with samuel_project.open() as app:
        own = OwnVariables([app])
    same = b"\0".join(name + b"=" + value for name, value in os.environb.items())
    assert own.objection(same) == ""
    assert own.objection(same + b"\0MODE=strict") == ""
    assert own.objection(b"MODE=strict\0" + same) == "the client has another `MODE` than the server"
    assert own.objection(b"OTHER\0" + same) == ""  # which is not set without a `=`
