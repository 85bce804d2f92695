"""What an observed run of a client proves, and how that is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.bridges import proofs
from samuel.bridges.proofs import Proof, Verdict
from samuel.proving.canary import ALLOWED, DENIED
from samuel.proving.model.server import ModelRequest
from samuel.proving.model.wire import DONE, ToolCall, ToolResult
from samuel.proving.proof import Observation, conclude

CALLED = (ModelRequest("chat", ("bash",), (), ToolCall("bash", {})),)
NO_TOOL = (ModelRequest("chat", (), (), DONE),)
REFUSED = (ToolResult("call_1", "permission denied by policy"),)
BOTH, NONE = frozenset((ALLOWED, DENIED)), frozenset[str]()


def observation(
    *,
    ended: str = "exited",
    requests: tuple[ModelRequest, ...] = CALLED,
    results: tuple[ToolResult, ...] = (),
    judged: frozenset[str] = NONE,
    ran: frozenset[str] = NONE,
) -> Observation:
    return Observation(ended, "`login first`", requests, results, judged, ran)


@pytest.mark.parametrize(
    ("observed", "verdict", "why"),
    [
        (observation(judged=BOTH, ran=frozenset((ALLOWED,))), "ok", "the denied one did not run"),
        (observation(ran=BOTH), "drift", "did not ask Samuel"),
        (observation(ran=frozenset((ALLOWED,))), "drift", "did not ask Samuel"),
        (observation(judged=frozenset((ALLOWED,)), ran=BOTH), "drift", "the denied canary"),
        (observation(judged=BOTH, ran=BOTH), "drift", "Samuel had denied"),
        (observation(ended="timed_out", judged=BOTH, ran=BOTH), "drift", "Samuel had denied"),
        (observation(ended="not_started"), "error", "login first"),
        (observation(ended="timed_out", requests=()), "inconclusive", "did not end in time"),
        (observation(requests=()), "inconclusive", "did not ask the model; it printed: `login first`"),
        (observation(requests=NO_TOOL), "inconclusive", "did not offer the model its tool"),
        (observation(), "inconclusive", "did not carry out the model's call"),
        (observation(results=REFUSED), "inconclusive", "before Samuel's guards were asked"),
        (observation(results=REFUSED, judged=BOTH), "inconclusive", "permission denied by policy"),
        (
            observation(judged=frozenset((ALLOWED,)), ran=frozenset((ALLOWED,)), results=REFUSED),
            "inconclusive",
            "the second call",
        ),
    ],
)
def test_an_observation_has_one_verdict(observed: Observation, verdict: Verdict, why: str) -> None:
    conclusion = conclude(observed)
    assert conclusion.verdict == verdict
    assert why in conclusion.why


def proof(version: str, verdict: Verdict, root: str = "/p", client: str = "claude") -> Proof:
    return Proof(
        client=client, version=version, root=root, verdict=verdict, why="w", reason_told=True, checked_at=1.0
    )


def test_the_latest_proof_of_each_version_is_kept(tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert proofs.remembered(state) == []
    for item in (proof("1", "ok"), proof("2", "drift"), proof("1", "error"), proof("1", "ok", "/q")):
        proofs.remember(state, item)
    assert proofs.remembered(state) == [proof("1", "ok", "/q"), proof("1", "error"), proof("2", "drift")]
    assert proofs.latest_proofs(state, Path("/p")) == {"claude": proof("1", "error")}


@pytest.mark.parametrize("content", [b"", b"{}", b'[{"client": 1}]', b"\xff"])
def test_a_broken_file_of_proofs_counts_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / proofs.FILE).write_bytes(content)
    assert proofs.remembered(tmp_path) == []
    proofs.remember(tmp_path, proof("1", "ok"))
    assert proofs.remembered(tmp_path) == [proof("1", "ok")]
