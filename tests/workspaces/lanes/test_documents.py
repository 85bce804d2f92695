"""The documents beside the source of the tasks are in the prompts of lanes, as in those of other runs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.workspaces.lanes.project import LaneProject

from samuel.prompts import background
from samuel.prompts.background import SavedDocument
from samuel.workspaces.fleet.outbox import Outbox

CHANGE = "openspec/changes/prices"
SOURCE = f"{CHANGE}/tasks.md"
DESIGN = "Prices are whole numbers of cents."
TASKS = "## 1. Prices\n\n- [ ] 1.1 Store prices\n- [ ] 1.2 Show prices\n"


@pytest.mark.slow
@pytest.mark.parametrize("lanes_at_once", [0, 2])
def test_prompts_have_the_documents_of_the_source_with_and_without_lanes(
    lanes: LaneProject, lanes_at_once: int
) -> None:
    lanes.prepare(1, files={SOURCE: TASKS, f"{CHANGE}/design.md": f"# Design\n\n{DESIGN}\n"})
    lanes.samuel("run", "init", "--from", SOURCE, "--force", "--no-commit")
    lanes.start(lanes=lanes_at_once)
    for task in ("1.1", "1.2"):
        assert DESIGN in lanes.prompts(task)[0]


@pytest.mark.slow
def test_a_lane_forgets_the_documents_of_tasks_that_were_replaced(lanes: LaneProject) -> None:
    lanes.prepare(2, files={SOURCE: TASKS, f"{CHANGE}/design.md": f"# Design\n\n{DESIGN}\n"})
    lanes.samuel("run", "init", "--from", SOURCE, "--force", "--no-commit")
    lanes.start(lanes=2)
    lanes.samuel("run", "init", "--from", "prd.md", "--force", "--no-commit")
    lanes.start(lanes=2)
    assert DESIGN not in lanes.prompts("1")[0]


def test_a_machine_gets_the_documents_cut_to_their_share(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    documents = [SavedDocument(name, f"docs/{name}", letter * 500) for name, letter in (("a", "x"), ("b", "y"))]
    (state / background.DOCUMENTS).write_bytes(msgspec.json.encode(documents))
    sent = background.documents_within(state, 600)
    outbox = Outbox(tmp_path / "outbox", {background.DOCUMENTS: sent, "../elsewhere.json": "no"})
    parts = background.parts(outbox.directory, 100_000)
    texts = [(document["Name"], document["Text"]) for document in parts.documents]
    assert texts == [("a", f"From `docs/a`:\n\n{'x' * 300}"), ("b", f"From `docs/b`:\n\n{'y' * 300}")]
    assert not (tmp_path / "elsewhere.json").exists()
    assert background.documents_within(tmp_path, 600) == ""
