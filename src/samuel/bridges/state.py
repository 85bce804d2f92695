"""The state of a client's bridge: where its entries are, and what the last proof concluded."""

from __future__ import annotations

from typing import NamedTuple

from samuel.bridges.check import check
from samuel.bridges.files import BridgeContext
from samuel.bridges.proofs import Proof, latest_proofs
from samuel.clients.table import CLIENTS, LAYOUTS


class BridgeState(NamedTuple):
    """Whether the hooks of a client ask Samuel."""

    levels: tuple[str, ...]
    """Whose files have entries: `project`, `user`, both or neither."""
    problems: tuple[str, ...]
    """Why Samuel is not asked though there are entries."""
    proof: Proof | None
    """The latest proof in this project."""


def bridge_state(context: BridgeContext, client: str) -> BridgeState | None:
    """The state of a client's bridge; None for an agent that has no hooks."""
    if client not in LAYOUTS or client not in CLIENTS:
        return None
    checked = check(context, client)
    levels = tuple(dict.fromkeys(entry.level for entry in checked.entries))
    problems = checked.problems if levels else ()
    return BridgeState(levels, problems, latest_proofs(context.user.state, context.root).get(client))
