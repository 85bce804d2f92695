"""A receipt as an in-toto Statement (version 1): about a commit and its tree, with a predicate of Samuel's.

The predicate does not name the commit: its digest is in the message of the commit, which is then part of the
commit's own name. So a predicate that belongs to a commit cannot be replaced without making another commit.
"""

from __future__ import annotations

import json
import re
from typing import Any

from samuel.base.errors import SamuelError
from samuel.receipts.canonical import digest_of

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:samuel:receipt:v1"
TRAILER = "Samuel-Receipt"
LARGEST = 4 << 20  # bytes of a receipt that is read

_TRAILER_LINE = re.compile(rf"^{TRAILER}: sha256:([0-9a-f]{{64}})$", re.MULTILINE)


class ReceiptBroken(SamuelError):
    """A text is not a receipt."""


def statement(predicate: dict[str, Any], commit: str, tree: str) -> dict[str, Any]:
    """The receipt of a commit; without one, of a tree alone."""
    subject = [{"name": "commit", "digest": {"gitCommit": commit}}] if commit else []
    return {
        "_type": STATEMENT_TYPE,
        "subject": [*subject, {"name": "tree", "digest": {"gitTree": tree}}],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate,
    }


def trailer(predicate: dict[str, Any]) -> str:
    """The line of a commit's message that ties a predicate to it."""
    return f"{TRAILER}: sha256:{digest_of(predicate)}"


def trailer_digests(message: str) -> list[str]:
    """The digests of predicates in a commit's message: one, if the commit has a receipt."""
    return _TRAILER_LINE.findall(message)


def read_statement(text: bytes) -> dict[str, Any]:
    """The receipt in a text. Raises ReceiptBroken."""
    try:
        value = json.loads(text[: LARGEST + 1].decode())
    except (ValueError, RecursionError) as error:
        raise ReceiptBroken(f"the receipt is not JSON: {str(error)[:200]}") from None
    return as_statement(value)


def as_statement(value: Any) -> dict[str, Any]:
    """The value, if it is a receipt. Raises ReceiptBroken."""
    if not isinstance(value, dict):
        raise ReceiptBroken("the receipt is not a JSON object")
    if value.get("_type") != STATEMENT_TYPE:
        raise ReceiptBroken(f"its `_type` is not `{STATEMENT_TYPE}`")
    if value.get("predicateType") != PREDICATE_TYPE:
        raise ReceiptBroken(f"its `predicateType` is not `{PREDICATE_TYPE}`")
    if not isinstance(value.get("predicate"), dict):
        raise ReceiptBroken("its `predicate` is not an object")
    if not isinstance(value.get("subject"), list):
        raise ReceiptBroken("its `subject` is not a list")
    return value


def subject_of(receipt: dict[str, Any]) -> tuple[str, str]:
    """The commit and the tree that a receipt names; "" for one that it does not name."""
    names = {"gitCommit": "", "gitTree": ""}
    for entry in receipt["subject"]:
        digests = entry.get("digest") if isinstance(entry, dict) else None
        for kind, value in digests.items() if isinstance(digests, dict) else ():
            if kind in names and isinstance(value, str):
                names[kind] = value
    return names["gitCommit"], names["gitTree"]


def why_not_of(receipt: dict[str, Any], commit: str, tree: str, message: str) -> str:
    """Why this is not the receipt of a commit with this tree and message; "" if it is."""
    digests = trailer_digests(message)
    if not digests:
        return f"the commit has no `{TRAILER}` trailer"
    try:
        digest = digest_of(receipt["predicate"])
    except ValueError as error:
        return f"its `predicate` is not as Samuel writes it: {error}"
    if digests != [digest]:
        return f"its predicate is not the one that the `{TRAILER}` trailer of the commit names"
    expected = statement(receipt["predicate"], commit, tree)
    other = sorted(name for name in {*expected, *receipt} if receipt.get(name) != expected.get(name))
    return f"its `{other[0]}` is not that of the commit" if other else ""
