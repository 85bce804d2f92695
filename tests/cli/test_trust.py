"""`samuel trust`: nothing runs before its owner agreed to exactly those bytes."""

from __future__ import annotations

import hashlib
import os
import subprocess

import pytest

from .conftest import GUARD

DIGEST = hashlib.sha256(b"x\0" + GUARD.encode()).hexdigest()
NAME = ".samuel/hooks/guard"


def test_trust_says_when_there_is_nothing_to_decide(samuel):
    assert samuel("trust") == (0, "nothing is new or changed: there is nothing to trust\n", "")
    assert samuel("trust", "--list") == (0, "there is nothing in this project that needs trust\n", "")


def test_without_a_terminal_it_only_says_what_waits(samuel, project, guard):
    assert samuel("trust") == (
        1,
        "",
        f"error: not trusted yet:\n  new  {NAME}\n"
        "`samuel trust --show` shows it, `samuel trust --yes` agrees to all of it\n",
    )
    assert not (project / "canary").exists()


def test_trust_yes_trusts_without_asking(samuel, project, guard):
    assert samuel("trust", "--yes") == (0, f"trusted: {NAME}  sha256 {DIGEST[:16]}\n", "")
    assert (project / "canary").exists()  # now it was asked which event it is for
    assert samuel("trust") == (0, "nothing is new or changed: there is nothing to trust\n", "")
    assert samuel("trust", "--list") == (
        0,
        f"STATE    WHAT                 SHA256            AGREED\ntrusted  {NAME}  {DIGEST[:16]}  WHEN\n",
        "",
    )


def test_trust_prints_json(samuel, guard):
    item = {"name": NAME, "digest": DIGEST}
    assert samuel("trust", "--list", "--json").json["data"] == [{**item, "state": "new", "agreed_at": ""}]
    assert samuel("trust", "--yes", "--json").json == {
        "ok": True,
        "data": {"agreed": [{**item, "state": "new", "agreed_at": ""}], "pending": []},
        "warnings": [],
        "error": None,
    }
    assert samuel("trust", "--list", "--json").json["data"] == [{**item, "state": "trusted", "agreed_at": "WHEN"}]


def test_one_changed_byte_and_the_difference_is_shown(samuel, guard):
    samuel("trust", "--yes")
    guard.write_text(GUARD.replace("canary", "Canary"))
    digest = hashlib.sha256(b"x\0" + guard.read_bytes()).hexdigest()
    assert samuel("trust", "--show") == (
        0,
        f"""\
{NAME}  (changed, sha256 {digest})
    --- {NAME} (agreed)
    +++ {NAME} (now)
    @@ -1,5 +1,5 @@
     #!/bin/sh
     case $1 in
    -hook) touch canary; echo quality.check ;;
    +hook) touch Canary; echo quality.check ;;
     run) echo '{{"ok": true}}' ;;
     esac

""",
        "",
    )
    ran = samuel("hooks", "fire", "quality.check")
    assert [call["outcome"] for call in ran.json["chain"]] == ["ok", "refused"]


def test_a_person_is_asked_for_each(on_terminal, put, samuel, guard):
    put(".samuel/hooks/other", GUARD, 0o755)
    code, screen = on_terminal("trust", typed="y\nn\n")
    assert code == 1
    assert screen.count("hook) touch canary") == 2
    assert screen.endswith(f"trusted: {NAME}  sha256 {DIGEST[:16]}\nnot trusted: .samuel/hooks/other\n")
    assert [item["state"] for item in samuel("trust", "--list", "--json").json["data"]] == ["trusted", "new"]


@pytest.mark.parametrize(
    ("typed", "agreed"), [("a\n", 2), ("q\n", 0), ("y\nq\n", 1), ("\n\n", 0), ("x\ny\ny\n", 2)]
)
def test_trust_accepts_all_and_quit_as_answers(on_terminal, put, samuel, guard, typed: str, agreed: int):
    put(".samuel/hooks/other", GUARD, 0o755)
    code, _ = on_terminal("trust", typed=typed)
    assert code == (0 if agreed == 2 else 1)
    states = [item["state"] for item in samuel("trust", "--list", "--json").json["data"]]
    assert states.count("trusted") == agreed


def test_what_was_shown_is_what_is_agreed_to(samuel, guard, monkeypatch):
    """The file changes after it was read and before the answer: the answer is not about the new content."""
    from samuel.setup.consent import Consent

    consent = Consent(guard.parents[2])
    pending = consent.pending()
    guard.write_text(GUARD + "rm -rf ~\n")
    consent.agree(pending)
    assert samuel("trust", "--list", "--json").json["data"][0]["state"] == "changed"


def test_a_name_cannot_look_like_a_second_answer(samuel, put):
    put(".samuel/hooks/a\ntrusted: b", "")
    assert samuel("trust").err.splitlines()[1] == r"  new  .samuel/hooks/a\x0atrusted: b"
    assert samuel("trust", "--show").out.startswith(r".samuel/hooks/a\x0atrusted: b  (new")
    assert samuel("trust", "--yes").out.startswith(r"trusted: .samuel/hooks/a\x0atrusted: b  sha256")
    assert samuel("trust", "--revoke", "--yes").out == "no longer trusted: .samuel/hooks/a\\x0atrusted: b\n"


def test_trust_changes_only_what_is_named(samuel, put, guard, monkeypatch, project):
    put(".samuel/hooks/other", GUARD, 0o755)
    put("samuel.toml", "")
    monkeypatch.chdir(project / ".samuel")
    assert samuel("trust", "hooks/guard", "--yes", "--json").json["data"]["agreed"][0]["name"] == NAME
    assert samuel("trust", ".samuel/hooks/other", "--yes").code == 0


def test_trust_refuses_an_unknown_name(samuel, guard):
    assert samuel("trust", ".samuel/hooks/gard") == (
        2,
        "",
        f"error: `.samuel/hooks/gard` is not a hook, plugin or command of this project\ndid you mean `{NAME}`?\n",
    )
    assert samuel("trust", "../../etc/passwd").code == 2


def test_trust_revoke_takes_trust_back(samuel, guard):
    samuel("trust", "--yes")
    assert samuel("trust", "--revoke") == (
        2,
        "",
        "error: this would revoke all trust in this project\nname what you mean, or add `--yes`\n",
    )
    assert samuel("trust", "--revoke", NAME) == (0, f"no longer trusted: {NAME}\n", "")
    assert samuel("trust", "--revoke", "--yes") == (0, "nothing was trusted\n", "")
    samuel("trust", "--yes")
    guard.unlink()
    assert samuel("trust", "--list", "--json").json["data"][0]["state"] == "gone"
    assert samuel("trust", "--revoke", "--yes", "--json").json["data"] == {"revoked": [NAME]}


@pytest.mark.slow
def test_revoking_all_is_asked_for_on_a_terminal(on_terminal, samuel, guard):
    samuel("trust", "--yes")
    assert on_terminal("trust", "--revoke", typed="n\n")[0] == 130
    assert samuel("trust").code == 0
    assert on_terminal("trust", "--revoke", typed="y\n")[0] == 0
    assert samuel("trust").code == 1


def test_trust_refuses_options_that_exclude_each_other(samuel):
    assert samuel("trust", "--list", "--revoke") == (
        2,
        "",
        "error: `--list`, `--show` and `--revoke` exclude each other\nchoose one\n",
    )


def test_a_run_cannot_widen_what_is_trusted(samuel, guard, monkeypatch):
    monkeypatch.setenv("SAMUEL_RUN_ID", "run-1")
    refusal = (
        "error: this is inside the run `run-1`, which cannot change what is trusted\n"
        "end the run first, or use another terminal\n"
    )
    assert samuel("trust", "--yes") == (1, "", refusal)
    assert samuel("trust", "--revoke", "--yes") == (1, "", refusal)
    assert samuel("trust", "--list").code == 0


def test_a_hook_that_is_broken_is_said_right_away(samuel, put):
    put(".samuel/hooks/guard", "#!/bin/sh\nexit 3\n", 0o755)
    ran = samuel("trust", "--yes")
    assert ran.code == 0
    assert ran.err == "warning: `guard` is broken: `PROJECT/.samuel/hooks/guard hook` failed: exit code 3\n"


def test_a_file_that_cannot_be_read_cannot_be_trusted(samuel, guard):
    os.mkfifo(guard.with_name("pipe"))
    ran = samuel("trust", "--yes")
    assert ran.code == 1
    assert ran.out.endswith("not trusted: .samuel/hooks/pipe\n")
    assert ran.err == "warning: `.samuel/hooks/pipe` cannot be read, so it cannot be trusted\n"


def test_a_linked_hook_directory_is_refused(samuel, project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / ".samuel").symlink_to(tmp_path / "elsewhere")
    assert samuel("trust", "--yes").code == 2


def test_trust_reports_a_broken_samuel_toml(samuel, put):
    put("samuel.toml", "x = 1\n")
    ran = samuel("trust")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: PROJECT/samuel.toml:1: unknown key `x`")


@pytest.mark.parametrize(
    ("beside", "is_named"),
    [
        ("import gg\n", True),
        ("import samuel, g\n", False),
        ("from g import guard\n", False),
        ("from . import g as rules\n", False),
        ("subprocess.run(['python', 'g.py'])\n", False),
    ],
)
def test_trust_and_list_name_a_python_file_that_is_no_hook_and_that_no_hook_uses(samuel, put, beside, is_named):
    put(".samuel/hooks/g.py", "def guard(event):\n    return {'decision': 'deny'}\n")
    put(".samuel/hooks/_helper.py", "x = 1\n")
    put(".samuel/hooks/a.py", f"# samuel\n{beside}")
    what = "`.samuel/hooks/g.py` is not a hook: it has no function marked with `@samuel.hook`"
    for words in (("trust", "--yes"), ("hooks", "list")):
        assert (what in samuel(*words).err) == is_named
        assert "_helper.py" not in samuel(*words).err


def test_git_init_does_not_take_back_what_was_agreed_to(samuel, project, guard):
    samuel("trust", "--yes")
    subprocess.run(["git", "init", "-q", project], check=True)
    assert samuel("trust", "--list").out.splitlines()[1].split()[:2] == ["trusted", NAME]
    assert "decision" not in samuel("emit", "PreAbilityCall", stdin='{"ability_id": "x"}').json
    assert samuel("trust", "--revoke", NAME).code == 0
    assert samuel("trust", "--list").out.splitlines()[1].split()[:2] == ["new", NAME]
