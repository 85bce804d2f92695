from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.routing.abilities.usage import read_usage
from samuel.testing import SamuelProject

USAGE, LOG = ".system/cache/ability_usage.json", ".system/logs/tool_call.md"

CALL = {
    "session_id": "sess-123",
    "ability_id": "code_review_agent",
    "operation_key": "agent.code_review",
    "status": "success",
    "duration_ms": 124000,
    "input_summary": "Review changes in src/payments/*.ts",
    "output_summary": "Found 3 issues,\nsuggested fixes in-line",
    "tool_call_path": ".system/implement/call-456/tool_call.md",
}


def counts(project: SamuelProject) -> dict[str, int]:
    return {id: usage.calls for id, usage in read_usage(project.root).items()}


@pytest.fixture
def called(samuel_project: SamuelProject, enable: Callable[..., None]) -> Callable[..., dict[str, Any]]:
    enable("post_tool_use_tracker", "frequent: 3")
    app = samuel_project.open()

    def fire(**more: Any) -> dict[str, Any]:
        return dict(app.fire("PostAbilityCall", **{**CALL, **more}).result)

    return fire


def test_tracker_logs_and_counts_each_call(
    samuel_project: SamuelProject, called: Callable[..., dict[str, Any]]
) -> None:
    assert called() == {
        "logs": [{"level": "info", "message": "Logged code_review_agent usage to .system/logs/tool_call.md"}],
        "usage_recorded": True,
    }
    head, *rest = (samuel_project.root / LOG).read_text().splitlines()
    assert head.startswith("## 20")
    assert head.endswith(" code_review_agent: success")
    assert rest == [
        "",
        "- operation: agent.code_review",
        "- session: sess-123",
        "- duration: 124000 ms",
        "- input: Review changes in src/payments/*.ts",
        "- output: Found 3 issues, suggested fixes in-line",
        "- record: .system/implement/call-456/tool_call.md",
        "",
    ]
    assert counts(samuel_project) == {"code_review_agent": 1}


def test_tracker_reports_an_ability_that_is_used_often(called: Callable[..., dict[str, Any]]) -> None:
    assert "update_matcher_suggestions" not in called()
    assert "update_matcher_suggestions" not in called()
    assert called()["update_matcher_suggestions"] == [
        {"ability_id": "code_review_agent", "signal": "frequent_usage", "weight": 0.23}
    ]


def test_tracker_counts_only_successful_calls(
    samuel_project: SamuelProject, called: Callable[..., dict[str, Any]]
) -> None:
    for status in ("success", "failure", "skipped", "failure"):
        called(status=status)
    entry = json.loads((samuel_project.root / USAGE).read_text())["code_review_agent"]
    assert (entry["count"], entry["failures"], entry["skipped"]) == (1, 2, 1)
    assert entry["total_ms"] == 3 * 124000


@pytest.mark.parametrize(
    "damage", ["", "[]", "{", '{"code_review_agent": 3}', "\xff", '{"code_review_agent": {"count": "x"}}']
)
@pytest.mark.sampled(every=3)
def test_tracker_replaces_a_damaged_file_of_counts(
    samuel_project: SamuelProject, called: Callable[..., dict[str, Any]], damage: str
) -> None:
    (samuel_project.root / USAGE).parent.mkdir(parents=True)
    (samuel_project.root / USAGE).write_bytes(damage.encode("latin-1"))
    assert called()["usage_recorded"]
    assert counts(samuel_project) == {"code_review_agent": 1}


def test_tracker_keeps_unknown_keys_in_the_file_of_counts(
    samuel_project: SamuelProject, called: Callable[..., dict[str, Any]]
) -> None:
    (samuel_project.root / USAGE).parent.mkdir(parents=True)
    (samuel_project.root / USAGE).write_text(
        '{"code_review_agent": {"count": 2, "note": "ours"}, "b": {"count": 7}}'
    )
    called()
    usage = json.loads((samuel_project.root / USAGE).read_text())
    assert usage["code_review_agent"]["note"] == "ours"
    assert counts(samuel_project) == {"b": 7, "code_review_agent": 3}


def test_tracker_writes_nothing_in_a_dry_run(
    samuel_project: SamuelProject, called: Callable[..., dict[str, Any]]
) -> None:
    assert called(dry_run=True) == {}
    assert not (samuel_project.root / USAGE).exists()
    assert not (samuel_project.root / LOG).exists()


def test_tracker_does_not_follow_links_when_it_writes(
    samuel_project: SamuelProject, called: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (samuel_project.root / ".system/logs").symlink_to(outside)
    (samuel_project.root / ".system/cache").symlink_to(outside)
    assert "usage_recorded" not in called()
    assert list(outside.iterdir()) == []


ADD = """
import sys
from pathlib import Path
from samuel.routing.abilities.usage import count_call
for _ in range(50):
    count_call(Path(sys.argv[1]), "a", "success", "now", 1.0)
"""


@pytest.mark.slow
def test_counts_of_concurrent_processes_are_not_lost(samuel_project: SamuelProject) -> None:
    command = [sys.executable, "-c", ADD, str(samuel_project.root)]
    counting = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait() for process in counting] == [0] * 4
    assert counts(samuel_project) == {"a": 200}


@pytest.mark.slow
def test_of_two_equal_abilities_the_one_used_more_is_suggested_first(
    samuel_project: SamuelProject,
    called: Callable[..., dict[str, Any]],
    enable: Callable[..., None],
    put: Callable[..., None],
) -> None:
    put({f".system/registry/low-level/{name}.yaml": _report(name) for name in ("one", "other")})
    enable("skill_activation_prompt")

    def first() -> str:
        with samuel_project.open() as app:
            fired = app.fire("UserPromptSubmit", user_message="print the sales report")
        return str(fired.result["suggested_abilities"][0]["id"])

    assert first() == "report.one"  # by name: they are equal
    for _ in range(4):
        called(ability_id="report.other")
    assert first() == "report.other"


def _report(name: str) -> str:
    how = "implementation: {kind: script, script: {path: run.sh}}\n"
    return f"operation_key: report.{name}\nsummary: Prints the sales report.\n{how}"
