"""What plugins promise, shown with real git repositories, WebAssembly modules and containers."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from samuel.app import App
from samuel.base.errors import ConfigError
from samuel.cli.edge import run
from samuel.hooks.handler import HandlerStatus, Origin, Outcome
from samuel.plugins.manifest import load

Ran = tuple[int, str, str]

HEAD = 'name = "{0}"\nversion = "1.0.0"\nkind = "{1}"\n'
# Adds up the bytes of its payload: a value that only a module that saw the payload can know.
SUM = """
(module
  (memory (export "memory") 4)
  (data (i32.const 16) "{\\22extras\\22:[{\\22name\\22:\\22sum\\22,\\22content\\22:\\220000000000\\22}]}")
  (func (export "samuel_protocol_version") (result i32) (i32.const 1))
  (func (export "samuel_alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "on_context_extra") (param $at i32) (param $length i32) (result i64)
    (local $sum i32) (local $place i32)
    (block $done (loop $next
      (br_if $done (i32.eqz (local.get $length)))
      (local.set $sum (i32.add (local.get $sum) (i32.load8_u (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (local.set $length (i32.sub (local.get $length) (i32.const 1)))
      (br $next)))
    (local.set $place (i32.const 61))
    (block $written (loop $digit
      (br_if $written (i32.eqz (local.get $sum)))
      (i32.store8 (local.get $place) (i32.add (i32.const 48) (i32.rem_u (local.get $sum) (i32.const 10))))
      (local.set $sum (i32.div_u (local.get $sum) (i32.const 10)))
      (local.set $place (i32.sub (local.get $place) (i32.const 1)))
      (br $digit)))
    (i64.const 0x1000000032)))
"""


@pytest.fixture
def samuel(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    monkeypatch.chdir(root)

    def call(*arguments: str) -> Ran:
        code = run(arguments)
        output = capsys.readouterr()
        return code, output.out, output.err

    return call


def echo(event: str, result: str) -> str:
    return f"#!/bin/sh\ncase $1 in hook) echo {event};; run) cat > /dev/null; echo '{result}';; esac\n"


# Manifests, runtimes and capabilities


def test_provides_hooks_is_parsed_and_validated(tmp_path: Path) -> None:
    directory = tmp_path / "plugin"
    directory.mkdir()
    (directory / "check").write_text("#!/bin/sh\n")
    (directory / "check").chmod(0o755)
    text = HEAD.format("x", "skill") + '[provides]\nhooks = ["quality.check", "after:iteration"]\n'
    text += '[hook.quality_check]\nhandler = "check"\n'
    (directory / "samuel-plugin.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        load(directory)
    assert [(problem.line, "after:iteration" in problem.what) for problem in refused.value.problems] == [(5, True)]
    (directory / "samuel-plugin.toml").write_text(text + '[hook.after_iteration]\nhandler = "check"\norder = 7\n')
    assert [(entry.event, entry.entry, entry.order) for entry in load(directory).bindings] == [
        ("quality.check", "check", None),
        ("after:iteration", "check", 7),
    ]


def test_wasm_exports_bind_to_hook_names(
    samuel: Callable[..., Ran], root: Path, origin: Callable[..., Any]
) -> None:
    wasmtime = pytest.importorskip("wasmtime")
    repository = origin("org/sum")
    (repository.work / "plugin.wasm").write_bytes(wasmtime.wat2wasm(SUM))
    manifest = HEAD.format("sum", "wasm") + '[wasm]\nmodule = "plugin.wasm"\n'
    repository.push(
        {"samuel-plugin.toml": manifest + '[wasm.hook_handlers]\n"context.extra" = "on_context_extra"\n'}
    )
    assert samuel("plugin", "add", "org/sum", "--yes")[0] == 0
    texts = ["".join(random.choices("abcdefgh", k=length)) for length in (4000, 200)]
    with App(root) as app:
        sums = [int(app.fire("context.extra", task={"id": text}).result["extras"][0]["content"]) for text in texts]
    # All but the text, the ids and the times is the same in both: the difference tells what was seen.
    assert abs((sums[0] - sums[1]) - (sum(texts[0].encode()) - sum(texts[1].encode()))) < 2000
    assert all(total > sum(text.encode()) for total, text in zip(sums, texts, strict=True))


@pytest.mark.slow
def test_oci_subcommands_bind_to_hook_names(
    samuel: Callable[..., Ran], root: Path, origin: Callable[..., Any], busybox_image: str
) -> None:
    entry = """#!/bin/sh
case $1 in
check) echo "{\\"ok\\": true, \\"data\\": {\\"sum\\": \\"$(md5sum | cut -c1-32)\\"}}" ;;
post) cat > /dev/null; echo '{"ok": false, "reason": "from post"}' ;;
esac
"""
    manifest = HEAD.format("box", "oci") + '[oci]\nimage = "localhost/samuel-acceptance:1"\n'
    manifest += 'containerfile = "Containerfile"\n[oci.hook_handlers]\n'
    manifest += '"quality.check" = "check"\n"after:iteration" = "post"\n'
    containerfile = f'FROM {busybox_image}\nCOPY entry /entry\nENTRYPOINT ["sh", "/entry"]\n'
    origin("org/box", {"samuel-plugin.toml": manifest, "Containerfile": containerfile, "entry": entry})
    code, _, err = samuel("plugin", "add", "org/box", "--yes")
    assert code == 0, err
    try:
        with App(root) as app:
            first = app.fire("quality.check", commands=[f"true {random.random()}"])
            second = app.fire("quality.check", commands=[f"true {random.random()}"])
            post = app.fire("after:iteration", task={}, outcome="completed")
        sums = [fired.context["Plugins"]["box"]["sum"] for fired in (first, second)]
        assert len(set(sums)) == 2  # it saw what it was given
        (call,) = [call for call in post.calls if call.handler.owner == "box"]
        assert (call.outcome, call.message) == (Outcome.FAILED, "from post")
    finally:
        subprocess.run(["podman", "rmi", "--force", "localhost/samuel-acceptance:1"], capture_output=True)


@pytest.mark.parametrize("kind", ["skill", "python"])
def test_agent_invoke_without_exec_is_refused_at_install(
    samuel: Callable[..., Ran], root: Path, origin: Callable[..., Any], kind: str
) -> None:
    entry = {"skill": "run.sh", "python": "invoke"}[kind]
    files = {"run.sh": "#!/bin/sh\n", "plugin.py": "def invoke(event):\n    return {}\n"}
    manifest = HEAD.format("agent", kind) + f'[hooks]\n"agent.invoke" = "{entry}"\n'
    origin("org/agent", {"samuel-plugin.toml": manifest, **files})
    code, _, err = samuel("plugin", "add", "org/agent", "--yes")
    assert code == 2
    assert "samuel-plugin.toml:5" in err
    assert "exec" in err
    assert not (root / ".samuel/plugins/org@agent").exists()


@pytest.mark.slow
def test_agent_invoke_without_exec_is_refused_at_every_call(
    samuel: Callable[..., Ran], root: Path, origin: Callable[..., Any]
) -> None:
    """A plugin in hooks/ says what it is for only when it is asked: then the call is what refuses it."""
    marker = root / "marker"
    hook = f"#!/bin/sh\ncase $1 in hook) echo agent.invoke;; run) touch {marker};; esac\n"
    origin("org/agent", {"hooks/invoke": hook})
    assert samuel("plugin", "add", "org/agent", "--yes")[0] == 0
    with App(root) as app:
        fired = app.fire("agent.invoke", agent="claude", prompt="x")
    assert [call.outcome for call in fired.calls] == [Outcome.REFUSED]
    assert "`exec` is not granted" in fired.calls[0].message
    assert not marker.exists()
    assert samuel("plugin", "add", "org/agent", "--yes", "--force", "--grant", "exec")[0] == 0
    with App(root) as app:
        fired = app.fire("agent.invoke", agent="claude", prompt="x")
    assert Outcome.REFUSED not in [call.outcome for call in fired.calls]


# Skills, recipes and hooks of a plugin


def test_a_plugin_reports_its_skills_recipes_and_hooks(
    samuel: Callable[..., Ran], origin: Callable[..., Any]
) -> None:
    files = {
        "hooks/validate-output": echo("before_tool_call", '{"blocked": false}'),
        "hooks/log-calls": echo("turn_end", '{"success": true}'),
        "hooks/notes.txt": "a helper",
        "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files\n---\n",
        "recipes/review.md": "Review it.\n",
    }
    origin("jingkaihe/skills", files)
    code, out, _ = samuel("plugin", "add", "jingkaihe/skills", "--yes")
    assert code == 0
    assert out.endswith("Installed jingkaihe/skills:\n  Skills:  1\n  Recipes: 1\n  Hooks:   2\n")
    (entry,) = json.loads(samuel("plugin", "list", "--json")[1])
    assert {key: entry[key] for key in ("name", "location", "skills", "recipes", "hooks")} == {
        "name": "jingkaihe/skills",
        "location": "local",
        "skills": ["pdf"],
        "recipes": ["review"],
        "hooks": ["log-calls", "validate-output"],
    }
    assert entry["path"].endswith("/.samuel/plugins/jingkaihe@skills")


def test_hooks_are_prefixed_looked_up_by_name_and_shadowed_by_precedence(
    samuel: Callable[..., Ran], root: Path, home: Path, origin: Callable[..., Any]
) -> None:
    origin("org/repo", {"hooks/same": echo("turn_end", "{}")})
    assert samuel("plugin", "add", "org/repo", "--yes")[0] == 0
    assert samuel("plugin", "add", "org/repo", "--yes", "--global")[0] == 0
    for place in (root, home):
        (place / ".kodelet/hooks").mkdir(parents=True)
        (place / ".kodelet/hooks/same").write_text(echo("turn_end", "{}"))
        (place / ".kodelet/hooks/same").chmod(0o755)
    assert samuel("trust", "--yes")[0] == 0
    with App(root) as app:
        status_by_name = {
            (entry.name, entry.origin): entry.status for entry in app.handlers if entry.name.endswith("same")
        }
        assert [step.handler.name for step in app.chains["TurnEnd"].steps] == ["org/repo/same", "same"]
    assert status_by_name == {
        ("same", Origin.PROJECT): HandlerStatus.ACTIVE,
        ("org/repo/same", Origin.PROJECT_PLUGIN): HandlerStatus.ACTIVE,
        ("same", Origin.USER): HandlerStatus.SHADOWED,
        ("org/repo/same", Origin.USER_PLUGIN): HandlerStatus.SHADOWED,
    }


@pytest.mark.slow
def test_hooks_see_the_recipe_that_runs_and_nothing_otherwise(
    samuel: Callable[..., Ran], root: Path, origin: Callable[..., Any]
) -> None:
    hook = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "hook":
    print("turn_end")
else:
    payload = json.load(sys.stdin)
    names = [payload.get("recipe_name", "none"), payload.get("recipe_full_name", "")]
    print(json.dumps({"messages_to_user": names}))
"""
    origin("org/aware", {"hooks/aware": hook, "recipes/code-review.md": "Review.\n"})
    assert samuel("plugin", "add", "org/aware", "--yes")[0] == 0
    (root / "samuel.toml").write_text(
        '[methodology.ralph]\nagent = "mine"\n[agents.mine]\ncommand = ["cat"]\nprompt = "stdin"\n'
    )
    assert samuel("trust", "--yes")[0] == 0
    code, _, err = samuel("recipe", "run", "org/aware/code-review")
    assert code == 0, err
    assert samuel("hooks", "fire", "TurnEnd")[0] == 0
    log = samuel("hooks", "log", "--event", "TurnEnd", "--json")[1]
    assert '"code-review"' in log  # its own recipe, by the name it gave it
    assert '"org/aware/code-review"' in log
    assert '"none"' in log


def test_the_list_is_a_table(samuel: Callable[..., Ran], origin: Callable[..., Any]) -> None:
    origin("anthropic/recipes", {"recipes/a.md": "A\n", "recipes/b.md": "B\n", "recipes/c/d.md": "D\n"})
    origin("org/hooks", {"hooks/one": echo("turn_end", "{}")})
    assert samuel("plugin", "add", "anthropic/recipes", "--yes", "--global")[0] == 0
    assert samuel("plugin", "add", "org/hooks", "--yes")[0] == 0
    assert [line.split() for line in samuel("plugin", "list")[1].splitlines()] == [
        ["NAME", "LOCATION", "SKILLS", "RECIPES", "HOOKS"],
        ["----", "--------", "------", "-------", "-----"],
        ["anthropic/recipes", "global", "0", "3", "0"],
        ["org/hooks", "local", "0", "0", "1"],
    ]
