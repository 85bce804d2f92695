"""The record of a call, on disk and in words."""

from __future__ import annotations

import json
import os
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from samuel.base.errors import ConfigError, Locked, SamuelError, UsageError
from samuel.routing.abilities.execution.call import LONGEST, AbilityCall, CallStatus, shortened, summary, tool_call
from samuel.routing.abilities.execution.call_store import KILLED, CallStore, new_key

NOW = 1_750_000_000.0
CALL = AbilityCall(key=new_key(NOW), ability_id="x", created="2025-06-15T15:06:40.000Z", status=CallStatus.CREATED)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


class TestToolCallFile:
    @given(values, st.text(), st.text())
    def test_no_input_can_add_a_heading_or_a_fact_to_tool_call_md(self, original_input, intent, error):
        words = tool_call(replace(CALL, intent=intent, error=error, status=CallStatus.FAILURE), original_input)
        lines = words.split("\n")
        assert lines[0] == "# x: failure"
        # Nothing that a caller or a program says can look like a heading or a fact of the record.
        fence, inside, outside = "", False, []
        for line in lines:
            if not inside and line.startswith("```"):
                fence, inside = line.rstrip("json"), True
            elif inside and line == fence:
                inside = False
            elif not inside:
                outside.append(line)
        assert not inside
        headings = [line for line in outside if line.startswith("#")]
        assert headings == ["# x: failure", "## Input", *(["## Error"] if error else [])]

    def test_control_characters_are_escaped_in_tool_call_md(self):
        evil = "\x1b]52;c;ZXZpbA==\x07"
        call = replace(
            CALL, intent=evil, error=evil, stderr=evil, ran=evil, status=CallStatus.FAILURE, started="WHEN"
        )
        words = tool_call(call, {"text": evil})
        assert "\x1b" not in words
        assert words.count(r"\x1b]52;c;ZXZpbA==\x07") == 4
        assert r'"text": "\u001b]52;c;ZXZpbA==\u0007"' in words

    def test_a_command_with_backticks_is_quoted_with_more_of_them(self):
        words = tool_call(replace(CALL, ran="say `hi` ``", status=CallStatus.SUCCESS, started="WHEN"), {})
        assert "- ran: ``` say `hi` `` ```\n" in words

    def test_long_values_are_cut_in_tool_call_md(self):
        words = tool_call(replace(CALL, stderr="a" * 100_000 + "END"), {"text": "b" * 100_000})
        assert len(words) < 3 * LONGEST
        assert "END\n```" in words

    def test_a_deep_value_does_not_grow_by_indenting(self, tmp_path):
        wide = [1] * 500_000
        for _ in range(100):
            wide = [wide]
        calls = CallStore(tmp_path)
        calls.add(CALL, wide)
        assert (tmp_path / ".system/implement" / CALL.key / "input.json").stat().st_size < 2_000_000
        assert calls.input(CALL.key) == wide
        assert len((tmp_path / calls.path(CALL.key)).read_text()) < 2 * LONGEST

    def test_a_summary_is_short_and_in_one_line(self):
        assert summary({"summary": "All 42\ntest cases passed", "more": 1}) == "All 42 test cases passed"
        assert summary({"a": [1, None]}) == '{"a":[1,null]}'
        assert len(summary({"a": "x" * 10_000})) == 200
        assert shortened("a  b\n c") == "a b c"


class TestCallStore:
    def test_a_stored_call_is_loaded_again(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(CALL, {"a": [1]})
        assert (calls.load(CALL.key), calls.input(CALL.key)) == (CALL, {"a": [1]})
        folder = tmp_path / ".system/implement" / CALL.key
        assert sorted(os.listdir(folder)) == ["call.json", "input.json", "tool_call.md"]
        assert {(folder / name).stat().st_mode & 0o777 for name in os.listdir(folder)} == {0o600}

    @pytest.mark.parametrize("name", ["call.json", "input.json"])
    @pytest.mark.parametrize("text", ["", "[]", "{", "\xff", '{"key": "x"}', "[" * 100_000])
    def test_a_damaged_record_of_a_call_is_reported(self, tmp_path, name, text):
        calls = CallStore(tmp_path)
        calls.add(CALL, {})
        (tmp_path / ".system/implement" / CALL.key / name).write_text(text, "latin-1")
        if name == "call.json":
            with pytest.raises(ConfigError):
                calls.load(CALL.key)
        elif text not in ("[]", '{"key": "x"}'):
            with pytest.raises(ConfigError):
                calls.input(CALL.key)
        assert calls.mark_killed() == []

    def test_a_record_in_the_folder_of_another_key_is_refused(self, tmp_path):
        calls, other = CallStore(tmp_path), new_key(NOW)
        calls.add(CALL, {})
        (tmp_path / ".system/implement" / CALL.key).rename(tmp_path / ".system/implement" / other)
        with pytest.raises(ConfigError, match="it is the record of"):
            calls.load(other)

    def test_a_call_is_run_by_one_process_at_a_time(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(CALL, {})
        with calls.running(CALL.key), pytest.raises(SamuelError, match="is running now"), calls.running(CALL.key):
            pass
        with calls.running(CALL.key):
            pass

    def test_a_call_whose_process_died_is_marked_as_killed(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(CALL, {})
        with suppress(KeyboardInterrupt), calls.running(CALL.key):
            calls.save(replace(CALL, status=CallStatus.RUNNING, pid=1), {})
            assert calls.mark_killed() == []
            raise KeyboardInterrupt
        assert calls.mark_killed() == [CALL.key]
        assert (calls.load(CALL.key).status, calls.load(CALL.key).error) == (CallStatus.KILLED, KILLED)
        assert calls.mark_killed() == []

    def test_a_call_whose_process_died_before_it_started_can_still_run(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(CALL, {})
        with pytest.raises(KeyboardInterrupt), calls.running(CALL.key):
            raise KeyboardInterrupt
        assert calls.mark_killed() == []
        assert calls.load(CALL.key).status is CallStatus.CREATED

    def test_a_killed_call_without_lock_and_input_is_found_by_its_key(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(replace(CALL, status=CallStatus.RUNNING), {})
        (tmp_path / ".system/implement" / CALL.key / "input.json").write_text("{")
        assert calls.mark_killed() == []
        assert calls.mark_killed(calls.all_keys()) == [CALL.key]
        assert calls.load(CALL.key).status is CallStatus.KILLED

    def test_the_lock_of_a_call_that_has_ended_is_removed(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(CALL, {})
        with suppress(KeyboardInterrupt), calls.running(CALL.key):
            calls.save(replace(CALL, status=CallStatus.KILLED), {})
            raise KeyboardInterrupt
        lock = tmp_path / ".system/implement/.running" / CALL.key
        assert lock.exists()
        assert calls.mark_killed() == []
        assert not lock.exists()

    def test_a_lock_error_of_the_ability_is_not_taken_for_the_lock_of_the_call(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(CALL, {})
        with pytest.raises(Locked, match="something else"), calls.running(CALL.key):
            raise Locked("something else")

    def test_git_ignores_calls_until_the_user_removes_the_gitignore(self, tmp_path):
        calls, ignored = CallStore(tmp_path), tmp_path / ".system/implement/.gitignore"
        calls.add(CALL, {})
        assert ignored.read_text() == "*\n"
        ignored.unlink()
        calls.add(replace(CALL, key=new_key(NOW)), {})
        assert not ignored.exists()

    def test_the_children_of_a_call_are_listed_once_and_invalid_lines_ignored(self, tmp_path):
        calls, child = CallStore(tmp_path), new_key(NOW)
        calls.add(CALL, {})
        assert calls.children(CALL.key) == ()
        calls.add_child(CALL.key, child)
        calls.add_child(CALL.key, child)
        with (tmp_path / ".system/implement" / CALL.key / "children").open("a") as file:
            file.write("../../etc\n\xff\n")
        assert calls.children(CALL.key) == (child,)

    def test_a_record_file_that_is_a_link_is_replaced_not_followed(self, tmp_path):
        calls = CallStore(tmp_path)
        calls.add(CALL, {})
        outside = tmp_path / "outside"
        outside.write_text("mine")
        words = tmp_path / ".system/implement" / CALL.key / "tool_call.md"
        words.unlink()
        words.symlink_to(outside)
        calls.save(CALL, {})
        assert outside.read_text() == "mine"
        assert not words.is_symlink()

    @given(st.text())
    def test_a_text_that_is_not_a_key_is_refused(self, key):
        with pytest.raises(UsageError):
            CallStore(None).load(key)


def test_the_record_of_a_call_is_plain_json(tmp_path):
    calls = CallStore(tmp_path)
    calls.add(CALL, {})
    stored_call = json.loads((tmp_path / ".system/implement" / CALL.key / "call.json").read_text())
    assert stored_call == {
        "key": CALL.key,
        "ability_id": "x",
        "created": "2025-06-15T15:06:40.000Z",
        "status": "created",
    }
