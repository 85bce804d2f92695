"""The plugin in a fresh project, fired for real. `samuel_project` comes with Samuel."""

from pathlib import Path

PLUGIN = Path(__file__).parent.parent


def test_a_check_that_cannot_fail_fails_the_gate(samuel_project):
    samuel_project.plugin(PLUGIN)
    fired = samuel_project.fire("quality.check", commands=["true || true"])
    assert not fired.ok
    assert fired.result["failures"] == [
        {
            "source": "honest-checks",
            "command": "true || true",
            "message": "it cannot fail: it ends in `|| true`",
        }
    ]


def test_checks_that_can_fail_are_fine(samuel_project):
    samuel_project.plugin(PLUGIN)
    assert samuel_project.fire("quality.check", commands=[]).ok


def test_a_project_has_its_own_endings(samuel_project):
    samuel_project.plugin(PLUGIN)
    samuel_project.config(
        """
        [plugins.honest-checks]
        endings = ["| cat"]
        """
    )
    (failure,) = samuel_project.fire("quality.check", commands=["true | cat"]).result["failures"]
    assert failure["message"] == "it cannot fail: it ends in `| cat`"
