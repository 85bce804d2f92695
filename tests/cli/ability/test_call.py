"""`samuel ability create`, `run`, `call` and `delete`: what they answer, what runs, and the record of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from .conftest import KEY, steady


class TestCreate:
    def test_a_call_that_can_be_run(self, samuel, shop):
        shop.trust()
        ran = samuel("ability", "create", "text.repeat", "--input", "-", stdin='{"text": "hi"}')
        (key,) = shop.keys
        assert ran.code == 0
        assert ran.json == {"status": "available", "call_key": key, "warnings": []}
        folder = shop.root / ".system/implement" / key
        assert json.loads((folder / "input.json").read_text()) == {"text": "hi"}
        assert shop.words() == (
            "# text.repeat: created\n\n- key: KEY\n- intent: Repeat a text\n- created: WHEN\n\n"
            '## Input\n\n```json\n{\n  "text": "hi"\n}\n```\n'
        )
        assert not (shop.root / "ran.txt").exists()

    def test_by_its_file_and_with_the_envelope(self, samuel, shop):
        shop.trust()
        shop.put("input.json", '{"text": "hi"}')
        ran = samuel("ability", "create", "text.repeat", "--input", "input.json", "--json")
        assert ran.json == {
            "ok": True,
            "data": {"status": "available", "call_key": shop.keys[0], "warnings": []},
            "warnings": [],
            "error": None,
        }

    @pytest.mark.parametrize(
        ("input_json", "reason"),
        [
            ('{"text": 1}', 'the input does not fit: $.text: 1 is not of type "string"'),
            ("{}", 'the input does not fit: $: "text" is a required property'),
            ('{"text": "a\\u0000b"}', "a value of the input contains a NUL, which no argument can contain"),
        ],
    )
    def test_an_input_that_does_not_fit_leaves_no_folder(self, samuel, shop, input_json, reason):
        shop.trust()
        ran = samuel("ability", "create", "text.repeat", "--input", input_json)
        assert ran.code == 1
        assert ran.json["status"] == "unavailable"
        assert ran.json["reason"] == reason
        assert list(ran.json) == ["status", "reason", "suggestion"]
        assert not (shop.root / ".system/implement").exists()

    def test_ability_create_is_unavailable_before_it_is_trusted(self, samuel, shop):
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert (ran.code, ran.json) == (
            1,
            {
                "status": "unavailable",
                "reason": "not trusted: `ability:text.repeat` has not been agreed to yet",
                "suggestion": "run `samuel trust` to look at it and agree",
            },
        )
        assert not (shop.root / ".system/implement").exists()

    def test_a_script_that_changed_since_it_was_agreed_to(self, samuel, shop):
        shop.trust()
        shop.program("scripts/abilities/repeat", "print('{}')\n")
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert ran.json["reason"] == "not trusted: `scripts/abilities/repeat` is not what was agreed to"

    def test_something_new_beside_the_script(self, samuel, shop):
        shop.trust()
        shop.put("scripts/abilities/json.py", "")
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert "what lies beside it is not trusted: `scripts/abilities/json.py` has not been agreed to" in ran.out

    def test_how_it_is_run_is_part_of_what_is_agreed_to(self, samuel, shop):
        shop.trust()
        file = shop.root / ".system/registry/low-level/repeat.yaml"
        file.write_text(file.read_text().replace("{GREETING: hello}", "[AWS_SECRET_ACCESS_KEY]"))
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert ran.json["reason"] == "not trusted: `ability:text.repeat` is not what was agreed to"
        trust_text = samuel("trust", "--show", "ability:text.repeat").out
        assert "-env: GREETING='hello'" in trust_text
        assert "+env: AWS_SECRET_ACCESS_KEY='$AWS_SECRET_ACCESS_KEY'" in trust_text

    def test_an_ability_that_does_not_exist(self, samuel, shop):
        ran = samuel("ability", "create", "text.repaet")
        assert (ran.code, ran.json["reason"]) == (1, "there is no ability `text.repaet`")
        assert ran.json["suggestion"] == "did you mean `text.repeat`?"

    def test_an_ability_without_an_implementation(self, samuel, empty):
        empty.put(".system/registry/low-level/x.yaml", "operation_key: x\nsummary: X\n")
        assert samuel("ability", "create", "x").json["reason"] == "`x` has no implementation"

    def test_ability_create_is_unavailable_in_another_environment(self, samuel, empty, monkeypatch):
        empty.script("deploy", "print('{}')", "scope: {environments: [dev, staging]}\n")
        empty.trust()
        none = samuel("ability", "create", "deploy")
        assert (none.code, none.json["reason"]) == (
            1,
            "`deploy` is for `dev`, `staging`, and no environment is set",
        )
        prod = samuel("ability", "create", "deploy", "--env", "prod")
        assert prod.json["reason"] == "`deploy` is for `dev`, `staging`, and this is `prod`"
        assert empty.keys == []
        monkeypatch.setenv("SAMUEL_ENV", "staging")
        key = samuel("ability", "create", "deploy").json["call_key"]
        # What was possible then need not be now.
        refused = samuel("ability", "run", key, "--env", "prod")
        assert (refused.code, refused.err.splitlines()[0]) == (
            1,
            "error: `deploy` is for `dev`, `staging`, and this is `prod`",
        )
        assert empty.record(key)["status"] == "created"
        assert samuel("ability", "run", key).code == 0

    @pytest.mark.parametrize(
        ("input_json", "message"),
        [
            ("missing.json", "error: cannot read the file `missing.json`: No such file or directory"),
            ("{oops", "error: `--input` is not JSON: "),
            ("-", "error: stdin is not JSON: "),
        ],
    )
    def test_an_input_that_cannot_be_read(self, samuel, shop, input_json, message):
        ran = samuel("ability", "create", "text.repeat", "--input", input_json, stdin="[")
        assert ran.code == 2
        assert ran.err.startswith(message)

    def test_ability_create_refuses_an_input_that_is_not_an_object(self, samuel, shop):
        shop.trust()
        ran = samuel("ability", "create", "text.repeat", "--input", "-", stdin="[1]")
        assert (ran.code, ran.json["reason"]) == (1, "the input must be a JSON object")


class TestRun:
    def test_the_output_is_on_stdout_and_the_record_says_what_happened(self, samuel, shop):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}', "--intent", "Try it").json[
            "call_key"
        ]
        ran = samuel("ability", "run", key)
        assert ran.code == 0
        assert ran.json == {"given": {"text": "hi"}, "arguments": ["--times=1", "hi"], "greeting": "hello"}
        assert steady(ran.err) == "text.repeat: success; see .system/implement/KEY/tool_call.md\n"
        assert shop.words() == (
            "# text.repeat: success\n"
            "\n"
            "- key: KEY\n"
            "- intent: Try it\n"
            "- created: WHEN\n"
            "- started: WHEN, by process PID\n"
            "- ended: WHEN, after MS ms\n"
            "- ran: `scripts/abilities/repeat --times=1 hi`\n"
            "- matched: yes, with the original input\n"
            "\n"
            "## Input\n"
            "\n"
            "```json\n"
            '{\n  "text": "hi"\n}\n'
            "```\n"
            "\n"
            "## Output\n"
            "\n"
            "```json\n"
            '{\n  "given": {\n    "text": "hi"\n  },\n  "arguments": [\n    "--times=1",\n    "hi"\n  ],\n'
            '  "greeting": "hello"\n}\n'
            "```\n"
            "\n"
            "## stderr\n"
            "\n"
            "```\n"
            "repeating hi\n"
            "```\n"
        )

    def test_ability_run_prints_json(self, samuel, shop):
        shop.trust()
        data = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}', "--json").json["data"]
        assert data == {
            "status": "success",
            "call_key": shop.keys[0],
            "ability_id": "text.repeat",
            "operation_key": "text.repeat",
            "output": {"given": {"text": "hi"}, "arguments": ["--times=1", "hi"], "greeting": "hello"},
            "error": "",
            "input_changed": False,
            "duration_ms": 0,
            "tool_call_path": f".system/implement/{shop.keys[0]}/tool_call.md",
            "parent": "",
            "children": [],
        }

    def test_a_call_runs_only_once(self, samuel, shop):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        samuel("ability", "run", key)
        again = samuel("ability", "run", key)
        assert (again.code, steady(again.err)) == (
            1,
            "error: `KEY` has run already, with the status `success`\n"
            "a call runs only once; `samuel ability create` makes another\n",
        )
        assert (shop.root / "ran.txt").read_text() == "x"

    def test_a_script_that_changed_after_it_was_created_does_not_run(self, samuel, shop):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        shop.program("scripts/abilities/repeat", "open('owned', 'w')\n")
        ran = samuel("ability", "run", key)
        assert (ran.code, ran.err.splitlines()[0]) == (
            1,
            "error: not trusted: `scripts/abilities/repeat` is not what was agreed to",
        )
        assert not (shop.root / "owned").exists()

    def test_a_script_that_changes_while_hooks_are_asked_does_not_run(self, samuel, shop):
        change = "open('scripts/abilities/repeat', 'a').write('open(\\'owned\\', \\'w\\')')"
        shop.hook("slow", "PreAbilityCall", change)
        shop.hook("after", "PostAbilityCall", "")
        shop.trust()
        ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
        assert ran.code == 1
        assert shop.record()["error"].startswith(
            "after the hooks, not trusted: `scripts/abilities/repeat` is not what was agreed to"
        )
        assert [event["status"] for event in shop.events_of_hook("after")] == ["failure"]
        assert not (shop.root / "owned").exists()

    def test_what_came_of_it_is_not_lost_with_its_folder(self, samuel, empty):
        empty.script(
            "tidy",
            """
            import os, shutil
            shutil.rmtree(f".system/implement/{os.environ['SAMUEL_PARENT_CALL']}")
            print('{"precious": 1}')
            """,
        )
        empty.hook("after", "PostAbilityCall", "")
        empty.trust()
        ran = samuel("ability", "call", "tidy")
        assert (ran.code, ran.json) == (0, {"precious": 1})
        assert "warning: its record cannot be written: No such file or directory\n" in ran.err
        assert [event["status"] for event in empty.events_of_hook("after")] == ["success"]

    def test_an_input_that_was_edited_is_checked_again(self, samuel, shop):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        (shop.root / ".system/implement" / key / "input.json").write_text('{"text": 1}')
        assert samuel("ability", "run", key).code == 1
        (shop.root / ".system/implement" / key / "input.json").write_text("{")
        assert samuel("ability", "run", key).code == 2

    @pytest.mark.parametrize(
        ("body", "error"),
        [
            ("raise SystemExit('no luck')", "exit code 1: no luck"),
            ("print('only here')\nraise SystemExit(3)", "exit code 3: only here"),
            ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
            (
                "print('hello')",
                "its output is not JSON: JSON is malformed: invalid character (byte 0); it wrote `hello`",
            ),
            ("print('[' * 100000)", "its output is JSON nested too deeply"),
            ("print('[1]')", 'its output does not fit: $: [1] is not of type "object"; it gave `[1]`'),
            ("pass", 'its output does not fit: $: null is not of type "object"; it gave `null`'),
        ],
    )
    def test_what_goes_wrong_is_a_failure_with_its_reason(self, samuel, empty, body, error):
        empty.script("bad", body, "output_schema: {type: object}\n")
        empty.trust()
        ran = samuel("ability", "call", "bad")
        assert (ran.code, ran.out) == (1, "")
        assert f"bad: failure: {error}; see" in ran.err
        assert empty.record()["error"] == error
        assert f"## Error\n\n```\n{error}\n```" in empty.words().replace("````", "```")

    def test_a_script_that_cannot_be_started(self, samuel, empty):
        empty.script("bad", "")
        (empty.root / "scripts/abilities/bad").chmod(0o644)
        empty.trust()
        ran = samuel("ability", "call", "bad")
        assert ran.code == 1
        assert "is not executable; `chmod +x" in empty.record()["error"]
        assert "- matched: nothing ran\n" in empty.words()

    def test_a_deadline_ends_the_whole_tree(self, samuel, empty, monkeypatch):
        body = "import subprocess, time\nsubprocess.Popen(['setsid', 'sleep', '1234567'])\ntime.sleep(600)"
        empty.script("slow", body, how=", timeout: 1s")
        empty.trust()
        ran = samuel("ability", "call", "slow")
        assert "slow: failure: killed after 1s; see" in ran.err
        assert not _sleeping("1234567")

    def test_an_ability_that_prints_too_much_fails(self, samuel, empty):
        empty.put("samuel.toml", "[limits]\nhandler_output_bytes = 1000\n")
        empty.script("loud", "print('x' * 100000)")
        empty.trust()
        assert "more than 1000 bytes of output" in samuel("ability", "call", "loud").err

    def test_an_ability_without_output_returns_null(self, samuel, empty):
        empty.script("quiet", "pass")
        empty.trust()
        assert samuel("ability", "call", "quiet").out == "null\n"

    def test_arguments_never_pass_through_a_shell(self, samuel, shop):
        shop.trust()
        text = "$(touch owned); `touch owned` \"' {times} {text} *"
        ran = samuel("ability", "call", "text.repeat", "--input", json.dumps({"text": text, "times": 3}))
        assert ran.json["arguments"] == ["--times=3", text]
        assert not (shop.root / "owned").exists()

    @pytest.mark.parametrize(
        ("arguments", "text", "runs"),
        [
            ('["{text}"]', "--help", False),
            ('["{text}"]', "-", False),
            ('["{text}"]', "-1.5", True),
            ('["{text}"]', "a--b", True),
            ('["{text}{text}"]', "-x", False),
            ('["--text", "{text}"]', "--help", False),
            ('["--text={text}"]', "--help", True),
            ('["--", "{text}"]', "--help", True),
        ],
    )
    def test_a_value_never_becomes_an_option(self, samuel, empty, arguments, text, runs):
        empty.script("say", "import sys\nprint(len(sys.argv))", how=f", args_template: {arguments}")
        empty.trust()
        ran = samuel("ability", "call", "say", "--input", json.dumps({"text": text}))
        assert (ran.code, len(empty.keys)) == ((0, 1) if runs else (1, 0))
        if not runs:
            assert ran.json["reason"].endswith("begins with `-`, and would be taken for an option")

    def test_an_ability_gets_its_environment_variables(self, samuel, empty, monkeypatch):
        monkeypatch.setenv("OUTSIDE", "from outside")
        monkeypatch.setenv("SECRET", "never")
        body = """
            import json, os
            names = ("OUTSIDE", "GIVEN", "MISSING", "SECRET", "SAMUEL_PARENT_CALL", "SAMUEL_TRUST", "SAMUEL_ENV")
            print(json.dumps({name: os.environ.get(name) for name in names}))
        """
        env = "{OUTSIDE: $OUTSIDE, GIVEN: x, MISSING: $MISSING, SAMUEL_PARENT_CALL: y, SAMUEL_TRUST: all}"
        empty.script("look", body, how=f", env: {env}")
        empty.trust()
        ran = samuel("ability", "call", "look", "--env", "dev")
        assert ran.json == {
            "OUTSIDE": "from outside",
            "GIVEN": "x",
            "MISSING": None,
            "SECRET": None,
            "SAMUEL_PARENT_CALL": empty.keys[0],
            "SAMUEL_TRUST": None,
            "SAMUEL_ENV": "dev",
        }
        assert "warning: `MISSING` is left out of its environment: `$MISSING` is not set" in ran.err

    @pytest.mark.slow
    def test_nothing_inside_can_change_what_is_trusted(self, samuel, empty):
        empty.script("greedy", "import subprocess\nprint(subprocess.run(['samuel', 'trust', '--yes']).returncode)")
        empty.trust()
        empty.put(".samuel/hooks/new", "a helper\n")
        ran = samuel("ability", "call", "greedy")
        assert "cannot change what is trusted" in empty.record()["stderr"]
        assert "0" not in ran.out
        assert [
            item["state"] for item in samuel("trust", "--list", ".samuel/hooks/new", "--json").json["data"]
        ] == ["new"]


def _sleeping(seconds: str) -> bool:
    return subprocess.run(["pgrep", "-f", f"sleep {seconds}"], capture_output=True).returncode == 0


class TestPython:
    def test_an_ability_can_be_a_function_of_a_file(self, samuel, empty):
        empty.put(
            "tools/count.py",
            "import helper\n\ndef count(given):\n    print('noise')\n    return helper.size(given)\n",
        )
        empty.put("tools/helper.py", "def size(given):\n    return {'letters': len(given['text'])}\n")
        _python(empty, "tools/count.py:count")
        empty.trust()
        ran = samuel("ability", "call", "count", "--input", '{"text": "four"}')
        assert ran.json == {"letters": 4}
        assert empty.record()["stderr"] == "noise\n"
        assert empty.record()["ran"] == "tools/count.py:count"

    def test_a_module_of_the_project_is_its_file(self, samuel, empty):
        empty.put("tools/count.py", "def count(given):\n    return [given]\n")
        _python(empty, "tools.count:count")
        refused = samuel("ability", "call", "count", "--input", '{"a": 1}')
        assert refused.json["status"] == "unavailable"
        empty.trust()
        assert samuel("ability", "call", "count", "--input", '{"a": 1}').json == [{"a": 1}]

    def test_a_module_that_is_installed(self, samuel, empty):
        _python(empty, "json:dumps")
        empty.trust()
        assert samuel("ability", "call", "count", "--input", '{"a": 1}').json == '{"a": 1}'

    @pytest.mark.parametrize(
        ("body", "error"),
        [
            ("def count(given):\n    raise ValueError('odd')\n", "exit code 1: ValueError: odd"),
            ("def other(given): ...\n", "has no attribute 'count'"),
            ("def count(given):\n    return object()\n", "not plain JSON data"),
            ("def count(given):\n    return float('nan')\n", "contains NaN or infinity"),
            ("syntax error\n", "SyntaxError"),
            ("import time\ndef count(given):\n    time.sleep(600)\n", "killed after 2s"),
        ],
    )
    def test_faults_of_a_python_ability_are_reported(self, samuel, empty, body, error):
        empty.put("tools/count.py", body)
        _python(empty, "tools/count.py:count", ", timeout: 2s" if "sleep" in body else "")
        empty.trust()
        ran = samuel("ability", "call", "count")
        assert ran.code == 1
        assert error in empty.record()["error"]


def _python(shop, function, more=""):
    shop.put(
        ".system/registry/low-level/count.yaml",
        "operation_key: count\nsummary: Count\nimplementation:\n  kind: python\n"
        f"  python: {{function: '{function}'{more}}}\n",
    )


class TestDelete:
    def test_ability_delete_removes_the_folder_of_a_call(self, samuel, shop):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        assert samuel("ability", "delete", key) == (0, f"deleted `{key}`\n", "")
        assert shop.keys == []
        assert list((shop.root / ".system/implement/.running").iterdir()) == []
        assert samuel("ability", "delete", key).code == 2

    @pytest.mark.parametrize("spoilt", [None, "{"])
    def test_one_whose_record_is_gone_or_spoilt(self, samuel, shop, spoilt):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        record = shop.root / ".system/implement" / key / "call.json"
        record.write_text(spoilt) if spoilt else record.unlink()
        assert f"(samuel ability delete {key})" in samuel("ability", "run", key).err
        assert samuel("ability", "delete", key).code == 0
        assert shop.keys == []

    def test_what_a_link_in_it_leads_to_stays(self, samuel, shop):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        kept_file = shop.put("kept/file", "x")
        (shop.root / ".system/implement" / key / "link").symlink_to(kept_file.parent)
        assert samuel("ability", "delete", key).code == 0
        assert kept_file.exists()

    @pytest.mark.parametrize("key", ["nope", "call-20250115T102345-0123456789abcdef"])
    def test_a_key_without_a_call_is_answered_with_the_command_that_lists_them(self, samuel, shop, key):
        message = f"error: no ability call with key `{key}`\n`samuel ability list --calls` lists them\n"
        for command in ("run", "delete"):
            assert samuel("ability", command, key) == (2, "", message)

    @pytest.mark.parametrize("key", ["..", "../registry", "/etc", "", ".running", "call-1", "a\x1b[2J", "call-\n"])
    def test_the_key_of_a_call_is_never_read_as_a_path(self, samuel, shop, key):
        for command in ("run", "delete"):
            refused = samuel("ability", command, key)
            assert refused.code == 2
            assert "\x1b" not in refused.err
        assert (shop.root / ".system/registry/low-level/repeat.yaml").exists()

    def test_a_folder_that_is_a_link_is_refused(self, samuel, shop):
        shop.trust()
        key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
        folder = shop.root / ".system/implement" / key
        folder.rename(shop.root / "elsewhere")
        folder.symlink_to(shop.root / "elsewhere")
        for command in ("run", "delete"):
            refused = samuel("ability", command, key)
            assert (refused.code, "symbolic link" in refused.err) == (2, True)
        assert (shop.root / "elsewhere/input.json").exists()
        assert not (shop.root / "ran.txt").exists()


@pytest.mark.parametrize("place", [".system/implement", ".system/implement/.running"])
def test_links_in_the_folder_of_calls_are_not_followed(samuel, shop, place):
    shop.trust()
    outside = shop.root.parent / "outside"
    outside.mkdir()
    link = shop.root / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    refused = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
    assert (refused.code, "symbolic link" in refused.err) == (2, True)
    assert list(outside.iterdir()) == []
    assert not (shop.root / "ran.txt").exists()


def test_keys_are_not_to_be_guessed(samuel, shop):
    shop.trust()
    for _ in range(2):
        samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}')
    first, other = shop.keys
    assert KEY.fullmatch(first)
    assert first[-16:] != other[-16:]


@pytest.mark.parametrize(
    "input_json",
    [
        '{"text": "' + "x" * 300_000 + '"}',  # longer than an argument can be
        '{"text": "\\ud800"}',
        '{"text": "\\u202e\\u001b]0;x\\u0007"}',
        '{"text": "x", "more": 1e400}',
        '{"text": "x", "more": ' + "9" * 5000 + "}",
        '{"text": "x", "more": ' + "[" * 150 + "]" * 150 + "}",
        '{"text": "x", "more": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"text": "x", "text": "y"}',
        '{"text": "--help"}',
        "\x00",
        "{",
    ],
)
def test_hostile_inputs_are_answered(samuel, shop, input_json):
    shop.trust()
    ran = samuel("ability", "call", "text.repeat", "--input", "-", stdin=input_json)
    assert ran.code in (0, 1, 2)
    assert "\x1b" not in ran.out + ran.err
    assert (ran.code == 0) == (shop.root / "ran.txt").exists()


@pytest.mark.slow
def test_of_many_processes_that_run_the_same_call_one_does(samuel, shop):
    shop.trust()
    key = samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}').json["call_key"]
    command = [sys.executable, "-m", "samuel", "ability", "run", key]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    many = [subprocess.Popen(command, cwd=shop.root, **quiet) for _ in range(5)]
    assert sorted(process.wait() for process in many) == [0, 1, 1, 1, 1]
    assert (shop.root / "ran.txt").read_text() == "x"


def test_a_script_that_leads_out_of_the_project(samuel, shop):
    shop.trust()
    script = shop.root / "scripts/abilities/repeat"
    script.rename(shop.root.parent / "outside")
    script.symlink_to(shop.root.parent / "outside")
    ran = samuel("ability", "call", "text.repeat", "--input", '{"text": "hi"}')
    assert ran.json["reason"] == "`PROJECT/scripts/abilities/repeat` leads out of the project"


@pytest.mark.slow
def test_a_call_that_cannot_be_written_leaves_no_folder(samuel, shop):
    shop.trust()
    command = [sys.executable, "-m", "samuel", "ability", "create", "text.repeat", "--input", "-"]
    input_json = json.dumps({"text": "x" * 100_000}).encode()
    small = "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))"
    limited = [sys.executable, "-c", f"import os, resource, sys; {small}; os.execv(sys.argv[1], sys.argv[1:])"]
    ran = subprocess.run([*limited, *command], cwd=shop.root, input=input_json, capture_output=True)
    assert (ran.returncode, ran.stderr) == (1, b"error: `input.json`: File too large\n")
    assert shop.keys == []


class TestListOfCalls:
    def test_every_call_and_how_it_ended(self, samuel, shop):
        shop.script("bad", "raise SystemExit('no luck')")
        shop.trust()
        samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}')
        samuel("ability", "call", "bad")
        listed = samuel("ability", "list", "--calls")
        assert [line.split()[1:3] for line in listed.out.splitlines()] == [
            ["ABILITY_ID", "STATUS"],
            ["text.repeat", "created"],
            ["bad", "failure"],
        ]
        first, second = samuel("ability", "list", "--calls", "--json").json["data"]
        assert [first["call_key"], second["call_key"]] == sorted(
            shop.keys, key=lambda key: shop.record(key)["created"]
        )
        assert second == {
            "call_key": second["call_key"],
            "ability_id": "bad",
            "status": "failure",
            "created": "WHEN",
            "error": "exit code 1: no luck",
        }

    def test_one_that_cannot_be_read_hides_no_other(self, samuel, shop):
        shop.trust()
        for _ in range(2):
            samuel("ability", "create", "text.repeat", "--input", '{"text": "hi"}')
        (shop.root / ".system/implement" / shop.keys[0] / "call.json").write_text("{")
        listed = samuel("ability", "list", "--calls", "--json").json["data"]
        assert [row["status"] for row in listed] == ["unreadable", "created"]

    def test_ability_list_calls_says_when_there_are_none(self, samuel, shop):
        assert samuel("ability", "list", "--calls") == (
            0,
            "no ability calls yet; `samuel ability create` makes one\n",
            "",
        )
