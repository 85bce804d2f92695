"""`samuel run pilot`: no PRD needed, the agent finds its own work."""

from __future__ import annotations

import pytest

from samuel.tasks.store import TaskStore

from .conftest import CONFIG, GOOD

AGENT = f"""\
cat > "prompt-$SAMUEL_ITERATION"
if [ "$SAMUEL_MODE" = discovery ]; then
  if [ ! -f found ]; then touch found work-1; for n in 1 2 3; do samuel run enqueue "Find $n" || true; done; fi
else
{GOOD}fi
"""


@pytest.fixture
def fresh(workshop):
    """Nothing but a project: no tasks."""
    workshop.store.path.unlink()
    workshop.agent(AGENT)
    return workshop


def test_without_a_prd(samuel, fresh):
    ran = samuel("run", "pilot", "--yes", "--focus", "error messages", "--max-discovery-tasks", "2", "--json")
    data = ran.json["data"]
    assert ran.code == 0
    assert (data["exit_reason"], data["outcomes"]) == ("discovery_exhausted", {"completed": 3, "incomplete": 2})
    tasks = fresh.store.load()
    assert [(task.title, task.status, task.source) for task in tasks] == [
        ("Find 1", "completed", "discovery"),
        ("Find 2", "completed", "discovery"),
    ]
    prompt = (fresh.root / "prompt-1").read_text()
    assert "Look above all at: error messages\n" in prompt
    assert "Enqueue at most 2 tasks" in prompt


def test_what_the_command_line_says_holds_for_this_run_only(samuel, fresh):
    before = (fresh.root / "samuel.toml").read_bytes()
    samuel("run", "pilot", "--yes", "--focus", "x", "--discover-interval", "1", "--iterations", "2")
    assert (fresh.root / "samuel.toml").read_bytes() == before
    assert "discovery" in (fresh.root / "prompt-2").read_text().splitlines()[0]


def test_where_samuel_toml_says_so_start_pilots_too(samuel, fresh):
    fresh.configure(CONFIG + '[methodology.ralph.pilot]\nenabled = true\nfocus = "speed"\n')
    TaskStore(fresh.root / ".samuel/run").replace_all(())
    assert samuel("run", "start", "--yes", "--iterations", "1").code == 0
    assert "Look above all at: speed\n" in (fresh.root / "prompt-1").read_text()
