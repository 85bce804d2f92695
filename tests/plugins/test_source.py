"""Every form of a source, and everything that only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from samuel.base.errors import UsageError
from samuel.plugins.lock import LockedPlugin
from samuel.plugins.source import GIT, PATH, PluginSource, check_title, locked, of_entry, parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("text", "url", "ref", "title"),
    [
        ("org/repo", "https://github.com/org/repo.git", "", "org/repo"),
        ("org/repo.git", "https://github.com/org/repo.git", "", "org/repo"),
        ("org/repo@v1.2", "https://github.com/org/repo.git", "v1.2", "org/repo"),
        ("org/repo@feature/x", "https://github.com/org/repo.git", "feature/x", "org/repo"),
        (f"org/repo@{COMMIT}", "https://github.com/org/repo.git", COMMIT, "org/repo"),
        ("https://host.example/org/repo.git", "https://host.example/org/repo.git", "", "org/repo"),
        ("https://host.example:8443/a/b/c@main", "https://host.example:8443/a/b/c", "main", "b/c"),
        ("https://host.example/org/repo.git@a/b", "https://host.example/org/repo.git", "a/b", "org/repo"),
        ("http://host.example/repo", "http://host.example/repo", "", "repo"),
        ("git://host.example/org/repo", "git://host.example/org/repo", "", "org/repo"),
        ("ssh://git@host.example:22/org/repo.git@v1", "ssh://git@host.example:22/org/repo.git", "v1", "org/repo"),
        ("git@host.example:org/repo.git", "git@host.example:org/repo.git", "", "org/repo"),
        ("git@host.example:org/repo.git@v1", "git@host.example:org/repo.git", "v1", "org/repo"),
        ("host.example:repo", "host.example:repo", "", "repo"),
        ("git@host.example:~user/repo", "git@host.example:~user/repo", "", "user/repo"),
        ("file:///srv/git/org/repo.git@main", "file:///srv/git/org/repo.git", "main", "org/repo"),
        ("git+https://host/org/repo.git@v1", "https://host/org/repo.git", "v1", "org/repo"),
        ("git+file:///srv/org/repo", "file:///srv/org/repo", "", "org/repo"),
    ],
)
def test_a_git_source_is_parsed(text: str, url: str, ref: str, title: str, tmp_path: Path):
    assert parse(text, tmp_path) == PluginSource(GIT, url, ref, title)


@pytest.mark.parametrize("text", ["./my-plugin", "../{here}/my-plugin", "{base}/my-plugin", "./x/../my-plugin"])
def test_a_directory_is_a_source(text: str, tmp_path: Path):
    (tmp_path / "my-plugin").mkdir()
    source = parse(text.format(here=tmp_path.name, base=tmp_path), tmp_path)
    assert source == PluginSource(PATH, str(tmp_path / "my-plugin"), "", "my-plugin", local=True)


def test_a_directory_below_the_home_is_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "p").mkdir()
    assert parse("~/p", Path("/")).url == str(tmp_path / "p")


def test_a_directory_with_a_ref_is_read_by_git(tmp_path: Path):
    (tmp_path / "p").mkdir()
    assert parse("./p@v1", tmp_path) == PluginSource(GIT, str(tmp_path / "p"), "v1", "p", local=True)
    # One that is there is taken by its whole name.
    (tmp_path / "p@v1").mkdir()
    assert parse("./p@v1", tmp_path) == PluginSource(PATH, str(tmp_path / "p@v1"), "", "p-v1", local=True)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "..", "repo", "a/b/c", "/nowhere/at/all", "./nowhere", "~root/x", "org/", "/repo", "org//repo"),
        *("org/..", "./..nowhere", "org/.", "./nowhere@"),
        *("org/repo@", "org/repo@a@b", "org/repo@-x", "org/repo@--upload-pack=touch x", "org/repo@a..b"),
        *(
            "org/repo@a:b",
            "org/repo@+main",
            "org/repo@main^",
            "org/repo@HEAD~1",
            "org/repo@x.lock",
            "org/repo@@{1}",
        ),
        *("-x", "--upload-pack=touch", "-oProxyCommand=x/y", "org/re po", "org/repo\n", "org\\repo", "o\x1b[2J/r"),
        *(
            "ext::sh -c touch%20x",
            "ext::sh",
            "fd::3",
            "ftp://host/org/repo",
            "HTTPS://host/org/repo",
            "javascript://x/y",
        ),
        *("https://user:secret@host/org/repo", "https://token@host/org/repo", "ssh://git:secret@host/org/repo"),
        *("http://:@host/org/repo", "https:///org/repo", "https://host", "https://host/", "file://host/org/repo"),
        *(
            "https://host/org/repo?token=1",
            "https://host/org/repo#x",
            "https://host/a/../b",
            "https://host/%2e%2e/x",
        ),
        *("ssh://-oProxyCommand=x/org/repo", "git@-oProxyCommand=x:org/repo", "-git@host:org/repo"),
        *("https://host/org/-repo", "https://host/.git/.git", "https://host/org/.hidden", "https://host/a@b@c/d"),
        *("org/$(id)", "org/`id`", "org/re;po", "https://ho st/org/repo", "https://[::1]/org/repo", "ä/ö"),
        *("https://host/default", "git@host:samuel-default", "https://host/" + "a" * 200),
    ],
)
def test_a_wrong_source_is_refused(text: str, tmp_path: Path):
    with pytest.raises(UsageError) as refused:
        parse(text, tmp_path)
    assert refused.value.hint
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["./p", "/tmp", ".", "../p", "~/p"])
def test_paths_are_refused_where_they_are_not_allowed(text: str, tmp_path: Path):
    (tmp_path / "p").mkdir()
    with pytest.raises(UsageError):
        parse(text, tmp_path, paths_too=False)


@pytest.mark.parametrize("title", ["name", "org/repo", "a.b/c_d-e", "x1"])
def test_a_valid_title_is_accepted(title: str):
    assert check_title(title) == title


@pytest.mark.parametrize(
    "title", ["", "..", ".", "a/b/c", "/a", "a/", "-a", "a/-b", ".a", "a b", "a\nb", "default", "a@b"]
)
def test_a_wrong_title_is_refused(title: str):
    with pytest.raises(UsageError):
        check_title(title)


def test_the_directory_of_any_source_is_one_plain_name(tmp_path: Path):
    (tmp_path / "strange name @!").mkdir()
    for text in ("org/repo", "git@host:a/b", "./strange name @!"):
        assert "/" not in parse(text, tmp_path).directory
        assert not parse(text, tmp_path).directory.startswith(".")


def test_a_directory_is_called_as_its_manifest_says(tmp_path: Path):
    (tmp_path / "p").mkdir()
    source = parse("./p", tmp_path)
    assert source.titled("org/other").directory == "org@other"
    assert source.titled("").title == "p"
    assert parse("org/repo", tmp_path).titled("other").title == "org/repo"
    with pytest.raises(UsageError):
        source.titled("../../x")


def test_a_source_survives_samuel_lock(tmp_path: Path):
    base = tmp_path / "project"
    for path in ("project/own", "beside", "with space"):
        (tmp_path / path).mkdir(parents=True)
        source = parse(str(tmp_path / path), tmp_path)
        lock_text = source.lock_text(base, relative=True)
        assert not Path(lock_text).is_absolute()
        entry = LockedPlugin(name=source.title, source=lock_text)
        assert of_entry(entry, base) == locked(entry, base) == source
        assert source.lock_text(base, relative=False) == str(tmp_path / path)
    source = parse("git@host:org/repo.git@v1", base)
    entry = LockedPlugin(name="org/repo", source=source.lock_text(base, relative=True), ref="v1", commit=COMMIT)
    assert of_entry(entry, base) == source
    assert locked(entry, base) == source._replace(ref=COMMIT)


@pytest.mark.parametrize(
    "entry",
    [
        LockedPlugin(name="../../x", source="org/repo", commit=COMMIT),
        LockedPlugin(name="org/repo", source="org/repo", commit="main"),
        LockedPlugin(name="org/repo", source="org/repo", commit=f"-{COMMIT[1:]}"),
        LockedPlugin(name="org/repo", source="org/repo"),
        LockedPlugin(name="org/repo", source="ext::sh", commit=COMMIT),
        LockedPlugin(name="default", source="org/repo", commit=COMMIT),
    ],
)
def test_sources_in_samuel_lock_are_checked(entry: LockedPlugin, tmp_path: Path):
    with pytest.raises(UsageError):
        locked(entry, tmp_path)
