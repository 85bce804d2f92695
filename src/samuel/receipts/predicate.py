"""The predicate of a receipt: what was checked of a task, or of a landing, and where. Pure.

It holds texts, integers and booleans alone, so that its canonical JSON is simple to make in any language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from samuel.bridges.coverage import Coverage
from samuel.history.attempt_record import AcceptanceRecord, AttemptRecord, CheckRecord, ReviewRecord
from samuel.history.cost_summary import CostSummary
from samuel.receipts.canonical import digest_of
from samuel.version import __version__

MERGED = "merged"
"""The corner of a landing: the tree of the merge, on which the checks ran."""
MOST_FILES = 200
MOST_HOOKS = 100
LONGEST = 1000  # characters of a text


class ReceiptFacts(NamedTuple):
    """What a receipt says beside the record of the attempt."""

    tree: str
    """The tree of the attempt, which the checks passed on."""
    base: str
    """The tree that it began with."""
    methodology: str
    kind: str
    proof: str
    checks: Sequence[str]
    """The checks that came with the task."""
    not_owned: Sequence[str]
    """The tests that the attempt changed, and that its task does not own."""
    not_committed: Sequence[str]
    """Files that the checks saw in another state than the commit has them."""
    acceptance: Mapping[str, str]
    """The files with acceptance tests, each with the name of its git blob."""
    sealed: Sequence[Mapping[str, Any]]
    """The programs of sealed checks, by name."""
    environment: Mapping[str, Any]
    agent_version: str
    hooks: Sequence[Mapping[str, Any]]


class LandingFacts(NamedTuple):
    """What the receipt of a merge says beside its checks."""

    methodology: str
    tree: str
    """The tree of the merge."""
    environment: Mapping[str, Any]
    sealed: Sequence[Mapping[str, Any]]


def task_predicate(record: AttemptRecord, facts: ReceiptFacts) -> dict[str, Any]:
    """The predicate of the receipt of a completed task."""
    evidence = record.evidence
    return {
        "samuel": __version__,
        "run": record.run_id,
        "iteration": record.iteration,
        "methodology": facts.methodology,
        "task": {
            "id": _text(record.task_id),
            "title": _text(record.title),
            "attempt": record.attempt,
            "kind": facts.kind,
            "checks": [_encodable(command) for command in facts.checks],
        },
        "grade": record.grade,
        "evidence": {
            "restsOn": _text(evidence.rests_on if evidence else ""),
            "place": evidence.place if evidence else "",
            "proof": facts.proof,
            "failToPass": [_text(name) for name in evidence.fail_to_pass] if evidence else [],
            "shownToFail": _text(evidence.shown_to_fail if evidence else ""),
        },
        "work": {
            "tree": {"gitTree": facts.tree},
            "base": {"gitTree": facts.base},
            "testFiles": _names(record.check_files),
            "notOwned": _names(facts.not_owned),
            "notCommitted": _names(facts.not_committed),
        },
        "acceptance": _acceptance(record.acceptance, facts.acceptance),
        "review": _review(record.review),
        "sealed": [dict(program) for program in facts.sealed],
        "corners": corners(record.checks),
        "environment": dict(facts.environment),
        "agent": {"name": _text(record.agent), "version": _text(facts.agent_version)},
        "hooks": [dict(hook) for hook in facts.hooks[:MOST_HOOKS]],
        "toolCalls": _tool_calls(record.coverage),
        "cost": _cost(record.usage),
    }


def _acceptance(record: AcceptanceRecord | None, files: Mapping[str, str]) -> dict[str, Any] | None:
    """What a receipt says of locked tests; None if there are none."""
    if record is None or not files:
        return None
    return {
        "author": _text(record.author),
        "tests": [recorded_name(name) for name in record.tests],
        "hidden": record.hidden,
        "files": [{"path": _encodable(path), "digest": {"gitBlob": blob}} for path, blob in files.items()],
    }


def _review(record: ReviewRecord | None) -> dict[str, Any] | None:
    """What a receipt says of a review, beside the evidence; None if none was asked for."""
    if record is None:
        return None
    return {
        "reviewer": _text(record.reviewer),
        "verdict": record.verdict,
        "lenses": [_text(lens) for lens in record.lenses],
        "findings": len(record.findings),
        "acceptedBy": _text(record.accepted_by),
    }


def landing_predicate(
    landed: Sequence[AttemptRecord],
    checks: Sequence[CheckRecord],
    sealed: Sequence[tuple[str, CheckRecord]],
    facts: LandingFacts,
) -> dict[str, Any]:
    """The predicate of the receipt of a merge with which tasks landed; `sealed` checks are each for a task."""
    tree = facts.tree
    every = corners([replace(check, tree=tree) for check in checks])
    if sealed:
        runs = [{**_run(check), "task": _text(task)} for task, check in sealed]
        every.append({"corner": "sealed", "tree": {"gitTree": tree}, "runs": runs})
    return {
        "samuel": __version__,
        "methodology": facts.methodology,
        "landed": [
            {
                "task": _text(record.task_id),
                "title": _text(record.title),
                "grade": record.grade,
                "digest": {"sha256": digest_of(record.predicate)} if record.predicate else {},
            }
            for record in landed
        ],
        "sealed": [dict(program) for program in facts.sealed],
        "corners": every,
        "environment": dict(facts.environment),
    }


def corners(checks: Iterable[CheckRecord]) -> list[dict[str, Any]]:
    """The runs of checks, by the tree that they ran on."""
    by_corner: dict[str, dict[str, Any]] = {}
    for check in checks:
        tree = {"gitTree": check.tree} if check.tree else {}
        corner = by_corner.setdefault(check.corner, {"corner": check.corner, "tree": tree, "runs": []})
        corner["runs"].append(_run(check))
    return list(by_corner.values())


def _run(check: CheckRecord) -> dict[str, Any]:
    tests = check.tests
    return {
        "command": _encodable(check.command),
        "passed": check.passed,
        "exitCode": check.exit_code,
        "flaky": check.flaky,
        "knownFailure": check.known_failure,
        "tests": tests
        and {
            "passed": tests.passed,
            "skipped": tests.skipped,
            "failed": [recorded_name(name) for name in tests.failed],
            "names": [recorded_name(name) for name in tests.names],
            "digest": {"sha256": tests.digest},
        },
    }


def hook_facts(chains: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The handlers in force, each with its events, as `Run.pinned` has them by event."""
    by_name: dict[tuple[str, str], dict[str, Any]] = {}
    for event, handlers in chains.items():
        for handler in handlers:
            name, digest = str(handler.get("handler", "")), str(handler.get("digest", ""))
            own: dict[str, Any] = {"name": _text(name), "digest": {"sha256": digest} if digest else {}}
            fact = by_name.setdefault((name, digest), {**own, "events": [], "guard": False})
            fact["events"].append(event)
            fact["guard"] = fact["guard"] or bool(handler.get("guard"))
    return list(by_name.values())


def _tool_calls(coverage: Coverage | None) -> dict[str, Any]:
    if coverage is None:
        return {"known": False, "calls": 0, "judged": 0, "notJudged": []}
    not_judged = sorted(coverage.not_judged.items())[:MOST_HOOKS]
    return {
        "known": True,
        "calls": coverage.calls,
        "judged": coverage.judged,
        "notJudged": [{"tool": _text(tool), "calls": count} for tool, count in not_judged],
    }


def _cost(usage: Mapping[str, Any]) -> dict[str, Any]:
    summary = CostSummary.of([usage])
    return {
        "known": not summary.unknown,
        "usd": "" if summary.usd is None else f"{summary.usd:.6f}",
        "tokens": summary.tokens,
    }


def recorded_name(id: str) -> str:
    """The id of a test as a receipt has it."""
    return _text(id)


def _names(paths: Sequence[str]) -> list[str]:
    return [_text(path) for path in paths[:MOST_FILES]]


def _text(text: str) -> str:
    return _encodable(text[:LONGEST])


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
