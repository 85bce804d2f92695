"""The plugin in a fresh project, fired for real. `samuel_project` comes with Samuel."""

from pathlib import Path

PLUGIN = Path(__file__).parent.parent


def test_the_agent_gets_the_list(samuel_project):
    samuel_project.plugin(PLUGIN)
    fired = samuel_project.fire("context.extra", task={"id": "1", "title": "the login page"})
    (extra,) = fired.result["extras"]
    assert extra["name"] == "checklist.md"
    assert extra["content"].startswith("Before you call the login page done:\n\n- its tests pass\n")


def test_a_project_has_its_own_list(samuel_project):
    samuel_project.plugin(PLUGIN)
    samuel_project.config(
        """
        [plugins.checklist]
        points = ["the cat is fed"]
        """
    )
    fired = samuel_project.fire("context.extra", task={"id": "1", "title": "it"})
    assert fired.result["extras"][0]["content"] == "Before you call it done:\n\n- the cat is fed\n"
