"""The plugin in a fresh project, fired for real. `samuel_project` comes with Samuel."""

from pathlib import Path

PLUGIN = Path(__file__).parent.parent


def test_what_it_finds_is_in_the_context(samuel_project):
    samuel_project.plugin(PLUGIN)
    (samuel_project.root / ".venv").mkdir()
    (samuel_project.root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.1\n")
    (samuel_project.root / "requirements.txt").write_text("requests>=2  # the client\n-r more.txt\nrich\n")

    fired = samuel_project.fire("context.extra", task={"id": "1"})

    assert fired.context["Plugins"]["python"] == {
        "Venv": ".venv",
        "PyVersion": "3.12.1",
        "Requirements": ["requests>=2", "rich"],
        "More": 0,
    }


def test_a_project_decides_how_much_is_listed(samuel_project):
    samuel_project.plugin(PLUGIN)
    samuel_project.config(
        """
        [plugins.python]
        max_requirements = 1
        """
    )
    (samuel_project.root / "requirements.txt").write_text("requests\nrich\n")
    python = samuel_project.fire("context.extra", task={"id": "1"}).context["Plugins"]["python"]
    assert (python["Requirements"], python["More"]) == (["requests"], 1)


def test_elsewhere_it_has_nothing_to_say(samuel_project):
    samuel_project.plugin(PLUGIN)
    fired = samuel_project.fire("context.extra", task={"id": "1"})
    assert [call.outcome for call in fired.calls] == ["ok"]
    assert "python" not in fired.context.get("Plugins", {})
