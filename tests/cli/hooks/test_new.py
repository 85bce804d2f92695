"""`samuel hooks new`: what it writes works as written, for every event, in every language."""

from __future__ import annotations

import subprocess

import pytest

from samuel.events import EVENTS, event_type
from samuel.scaffold.hook import example, hook

NEW = """\
wrote .samuel/hooks/notify for after:iteration

Try:
  samuel hooks fire after:iteration
  samuel hooks explain after:iteration
  samuel hooks log --event after:iteration
"""


def test_hooks_new_writes_a_trusted_hook(samuel, project):
    assert samuel("hooks", "new", "notify", "--event", "after_iteration") == (0, NEW, "")
    assert (project / ".samuel/hooks/notify").stat().st_mode & 0o777 == 0o755
    fired = samuel("hooks", "fire", "after:iteration").json
    assert [(call["handler"], call["outcome"]) for call in fired["chain"] if call["handler"] != "default"] == [
        ("notify", "ok")
    ]


def test_hooks_new_prints_what_it_wrote_as_json(samuel, project):
    ran = samuel("hooks", "new", "run-it", "--event", "agent.invoke", "--lang", "python", "--json")
    assert ran.json == {
        "ok": True,
        "data": {
            "path": ".samuel/hooks/run-it.py",
            "event": "agent.invoke",
            "lang": "python",
            "next": [
                "samuel hooks fire agent.invoke --really",
                "samuel hooks explain agent.invoke",
                "samuel hooks log --event agent.invoke",
            ],
        },
        "warnings": [],
        "error": None,
    }


@pytest.mark.parametrize("lang", ["bash", "python"])
def test_it_works_as_written_for_every_event(samuel, lang: str):
    for number, event in enumerate(EVENTS):
        assert samuel("hooks", "new", f"hook{number}", "--event", event.name, "--lang", lang).code == 0
    for number, event in enumerate(EVENTS):
        ran = samuel("hooks", "fire", event.name, "--really")
        outcomes = {call["handler"]: (call["outcome"], call["message"]) for call in ran.json["chain"]}
        assert outcomes[f"hook{number}"] == ("ok", ""), event.name


EXAMPLES = {
    "ConfigChange": '{"source": "project_settings", "path": "rm -rf.json"}',
    "PreCompact": '{"trigger": "rm -rf"}',
    "PreAbilityCall": '{"ability_id": "shell", "tool_input": {"command": "rm -rf /"}}',
    "UserPromptSubmit": '{"user_message": "run rm -rf for me"}',
}


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--yaml"]], ids=["file", "yaml"])
@pytest.mark.parametrize("lang", ["bash", "python"])
@pytest.mark.parametrize("event", EXAMPLES)
def test_a_new_hook_of_an_event_that_can_be_denied_denies_its_example(
    samuel, event: str, lang: str, more: list[str]
):
    assert samuel("hooks", "new", "guard", "--event", event, "--lang", lang, *more).code == 0
    denied = samuel("hooks", "fire", event, "--payload", EXAMPLES[event])
    assert (denied.code, denied.json["result"]["decision"]) == (1, "deny")
    assert denied.json["result"]["reason"] == "rm -rf is not allowed here"
    assert samuel("hooks", "fire", event).code == 0


def test_there_is_an_example_for_every_event_that_can_be_denied():
    assert {event.name for event in EVENTS if event.composition.can_deny} == set(EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "script"),
    [(["--lang", "python"], ".samuel/hooks/guard.py"), (["--yaml"], "scripts/hooks/guard.sh")],
    ids=["python", "yaml"],
)
def test_a_new_guard_denies_when_it_crashes(samuel, project, arguments: list[str], script: str):
    samuel("hooks", "new", "guard", "--event", "PreAbilityCall", *arguments)
    file = project / script
    file.write_text(file.read_text().replace("got {event.event_id}", "{1 / 0}").replace("event=$(cat)", "exit 1"))
    samuel("trust", "--yes")
    ran = samuel("hooks", "fire", "PreAbilityCall")
    assert (ran.code, ran.json["chain"][0]["outcome"]) == (1, "crashed")


@pytest.mark.parametrize("fault", ["exit 1", "echo garbage; exit 0", "kill -9 $$"])
def test_a_new_guard_in_bash_denies_when_it_fails(samuel, project, fault):
    samuel("hooks", "new", "guard", "--event", "PreAbilityCall")
    assert samuel("hooks", "fire", "PreAbilityCall").code == 0
    file = project / ".samuel/hooks/guard"
    file.write_text(file.read_text().replace("event=$(cat)", fault))
    samuel("trust", "--yes")
    assert samuel("hooks", "fire", "PreAbilityCall").code == 1


def test_the_example_has_the_keys_that_must_be_there():
    assert example(event_type("iteration.gate")) == {"continue": True}
    assert example(event_type("agent.invoke")) == {"exit_code": 0, "stdout": "", "stderr": ""}
    assert example(event_type("context.extra")) == {"ok": True}


def test_the_bash_hook_needs_only_bash(project):
    new_hook = hook("plain", event_type("quality.check"), "bash")
    (project / "plain").write_text(new_hook.text)
    done = subprocess.run(["bash", "plain", "run"], input="{}", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, '{"ok": true}\n', "plain got 2 characters\n")
    assert subprocess.run(["bash", "plain"], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize("name", ["1st", "class", "my-hook", "a.b"])
def test_names_that_are_no_words_of_python(samuel, name: str):
    assert samuel("hooks", "new", name, "--event", "SessionStart", "--lang", "python").err == ""
    (row,) = [row for row in samuel("hooks", "list", "--json").json["data"] if row["origin"] == "project"]
    assert (row["status"], row["event"]) == ("active", "SessionStart")


@pytest.mark.parametrize("name", ["..", "../x", "a/b", ".x", "-x", "", "a b", "a\x1b[0m", "é", "x~"])
def test_hooks_new_refuses_names_that_are_paths(samuel, project, name: str):
    ran = samuel("hooks", "new", "--event", "SessionStart", "--", name)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith(
        " cannot name a hook\nuse letters, digits, `-`, `_` and `.`, and begin with a letter, a digit or `_`\n"
    )
    assert "\x1b" not in ran.err
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("default", "`default` is the name of the built-in handlers\nchoose another name"),
        ("samuel-default", "`samuel-default` is the name of the built-in handlers\nchoose another name"),
        ("x.disable", "`x.disable` cannot name a hook\nleave the ending `.disable` away"),
        ("x.py", "`x.py` cannot name a hook\nleave the ending `.py` away"),
    ],
)
def test_names_that_mean_something_else(samuel, name: str, why: str):
    assert samuel("hooks", "new", name, "--event", "SessionStart") == (2, "", f"error: {why}\n")


@pytest.mark.parametrize("existing", ["notify", "notify.py", "notify.disable", "notify.py.disable"])
def test_hooks_new_refuses_a_name_that_is_taken(samuel, put, existing: str):
    file = put(f".samuel/hooks/{existing}", "mine")
    for lang in ("bash", "python"):
        assert samuel("hooks", "new", "notify", "--event", "SessionStart", "--lang", lang) == (
            1,
            "",
            f"error: `.samuel/hooks/{existing}` exists already\nchoose another name, or remove it first\n",
        )
    assert file.read_text() == "mine"


def test_hooks_new_refuses_unknown_events_and_languages(samuel):
    assert samuel("hooks", "new", "x", "--event", "quality.chek") == (
        2,
        "",
        "error: `quality.chek` is not an event\ndid you mean `quality.check`?\n",
    )
    assert samuel("hooks", "new", "x").code == 2
    assert samuel("hooks", "new", "x", "--event", "TurnEnd", "--lang", "ruby").code == 2


def test_with_a_broken_samuel_toml_nothing_is_written(samuel, project, put):
    put("samuel.toml", "nonsense = 1\n")
    assert samuel("hooks", "new", "x", "--event", "SessionStart").code == 2
    assert not (project / ".samuel").exists()


def test_it_trusts_nothing_but_what_it_wrote(samuel, project, guard):
    ran = samuel("hooks", "new", "mine", "--event", "quality.check")
    assert ran.code == 0
    assert ran.err == (
        "warning: `.samuel/hooks/mine` will not run before you trust what lies beside it: "
        "`.samuel/hooks/guard`; `samuel trust` asks\n"
    )
    states = {item["name"]: item["state"] for item in samuel("trust", "--list", "--json").json["data"]}
    assert states == {".samuel/hooks/guard": "new", ".samuel/hooks/mine": "trusted"}
    assert not (project / "canary").exists()


def test_inside_a_run_it_is_not_trusted(samuel, monkeypatch):
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
    ran = samuel("hooks", "new", "mine", "--event", "quality.check")
    assert ran.err == "warning: `.samuel/hooks/mine` is not trusted: a run cannot change what is trusted\n"
    assert samuel("trust", "--list", "--json").json["data"][0]["state"] == "new"


def test_a_linked_hook_directory_is_refused(samuel, project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / ".samuel").mkdir()
    (project / ".samuel/hooks").symlink_to(tmp_path / "elsewhere")
    assert samuel("hooks", "new", "mine", "--event", "quality.check").code == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []
