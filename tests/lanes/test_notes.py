"""What agents in lanes note for those after them, when progress.md is long enough to be rotated."""

from __future__ import annotations

import json

import pytest
from tests.lanes.project import LaneProject

ENTRY = "## [2026-01-01T00:00:00Z] iteration {number} · task old · completed\n- completed: old\n\n"
NOTE = (
    'echo "- learning: of task $SAMUEL_TASK_ID" >> .samuel/run/progress.md; echo 1 > "work-$SAMUEL_TASK_ID.txt"\n'
)


@pytest.mark.slow
def test_notes_of_agents_reach_the_project_when_its_notes_are_many(lanes: LaneProject) -> None:
    lanes.prepare(3)
    progress = lanes.root / ".samuel/run/progress.md"
    progress.write_text("".join(ENTRY.format(number=number) for number in range(400)))
    lanes.task("any", NOTE)
    lanes.start(lanes=2)

    lanes.assert_sound(3)
    lines = progress.read_text().splitlines()
    assert sorted(line for line in lines if line.startswith("- learning")) == [
        f"- learning: of task {number}" for number in (1, 2, 3)
    ]
    assert len(lines) < 400, "older entries are in the archive"
    assert (lanes.root / ".samuel/run/archive/progress-0001.md").exists()
    assert not (lanes.lane_directory() / "1/.samuel/run/archive").exists()
    usage = (lanes.root / ".samuel/run/logs/agent.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["iteration"] for line in usage) == [1, 2, 3]


def test_documents_beside_the_source_are_in_the_prompt_of_a_lane(lanes: LaneProject) -> None:
    lanes.prepare(1)
    document = {"name": "Design", "path": "design.md", "text": "Everything is indented with three spaces."}
    lanes.write(".samuel/run/prd-documents.json", json.dumps([document]))

    lanes.start()

    assert "indented with three spaces" in lanes.prompts("1")[0]
