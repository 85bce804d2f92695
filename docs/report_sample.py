"""Writes docs/sample-report.html: the report of a run with every kind of ending, without running an agent.

python docs/report_sample.py            rewrite it
python docs/report_sample.py --check    fail if it is not current
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from msgspec.structs import replace

from samuel.clients.adapter.ending import AgentEnding, EndingKind
from samuel.events.endings import ExitReason, IterationOutcome
from samuel.evidence.claim import NO_TEST
from samuel.history.attempt_record import (
    AttemptRecord,
    ChangedFile,
    CheckRecord,
    EvidenceRecord,
    ReportedTests,
    RunRecord,
)
from samuel.history.history import RunHistory
from samuel.report.html import to_html
from samuel.report.model import RunReport, build_report
from samuel.tasks.question import Question
from samuel.tasks.task import Task

FILE = Path(__file__).parent / "sample-report.html"
RUN = "run-19c3f02a1b4d356ed83c000001"
START = 1_772_575_260.0  # 2026-03-03 22:01 UTC

PYTEST_RED = """\
tests/test_cart.py::test_total_of_an_empty_cart PASSED                   [ 33%]
tests/test_cart.py::test_total_with_a_voucher FAILED                     [ 66%]
tests/test_cart.py::test_total_is_rounded PASSED                         [100%]

=================================== FAILURES ===================================
__________________________ test_total_with_a_voucher ___________________________

    def test_total_with_a_voucher():
>       assert total([100, 50], voucher=10) == 140
E       assert 150 == 140
E        +  where 150 = total([100, 50], voucher=10)

tests/test_cart.py:14: AssertionError
========================= 1 failed, 2 passed in 0.21s ==========================
make: *** [Makefile:4: test] Error 1
"""
PYTEST_GREEN = (
    "...........................................                              [100%]\n43 passed in 1.92s\n"
)

TASKS = (
    ("1", "Read the price list from a CSV file", "completed", "proven", ""),
    ("2", "Add up a cart, with vouchers", "completed", "proven", ""),
    ("3", "Round totals to cents, half to even", "completed", "proven", ""),
    ("4", "Reject a cart with a negative amount", "completed", "proven", ""),
    ("5", "Document the price list format", "completed", "unverified", ""),
    ("6", "Send the invoice by e-mail", "waiting", "", "Which sender address should invoices have?"),
    (
        "7",
        "Charge the customer's card",
        "blocked",
        "",
        "three attempts failed: `make test` ended with exit code 2",
    ),
    ("8", "Show the cart on the start page", "completed", "proven", ""),
    ("9", "Cache the price list for an hour", "completed", "checked", ""),
    ("10", "Log every change of a price", "completed", "checked", ""),
    ("11", "Refunds", "pending", "", ""),
    ("12", "Export orders for the bookkeeper", "completed", "proven", ""),
    ("13", "Reduce the start page to one query", "completed", "checked", ""),
    ("14", "Remove the old price importer", "completed", "checked", ""),
)

DIFF = """\
diff --git a/shop/prices.py b/shop/prices.py
index 5b1c2fd..c0a91e7 100644
--- a/shop/prices.py
+++ b/shop/prices.py
@@ -1,6 +1,9 @@
+from functools import lru_cache
+
 from shop.database import rows


-def price_list() -> dict[str, int]:
+@lru_cache(maxsize=1)
+def price_list(hour: int) -> dict[str, int]:
     return {name: cents for name, cents in rows("prices")}
"""


def check(passed: bool = True, seconds: float = 2.4, **more: object) -> CheckRecord:
    tail = PYTEST_GREEN if passed else PYTEST_RED
    tests = ReportedTests(passed=43 if passed else 42, failed=() if passed else ("test_total_with_a_voucher",))
    fields = {"exit_code": 0 if passed else 2, "output_tail": tail, "tests": tests, **more}
    return CheckRecord(command="make test", passed=passed, seconds=seconds, **fields)  # type: ignore[arg-type]


LINT = CheckRecord(
    command="ruff check .", passed=True, exit_code=0, seconds=0.3, output_tail="All checks passed!\n"
)


def proven(test: str) -> EvidenceRecord:
    return EvidenceRecord(
        grade="proven",
        rests_on=f"1 test fails without the change: `{test}`",
        place="clean room",
        sandbox="bwrap",
        fail_to_pass=(test,),
    )


FAILS_WITHOUT = check(False, corner="old source")
CHECKED = EvidenceRecord(grade="checked", rests_on=NO_TEST, place="clean room", sandbox="bwrap")
EVIDENCE = {
    "1": proven("tests/test_prices.py::test_prices_of_a_file"),
    "2": proven("tests/test_cart.py::test_voucher"),
    "3": proven("tests/test_cart.py::test_half_to_even"),
    "4": proven("tests/test_cart.py::test_negative_amount"),
    "8": proven("tests/test_start.py::test_cart_is_shown"),
    "12": proven("tests/test_export.py::test_export_of_a_month"),
}


class SampleRun:
    """Attempts, one after the other."""

    def __init__(self) -> None:
        self.now = START + 40
        self.attempts: list[AttemptRecord] = []
        self.count: dict[str, int] = {}

    def attempt(self, task: str, outcome: str, minutes: float, why: str = "", **fields: object) -> None:
        iteration = len(self.attempts) + 1
        self.count[task] = self.count.get(task, 0) + 1
        done = outcome == "completed"
        grade = next(grade for id, _, _, grade, _ in TASKS if id == task) if done else ""
        defaults: dict[str, object] = {
            "agent": "claude",
            "exit_code": 0,
            "usage": {"input_tokens": int(41_000 * minutes), "output_tokens": int(3_100 * minutes)}
            | {"cost_usd": round(0.11 * minutes, 2)},
            "checks": (check(), LINT, *([FAILS_WITHOUT] if grade == "proven" else [])) if done else (),
            "grade": grade,
            "evidence": EVIDENCE.get(task) or CHECKED if grade in ("proven", "checked") else None,
            "commit": f"{0x9F3A7C2E41 * (iteration + 7) % 16**10:010x}" if done else "",
            "ref": "" if done else f"refs/samuel/{RUN}/{task}/{self.count[task]}",
        }
        record = AttemptRecord(
            run_id=RUN,
            iteration=iteration,
            task_id=task,
            title=next(title for id, title, *_ in TASKS if id == task),
            attempt=self.count[task],
            started_at=self.now,
            ended_at=self.now + minutes * 60,
            outcome=IterationOutcome(outcome),
            why=why,
            **{**defaults, **fields},  # type: ignore[arg-type]
        )
        self.attempts.append(record)
        self.now += minutes * 60 + 5

    def wait(self, minutes: float) -> None:
        self.now += minutes * 60


def changed(*files: tuple[str, int | None, int | None]) -> tuple[ChangedFile, ...]:
    return tuple(ChangedFile(path=path, added=added, removed=removed) for path, added, removed in files)


def sample_attempts() -> list[AttemptRecord]:
    runs = SampleRun()
    red = "`make test` ended with exit code 2: 1 failed, 42 passed"
    runs.attempt(
        "1", "completed", 6, changed_files=changed(("shop/prices.py", 64, 0), ("tests/test_prices.py", 41, 0))
    )
    runs.attempt("2", "quality_failed", 9, red, checks=(check(False), LINT))
    runs.attempt(
        "2", "completed", 5, changed_files=changed(("shop/cart.py", 38, 12), ("tests/test_cart.py", 22, 1))
    )
    softened = "the task does not own these tests, which this attempt changed: `tests/test_cart.py`, `Makefile`"
    runs.attempt(
        *("3", "quality_failed", 7, softened),
        checks=(check(), check(False, corner="old tests")),
        check_files=("tests/test_cart.py", "Makefile"),
        lost_tests=("tests/test_cart.py::test_total_is_rounded",),
    )
    runs.attempt("3", "completed", 8, changed_files=changed(("shop/cart.py", 9, 3), ("tests/test_cart.py", 11, 0)))
    runs.attempt("4", "completed", 4, changed_files=changed(("shop/cart.py", 6, 0), ("tests/test_cart.py", 14, 0)))
    readme = changed(("docs/price-list.md", 57, 0), ("docs/columns.png", None, None))
    runs.attempt("5", "completed", 3, checks=(), changed_files=readme)
    runs.attempt("6", "asked", 4, "which sender address should invoices have?")
    limit = AgentEnding(EndingKind.LIMITED, "Claude AI usage limit reached|1772582400", 1_772_582_400.0)
    runs.attempt("7", "quality_failed", 12, red, checks=(check(False),))
    runs.attempt("7", "limited", 1, "usage limit of claude until 00:00", ending=limit, usage={}, exit_code=1)
    runs.wait(48)
    runs.attempt(
        "7", "agent_failed", 10, "no output, no file change and no CPU time for 10m (idle_timeout)", usage={}
    )
    runs.attempt(
        *("7", "quality_failed", 11, red),
        checks=(check(False),),
        denials=("guard-payments: `curl https://api.stripe.com` is not allowed outside of production",),
    )
    runs.attempt(
        *("8", "completed", 7),
        changed_files=changed(("shop/pages/start.py", 31, 4), ("tests/test_start.py", 17, 0)),
        agent="codex",
        usage={},
    )
    runs.attempt("9", "stalled", 3, "no file changed, and the task was not claimed")
    runs.attempt("9", "completed", 6, changed_files=changed(("shop/prices.py", 19, 2)))
    runs.attempt("10", "completed", 9, changed_files=changed(("shop/prices.py", 12, 1), ("shop/log.py", 28, 0)))
    runs.attempt(
        "12", "completed", 13, changed_files=changed(("shop/export.py", 88, 0), ("tests/test_export.py", 52, 0))
    )
    runs.attempt("13", "completed", 8, changed_files=changed(("shop/pages/start.py", 14, 29)))
    gone = changed(("shop/old_importer.py", 0, 212), ("tests/test_old_importer.py", 0, 96))
    lost = ("tests/test_old_importer.py::test_import",)
    runs.attempt(
        "14", "completed", 4, changed_files=gone, lost_tests=lost, check_files=("tests/test_old_importer.py",)
    )
    return runs.attempts


def sample_report() -> RunReport:
    attempts = sample_attempts()
    run = RunRecord(
        run_id=RUN,
        methodology="ralph",
        agents=("claude", "codex"),
        started_at=START,
        ended_at=attempts[-1].ended_at + 3,
        exit_reason=ExitReason.WAITING,
        baseline=(check(seconds=2.1), LINT),
        branch=f"samuel/{RUN}",
        from_branch="main",
    )
    question = Question(
        id="q1",
        text="Which sender address should invoices have?",
        options=("billing@example.com", "shop@example.com"),
    )
    tasks = [
        Task(
            id=id,
            title=title,
            status=status,  # type: ignore[arg-type]
            grade=grade,  # type: ignore[arg-type]
            last_failure=failure,
            questions=(question,) if status == "waiting" else (),
        )
        for id, title, status, grade, failure in TASKS
    ]
    report = build_report(RunHistory(run, tuple(attempts)), tasks, project="shop")
    with_diff = [replace(task, diff=DIFF) if task.id == "9" else task for task in report.tasks]
    return replace(report, tasks=tuple(with_diff))


def sample_page() -> str:
    """The page, with the times of UTC wherever it is made."""
    zone = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        return to_html(sample_report())
    finally:
        os.environ.pop("TZ")
        if zone is not None:
            os.environ["TZ"] = zone
        time.tzset()


def main(arguments: list[str]) -> int:
    page = sample_page()
    if "--check" in arguments:
        current = FILE.exists() and FILE.read_text(encoding="utf-8") == page
        if not current:
            print("docs/sample-report.html is not current: `python docs/report_sample.py` writes it")
        return int(not current)
    FILE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
