"""`bridge add` and `bridge remove` on real files."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from samuel.base.errors import ConfigError, SamuelError, UsageError
from samuel.bridges import files
from samuel.bridges.files import BridgeContext
from samuel.clients.table import LAYOUTS

WITH_PROJECT = [client for client, layout in LAYOUTS.items() if layout.project]


def tree(root: Path) -> dict[str, bytes | None]:
    """Every file below the directory with its content; directories with None."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def settings(context: BridgeContext, text: str | bytes, name: str = ".gemini/settings.json") -> Path:
    file = context.root / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_all_clients_are_added_and_removed_without_a_trace(context):
    files.add(context, WITH_PROJECT, "project")
    assert tree(context.root)
    files.add(context, list(LAYOUTS), "user")
    files.remove(context, list(LAYOUTS), "user")
    files.remove(context, WITH_PROJECT, "project")
    assert tree(context.root) == {}
    assert [name for name in tree(context.user.home) if not name.startswith("state")] == []


def test_empty_directory_that_was_there_before_stays(context):
    (context.root / ".claude").mkdir()
    files.add(context, ["claude"], "project")
    files.remove(context, ["claude"], "project")
    assert tree(context.root) == {".claude": None}


def test_file_stays_with_what_others_added_to_it(context):
    files.add(context, ["claude"], "project")
    file = context.root / ".claude/settings.json"
    file.write_text(file.read_text().replace("{", '{\n  "model": "opus",', 1))
    files.remove(context, ["claude"], "project")
    assert file.read_text() == '{\n  "model": "opus"\n}\n'


def test_hook_that_somebody_put_beside_ours_stays(context):
    files.add(context, ["claude"], "project")
    file = context.root / ".claude/settings.json"
    command = '{\n            "type": "command"'
    beside = file.read_text().replace(
        command, f'{{"type": "command", "command": "lint"}},\n          {command}', 1
    )
    file.write_text(beside)
    files.remove(context, ["claude"], "project")
    assert '"command": "lint"' in file.read_text()
    assert "samuel" not in file.read_text()


@pytest.mark.parametrize(
    ("client", "content"),
    [
        ("claude", b"\xef\xbb\xbf{}\r\n"),
        ("gemini", b'{"a": 1}'),
        ("gemini", b'{\r\n\t"a": 1 // x\r\n}\r\n\r\n'),
    ],
)
def test_byte_order_mark_line_ends_and_mode_are_preserved(context, client, content):
    file = settings(context, content, f".{client}/settings.json")
    file.chmod(0o640)
    files.add(context, [client], "project")
    assert file.read_bytes().startswith(content[:4])
    files.remove(context, [client], "project")
    assert file.read_bytes() == content
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("client", "name", "text", "what"),
    [
        ("claude", ".claude/settings.json", "{\n  // mine\n}\n", ":2: claude does not read a file with comments"),
        (
            "gemini",
            ".gemini/settings.json",
            '{\n  "a": 1,\n}\n',
            ":2: gemini does not read a file with trailing commas",
        ),
        ("gemini", ".gemini/settings.json", b"\xef\xbb\xbf{}", ":1: gemini does not read a file that starts with"),
        ("claude", ".claude/settings.json", '{\n  "a": 1\n  "b": 2\n}', ":3: not valid JSON: expected `,` or `}`"),
        ("claude", ".claude/settings.json", "", ":1: not valid JSON: the file is empty"),
        ("claude", ".claude/settings.json", '{"hooks": []}', ":1: `hooks` must be an object"),
        (
            "gemini",
            ".gemini/settings.json",
            '{"a": 1,\n "a": 2}',
            ":2: not valid JSON: the key `a` is there twice",
        ),
        ("gemini", ".gemini/settings.json", '{"a": /* 1}', ":1: not valid JSON: a comment does not end"),
        ("gemini", ".gemini/settings.json", '{"a": ' + "[" * 200, ":1: not valid JSON: nests deeper"),
        ("gemini", ".gemini/settings.json", b"{}\n\xff", ":2: the file is not UTF-8"),
        ("opencode", ".opencode/plugins/samuel.js", "// mine\n", "another program's file"),
        ("cline", ".clinerules/hooks/PreToolUse", "#!/bin/sh\n", "another program's file"),
    ],
)
def test_broken_file_is_refused_untouched_with_its_line(context, client, name, text, what):
    settings(context, "", "samuel.toml")
    file = context.root / name
    file.parent.mkdir(parents=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = tree(context.root)
    with pytest.raises(ConfigError) as refused:
        files.add(context, ["codex", client], "project")
    assert what in str(refused.value)
    assert str(file) in str(refused.value)
    assert tree(context.root) == before


@pytest.mark.parametrize("text", ["hooks = 1\n", "hooks = []\n", "[hooks]\na = 1\n", 'a = "\n'])
def test_broken_toml_is_refused_untouched(context, text):
    file = context.user.home / ".kimi-code/config.toml"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigError):
        files.add(context, ["kimi"], "user")
    assert file.read_text() == text


def test_symbolic_link_is_refused_with_its_target(context):
    target = context.root / "elsewhere.json"
    target.write_text("{}")
    (context.root / ".claude").mkdir()
    (context.root / ".claude/settings.json").symlink_to(target)
    with pytest.raises(ConfigError, match=f"symbolic link to {target}"):
        files.add(context, ["claude"], "project")
    assert target.read_text() == "{}"


def test_directory_of_a_project_that_is_a_link_is_refused(context, tmp_path):
    (tmp_path / "outside").mkdir()
    (context.root / ".claude").symlink_to(tmp_path / "outside")
    with pytest.raises(Exception, match=r"\.claude` is a symbolic link"):
        files.add(context, ["claude"], "project")
    assert tree(tmp_path / "outside") == {}


def test_home_of_a_client_may_be_a_link_of_its_user(context, tmp_path):
    (tmp_path / "dotfiles").mkdir()
    (context.user.home / ".claude").symlink_to(tmp_path / "dotfiles")
    files.add(context, ["claude"], "user")
    assert (tmp_path / "dotfiles/settings.json").exists()
    files.remove(context, ["claude"], "user")
    assert tree(tmp_path / "dotfiles") == {}


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_not_a_plain_file_is_refused(context, kind):
    place = context.root / ".claude/settings.json"
    place.parent.mkdir()
    place.mkdir() if kind == "directory" else os.mkfifo(place)
    with pytest.raises(SamuelError, match=r"not a regular file|is a pipe"):
        files.add(context, ["claude"], "project")


def test_file_where_a_directory_must_be_is_refused(context):
    (context.root / ".claude").write_text("")
    with pytest.raises(SamuelError, match=r"\.claude"):
        files.add(context, ["claude"], "project")


def test_read_only_file_is_refused_before_anything_is_written(context):
    file = settings(context, "{}")
    file.chmod(0o444)
    with pytest.raises(ConfigError, match=r"settings\.json: the file is read-only \(`chmod u\+w"):
        files.add(context, ["codex", "gemini"], "project")
    assert file.read_text() == "{}"
    assert not (context.root / ".codex").exists()


def test_plugin_that_somebody_changed_is_not_removed(context):
    files.add(context, ["opencode"], "project")
    file = context.root / ".opencode/plugins/samuel.js"
    file.write_text(file.read_text() + "// mine\n")
    with pytest.raises(ConfigError, match="was changed since"):
        files.remove(context, ["opencode"], "project")
    assert file.exists()


def test_entries_of_another_version_are_replaced(context):
    files.add(context, ["claude"], "project")
    file = context.root / ".claude/settings.json"
    current = file.read_text()
    file.write_text(current.replace("120", "60"))
    assert not files.entries(context, "claude", "project")[0].current
    files.add(context, ["claude"], "project")
    assert file.read_text() == current
    assert files.entries(context, "claude", "project")[0].current


def test_adding_at_the_same_time_loses_nothing(context):
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda client: files.add(context, [client], "project"), WITH_PROJECT * 2))
    before = tree(context.root)
    files.add(context, WITH_PROJECT, "project")
    assert tree(context.root) == before
    files.remove(context, WITH_PROJECT, "project")
    assert tree(context.root) == {}


def test_client_without_hooks_of_a_project_is_refused(context):
    with pytest.raises(UsageError, match="bridge add --user kimi"):
        files.add(context, ["claude", "kimi"], "project")
    assert tree(context.root) == {}


def test_diff_shows_the_change_and_writes_nothing(context):
    settings(context, '{\n  "a": 1\n}')
    (change,) = files.add(context, ["gemini"], "project", write=False)
    diff = change.diff()
    assert diff.startswith("--- a/.gemini/settings.json\n+++ b/.gemini/settings.json\n@@ -1,3 ")
    assert '-  "a": 1\n+  "a": 1,\n+  "hooks": {\n' in diff
    assert (context.root / ".gemini/settings.json").read_text() == '{\n  "a": 1\n}'
