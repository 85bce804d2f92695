"""The guard of a proof that is under way: a call of a client is judged by it as by any guard of the user's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from samuel.base.clock import SystemClock
from samuel.base.paths import CANARIES, User

if TYPE_CHECKING:
    from samuel.hooks.handler import Handler


def proof_guards(user: User) -> tuple[Handler, ...]:
    """The temporary guard; () if no proof is under way."""
    if not os.path.lexists(user.state / CANARIES):
        return ()
    from samuel.proving.canary import guards  # few calls are made during a proof

    return tuple(guards(user.state, SystemClock().now()))
