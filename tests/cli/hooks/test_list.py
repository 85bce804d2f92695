"""`samuel hooks list`: every handler that was found, whatever became of it."""

from __future__ import annotations

GUARD = "#!/bin/sh\n[ $1 = hook ] && echo quality.check || echo '{\"ok\": true}'\n"


def rows(samuel, *arguments: str) -> list[tuple[str, ...]]:
    rows = samuel("hooks", "list", *arguments, "--json").json["data"]
    keys = ("event", "name", "order", "origin", "runtime", "status", "reason")
    return [tuple(row[key] for key in keys) for row in rows]


def mine(samuel, *arguments: str) -> list[tuple[str, ...]]:
    return [row for row in rows(samuel, *arguments) if row[3] != "built in"]


def test_a_clone_is_listed_and_not_run(samuel, project, guard):
    reason = (
        "not trusted: `.samuel/hooks/guard` has not been agreed to yet; run `samuel trust` to look at it and agree"
    )
    assert mine(samuel) == [("", "guard", None, "project", "exec", "untrusted", reason)]
    assert not (project / "canary").exists()


def test_hooks_list_is_an_aligned_table_in_a_pipe(samuel, guard):
    samuel("trust", "--yes")
    ran = samuel("hooks", "list", "--event", "quality.check")
    assert ran == (
        0,
        "EVENT          NAME     ORDER  ORIGIN    RUNTIME  STATUS  REASON\n"
        "quality.check  default  100    built in  inline   active  -\n"
        "quality.check  guard    200    project   exec     active  -\n",
        "",
    )


def test_hooks_list_shows_why_a_hook_does_not_run(samuel, put, machine):
    put(".samuel/hooks/guard", GUARD, 0o755)
    put(".samuel/hooks/bad", "#!/bin/sh\nexit 3\n", 0o755)
    put(".samuel/hooks/off.disable", GUARD, 0o755)
    put(".samuel/hooks/extra", GUARD, 0o755)
    put("samuel.toml", '[hooks."quality.check"]\nhandlers = ["guard"]\n')
    user = machine / ".samuel/hooks/guard"
    user.parent.mkdir(parents=True)
    user.write_text(GUARD)
    user.chmod(0o755)
    samuel("trust", "--yes")
    why = "`handlers` in samuel.toml does not name it"
    assert mine(samuel, "--event", "quality.check") == [
        ("quality.check", "guard", None, "project", "exec", "active", ""),
        ("quality.check", "extra", 200, "project", "exec", "excluded", why),
        ("", "bad", None, "project", "exec", "broken", "`PROJECT/.samuel/hooks/bad hook` failed: exit code 3"),
        ("", "off", None, "project", "exec", "disabled", "the file is named `off.disable`"),
        (
            "quality.check",
            "guard",
            200,
            "user",
            "exec",
            "shadowed",
            "`PROJECT/.samuel/hooks/guard` has the same name and comes first",
        ),
    ]
    (default,) = [row for row in rows(samuel, "--event", "quality.check") if row[1] == "default"]
    assert default == ("quality.check", "default", 100, "built in", "inline", "excluded", why)


def test_an_untrusted_hook_that_samuel_toml_names_is_listed_once(samuel, put, guard):
    put("samuel.toml", '[hooks."quality.check"]\nhandlers = ["default", "guard"]\n')
    assert [row[:2] for row in mine(samuel)] == [("quality.check", "guard")]


def test_hooks_list_shows_hooks_that_were_replaced(samuel, put):
    text = 'import samuel\n\n@samuel.hook("quality.check", order=100)\ndef mine(event):\n    return None\n'
    put(".samuel/hooks/mine.py", text)
    samuel("trust", "--yes")
    assert [(row[1], row[5], row[6]) for row in rows(samuel, "--event", "quality.check")] == [
        ("mine", "active", ""),
        ("default", "excluded", "`mine` was given the same order, 100"),
    ]


def test_hooks_list_refuses_an_unknown_event(samuel):
    assert samuel("hooks", "list", "--event", "quality.chek") == (
        2,
        "",
        "error: `quality.chek` is not an event\ndid you mean `quality.check`?\n",
    )


def test_hooks_list_reports_a_broken_samuel_toml(samuel, put):
    put("samuel.toml", "strict = 1\n")
    ran = samuel("hooks", "list", "--json")
    assert ran.code == 2
    assert ran.json["error"]["problems"][0]["line"] == 1


YAML = """\
id: late
event_type: TurnEnd
background: true
handler: {kind: script, command: 'true'}
"""


def test_handler_in_the_background_is_listed_explained_and_fired_as_one(samuel, put):
    put(".system/hooks/late.yaml", YAML)
    samuel("trust", "--yes")
    assert samuel("hooks", "list", "--event", "TurnEnd") == (
        0,
        "EVENT    NAME  ORDER  ORIGIN   RUNTIME  STATUS      REASON\n"
        "TurnEnd  late  200    project  exec     background  its answer is not awaited\n",
        "",
    )
    (row,) = samuel("hooks", "list", "--event", "TurnEnd", "--json").json["data"]
    assert (row["status"], row["background"]) == ("active", True)
    explained = samuel("hooks", "explain", "TurnEnd").out
    assert "it has the default order 200; in the background: its answer is not awaited" in explained
    (step,) = samuel("hooks", "explain", "TurnEnd", "--json").json["data"]["chain"]
    assert (step["background"], step["strict"]) == (True, False)
    payload = '{"response": "r", "turn_number": 1}'
    fired = samuel("hooks", "fire", "TurnEnd", "--payload", payload).json
    assert (fired["ok"], fired["chain"], fired["background"]) == (True, [], ["late"])
