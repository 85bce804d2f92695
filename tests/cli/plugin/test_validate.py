"""`samuel plugin validate`: everything that is wrong, at once, with nothing run."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest

GOOD = """\
name = "acme/facts"
version = "1.0"
kind = "python"

[capabilities]
filesystem.read = ["."]

[hooks]
"context.extra" = "facts"
"""


@pytest.fixture
def good(put) -> None:
    """A plugin in `facts/` that would leave a mark if anybody ran it."""
    put("facts/samuel-plugin.toml", GOOD)
    put("facts/plugin.py", "open('ran', 'w')\n\ndef facts(event): pass\n")
    put("facts/hooks/note", "#!/bin/sh\ntouch ran\necho sync.after\n", 0o755)
    put("facts/skills/review/SKILL.md", "---\nname: review\ndescription: How to review\n---\nText\n")
    put("facts/recipes/pr.md", "---\ndescription: Make a pull request\n---\nText\n")


@pytest.mark.usefixtures("good")
def test_plugin_validate_describes_a_valid_plugin(samuel, project: Path) -> None:
    done = samuel("plugin", "validate", "facts")
    assert done == (
        0,
        textwrap.dedent("""\
        acme/facts 1.0 (python) is valid
          skills: review
          recipes: pr
          hooks: facts, note
          may use filesystem.read: the whole project
        """),
        "",
    )
    assert not (project / "ran").exists()


@pytest.mark.usefixtures("good")
def test_plugin_validate_prints_a_valid_plugin_as_json(samuel) -> None:
    assert samuel("plugin", "validate", "facts", "--json").json == {
        "ok": True,
        "data": {
            "name": "acme/facts",
            "version": "1.0",
            "kind": "python",
            "capabilities": {"filesystem.read": ["."]},
            "skills": ["review"],
            "recipes": ["pr"],
            "hooks": ["facts", "note"],
            "problems": [],
        },
        "warnings": [],
        "error": None,
    }


@pytest.mark.usefixtures("good")
def test_plugin_validate_reports_everything_wrong_at_once(samuel, put, project: Path) -> None:
    put("facts/samuel-plugin.toml", GOOD.replace('"1.0"', '"x"') + 'qality_check = "check"\n')
    put("facts/hooks/forgotten", "#!/bin/sh\n")
    put("facts/hooks/helper", "no script\n")
    put("facts/skills/empty/SKILL.md", "# Text\n")
    put("facts/skills/half/SKILL.md", "---\nname: half\n---\n")
    put("facts/recipes/bad.md", "---\narguments: 7\n---\n")
    put("facts/recipes/half.md", "---\ndescription: x\n---\n\nSay {{ name\n")
    os.symlink("/etc/passwd", project / "facts/users")
    done = samuel("plugin", "validate", "facts")
    assert done.code == 1
    assert done.out == textwrap.dedent("""\
        facts/samuel-plugin.toml:2: `version` must be a version like `1.0.0`, not `x`
        facts/samuel-plugin.toml:10: `qality_check` is not an event (did you mean `quality.check`?)
        facts/users: it is a link that leaves the plugin, to `/etc/passwd`
        facts/skills/empty/SKILL.md:1: it has no front matter and no text (begin the file with `---`, \
`name: ...`, `description: ...`, `---`)
        facts/skills/half/SKILL.md:1: `description` is missing (add `description: ...` to its front matter)
        facts/recipes/bad.md:2: `arguments` must be a mapping or a list
        facts/recipes/half.md:5: unexpected end of template, expected 'end of print statement'.
        facts/hooks/forgotten:1: it begins with `#!`, but is not executable (`chmod +x facts/hooks/forgotten`)

        8 problems
        """)
    assert not (project / "ran").exists()


@pytest.mark.usefixtures("good")
def test_plugin_validate_prints_problems_as_json(samuel, put) -> None:
    put("facts/samuel-plugin.toml", GOOD.replace("kind", "kid"))
    done = samuel("plugin", "validate", "facts", "--json")
    assert done.code == 1
    assert done.json["ok"] is False
    assert done.json["data"]["problems"] == [
        {"what": "it has no `kind`", "file": "facts/samuel-plugin.toml", "line": 0, "hint": ""},
        {
            "what": "unknown key `kid`",
            "file": "facts/samuel-plugin.toml",
            "line": 3,
            "hint": "did you mean `kind`?",
        },
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def fact(event): pass", "facts/samuel-plugin.toml:9: `plugin.py` has no `facts` (did you mean `fact`?)"),
        ("class Other:\n    def facts(self): pass", "facts/samuel-plugin.toml:9: `plugin.py` has no `facts`"),
        ("def facts(event)\n    pass", "facts/plugin.py:1: not valid Python: expected ':'"),
        ("x = '\\d'\nfrom other import *", ""),
        ("if True:\n    from other import thing as facts", ""),
        ("facts = lambda event: None", ""),
    ],
)
@pytest.mark.usefixtures("good")
def test_functions_are_looked_for_in_their_files(samuel, put, text: str, message: str) -> None:
    put("facts/plugin.py", text)
    done = samuel("plugin", "validate", "facts")
    assert (
        (done.code, done.out.startswith(f"{message}\n\n1 problem\n")) == (1, True) if message else done.code == 0
    )


def test_exports_are_looked_for_in_the_module(samuel, project):
    samuel("plugin", "new", "points", "--kind", "wasm")
    manifest, module = project / "points/samuel-plugin.toml", project / "points/plugin.wasm"
    right, whole = manifest.read_text(), module.read_bytes()
    line = right.splitlines().index('"context.extra" = "on_context_extra"') + 1

    manifest.write_text(right.replace("on_context_extra", "on_contxt_extra"))
    message = "`plugin.wasm` has no `on_contxt_extra` (did you mean `on_context_extra`?)"
    ran = samuel("plugin", "validate", "points")
    assert ran.out == f"points/samuel-plugin.toml:{line}: {message}\n\n1 problem\n"

    manifest.write_text(right)
    for damaged in (b"", b"#!/bin/sh", whole[:40], whole[:8] + b"\xff" * 20):
        module.write_bytes(damaged)
        ran = samuel("plugin", "validate", "points")
        assert ran.code == 1
        assert ran.out.startswith("points/plugin.wasm: it cannot be read: it is")
    module.write_bytes(whole)
    assert samuel("plugin", "validate", "points").code == 0


def test_plugin_validate_refuses_a_directory_without_a_plugin(samuel, put) -> None:
    put("plain/notes.txt", "")
    done = samuel("plugin", "validate", "plain")
    assert done.code == 1
    assert done.out == (
        "plain: it is not a plugin: it has no samuel-plugin.toml with hooks, "
        "and nothing in skills/, recipes/ or hooks/\n"
        "\n1 problem\n"
    )


def test_a_directory_that_is_not_there(samuel) -> None:
    assert samuel("plugin", "validate", "none").code == 2


def test_hooks_of_a_plugin_without_a_manifest_were_not_asked_which_events_they_are_for(samuel, put):
    put("silent/hooks/says-nothing", "#!/bin/sh\ntouch ran\n", 0o755)
    ran = samuel("plugin", "validate", "silent")
    assert ran.code == 0
    assert (
        "hooks were not asked which events they are for: that would run them; `samuel plugin add` asks" in ran.out
    )
