"""The plugin in a fresh project, fired for real. `samuel_project` comes with Samuel."""

from pathlib import Path

PLUGIN = Path(__file__).parent.parent


def test_the_agent_gets_the_open_points(samuel_project):
    samuel_project.plugin(PLUGIN)
    task = {"id": "7", "description": "Build the page.\nTODO: its title\nLater, FIXME its end\n"}
    fired = samuel_project.fire("context.extra", task=task)
    (extra,) = fired.result["extras"]
    assert extra["name"] == "open-points.md"
    assert extra["content"] == "2 open points in task 7:\n\n- line 2: TODO: its title\n- line 3: FIXME its end\n"


def test_a_project_has_its_own_marks(samuel_project):
    samuel_project.plugin(PLUGIN)
    samuel_project.config(
        """
        [plugins.open-points]
        marks = "HACK"
        """
    )
    fired = samuel_project.fire("context.extra", task={"id": "7", "description": "TODO: a\nHACK: b"})
    assert fired.result["extras"][0]["content"] == "1 open point in task 7:\n\n- line 2: HACK: b\n"


def test_without_any_it_has_no_opinion(samuel_project):
    samuel_project.plugin(PLUGIN)
    fired = samuel_project.fire("context.extra", task={"id": "7", "description": "All is said."})
    assert [call.outcome for call in fired.calls] == ["ok"]
    assert fired.result["extras"] == []
