"""The latest proofs of bridges, in the user's state directory: one for each project and version of a client."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from samuel.base.decoding import decode_json
from samuel.files import atomic
from samuel.files.regular import read_regular

Verdict = Literal["ok", "drift", "inconclusive", "error"]

FILE = "proofs.json"
MOST = 200
"""The number of proofs that are kept; the oldest go first."""


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What a proof concluded."""

    client: str
    version: str
    """Like `1.18.33`; "" if the client does not print one."""
    root: str
    """The project in which the client was run."""
    verdict: Verdict
    why: str
    reason_told: bool
    """Was the model told why its call was denied?"""
    checked_at: float
    """Seconds since the epoch."""


def remembered(state: Path) -> list[Proof]:
    """All proofs that are kept, the latest first; none if the file cannot be read."""
    try:
        return decode_json(read_regular(state / FILE), list[Proof])
    except (OSError, msgspec.MsgspecError):
        return []


def remember(state: Path, proof: Proof) -> None:
    """Keep a proof in place of the one for the same project and version of the client."""
    key = (proof.client, proof.version, proof.root)
    others = [old for old in remembered(state) if (old.client, old.version, old.root) != key]
    state.mkdir(parents=True, exist_ok=True)
    atomic.write_bytes(state / FILE, msgspec.json.encode([proof, *others][:MOST]))


def latest_proofs(state: Path, root: Path) -> dict[str, Proof]:
    """The latest proof of each client in this project, the latest of all first."""
    latest: dict[str, Proof] = {}
    for proof in remembered(state):
        if proof.root == str(root):
            latest.setdefault(proof.client, proof)
    return latest
