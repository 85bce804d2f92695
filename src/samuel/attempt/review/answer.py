"""The verdict of a reviewer: the last message of its process, which must be one JSON object with the nonce."""

from __future__ import annotations

import hmac
from typing import Literal, NamedTuple

import msgspec

from samuel.agents.invoke import Invoked
from samuel.base.decoding import decode_json
from samuel.base.printable import shorten
from samuel.clients.adapter.ending import EndingKind
from samuel.events.loop import ReviewFinding

MOST_FINDINGS = 50


class _Verdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    nonce: str
    verdict: Literal["accept", "refuse"]
    findings: list[ReviewFinding]


class ReviewAnswer(NamedTuple):
    """What a reviewer decided; without a verdict, `why` says what is wrong with its answer."""

    verdict: Literal["accept", "refuse", "none"]
    findings: list[ReviewFinding]
    why: str = ""


def read_answer(done: Invoked, nonce: str) -> ReviewAnswer:
    """The verdict in what the process of a reviewer said; anything but an exact answer is none."""
    if done.ending.kind is not EndingKind.OK:
        return _none(f"it failed: {done.ending.reason or done.ending.kind}")
    if done.exit_code != 0:
        return _none(f"it ended with exit code {done.exit_code}")
    return read_message(done.message, nonce)


def read_message(message: str, nonce: str) -> ReviewAnswer:
    """The verdict in the last message of a reviewer."""
    if not message.strip():
        return _none("it said nothing")
    try:
        answer = decode_json(message.strip().encode("utf-8", "replace"), _Verdict)
    except (msgspec.MsgspecError, RecursionError) as error:
        return _none(f"its last message is not the JSON object that was asked for: {shorten(str(error), 200)}")
    if not hmac.compare_digest(answer.nonce.encode(), nonce.encode()):
        return _none("its last message does not have the nonce of its prompt")
    if answer.verdict == "refuse" and not answer.findings:
        return _none("it refused the work without a finding")
    return ReviewAnswer(answer.verdict, answer.findings[:MOST_FINDINGS])


def _none(why: str) -> ReviewAnswer:
    return ReviewAnswer("none", [], why)
