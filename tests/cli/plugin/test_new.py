"""`samuel plugin new`: what it writes is valid, works as written, and is what the examples show."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from samuel.plugins.manifest import load
from samuel.scaffold.plugin import NEW_KINDS, TemplateFile, plugin

EXAMPLES = Path(__file__).parents[3] / "examples/plugins"

NEW = """\
wrote my-checks/.gitignore
wrote my-checks/README.md
wrote my-checks/recipes/finish.md
wrote my-checks/samuel-plugin.toml
wrote my-checks/scripts/checklist
wrote my-checks/skills/my-checks/SKILL.md
wrote my-checks/tests/test_plugin.py

Try:
  samuel plugin validate my-checks
  pytest my-checks  # in Samuel's environment
  samuel plugin add ./my-checks

Share:
  cd my-checks && git init && git add . && git commit -m 'First version'
  git remote add origin URL && git push -u origin HEAD
  samuel plugin add URL
"""


def test_plugin_new_writes_a_plugin(samuel, project):
    assert samuel("plugin", "new", "my-checks", "--kind", "skill") == (0, NEW, "")
    assert os.access(project / "my-checks/scripts/checklist", os.X_OK)
    assert not os.access(project / "my-checks/README.md", os.X_OK)


def test_plugin_new_prints_what_it_wrote_as_json(samuel):
    ran = samuel("plugin", "new", "acme/facts", "--kind", "python", "--dir", "deep/er", "--json")
    assert ran.json["data"] == {
        "path": "deep/er/facts",
        "name": "acme/facts",
        "kind": "python",
        "files": [
            "deep/er/facts/.gitignore",
            "deep/er/facts/README.md",
            "deep/er/facts/plugin.py",
            "deep/er/facts/samuel-plugin.toml",
            "deep/er/facts/tests/test_plugin.py",
        ],
        "next": [
            "samuel plugin validate deep/er/facts",
            "pytest deep/er/facts",
            "samuel plugin add ./deep/er/facts",
            "cd deep/er/facts && git init && git add . && git commit -m 'First version'",
            "git remote add origin URL && git push -u origin HEAD",
            "samuel plugin add URL",
        ],
    }


@pytest.mark.parametrize("name", ["mine", "acme/My_Plugin.2"])
@pytest.mark.parametrize("kind", NEW_KINDS)
def test_plugin_new_writes_a_valid_plugin(samuel, project, kind: str, name: str):
    assert samuel("plugin", "new", name, "--kind", kind).code == 0
    directory = name.rpartition("/")[2]
    ran = samuel("plugin", "validate", directory)
    assert (ran.code, ran.out.splitlines()[0]) == (0, f"{name} 0.1.0 ({kind}) is valid")
    manifest = load(project / directory)
    assert (manifest.name, manifest.kind) == (name, kind)
    assert manifest.bindings


def own_tests(directory: str) -> subprocess.CompletedProcess[str]:
    """Run a plugin's tests as its author would."""
    command = [sys.executable, "-m", "pytest", directory, "-q", "-rs", "-p", "no:cacheprovider"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["skill", "python", "wasm"])
def test_the_tests_of_a_new_plugin_pass(samuel, kind: str):
    samuel("plugin", "new", "acme/my-checks", "--kind", kind)
    ran = own_tests("my-checks")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.slow
def test_the_tests_of_an_image_pass(samuel, project, busybox_image: str):
    samuel("plugin", "new", f"acme/my-checks-{os.getpid()}", "--kind", "oci")
    directory = f"my-checks-{os.getpid()}"
    file = project / directory / "Containerfile"
    text = file.read_text()
    file.write_text(text.replace("busybox:stable-musl", busybox_image))  # nothing is downloaded
    assert file.read_text() != text
    try:
        ran = own_tests(directory)
    finally:
        subprocess.run(["podman", "rmi", "--force", load(project / directory).image], capture_output=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 passed" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["skill", "python", "wasm"])
def test_its_own_tests_fail_when_it_does_not_answer(samuel, project, kind: str):
    """So they do test it."""
    samuel("plugin", "new", "my-checks", "--kind", kind)
    manifest = project / "my-checks/samuel-plugin.toml"
    manifest.write_text(manifest.read_text().replace('"context.extra"', '"sync.after"'))
    assert own_tests("my-checks").returncode == 1


@pytest.mark.parametrize(
    ("kind", "name", "example"),
    [
        ("skill", "checklist", "checklist"),
        ("python", "python", "python-context"),
        ("wasm", "open-points", "wasm-c"),
        ("oci", "long-files", "oci-long-files"),
    ],
)
def test_the_examples_are_what_it_writes(kind: str, name: str, example: str):
    there = [
        TemplateFile(str(file.relative_to(EXAMPLES / example)), file.read_bytes(), file.stat().st_mode & 0o777)
        for file in sorted((EXAMPLES / example).rglob("*"))
        if file.is_file() and file.parent.name != "__pycache__"
    ]
    assert sorted(there) == plugin(name, kind)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../up", "made of letters"),
        ("a/b/c", "made of letters"),
        ("", "empty"),
        ("default", "built-in"),
        (".hidden", "made of letters"),
    ],
)
def test_plugin_new_refuses_bad_names(samuel, project, name: str, why: str):
    ran = samuel("plugin", "new", name, "--kind", "skill")
    assert ran.code == 2
    assert why in ran.err
    assert os.listdir(project) == []


def test_what_is_there_is_left_alone(samuel, project, put):
    own_file = put("mine/notes.txt", "mine")
    ran = samuel("plugin", "new", "mine", "--kind", "skill")
    assert (ran.code, ran.err) == (
        1,
        "error: `mine` exists already\nchoose another name, or remove it first\n",
    )
    assert [file.name for file in own_file.parent.iterdir()] == ["notes.txt"]


def test_plugin_new_does_not_write_through_a_link(samuel, project, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (project / "mine").symlink_to(tmp_path / "elsewhere")
    assert samuel("plugin", "new", "mine", "--kind", "skill").code == 1
    assert os.listdir(tmp_path / "elsewhere") == []


def test_an_empty_directory_will_do(samuel, project):
    (project / "mine").mkdir()
    assert samuel("plugin", "new", "mine", "--kind", "oci").code == 0
    assert (project / "mine/Containerfile").is_file()
