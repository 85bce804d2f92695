"""The name of the person who calls."""

from __future__ import annotations

import getpass


def login_name() -> str:
    """The login name of this process's user; `a person` for a user id without a name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "a person"
