"""What a samuel-plugin.toml says, and what a bad one gets: whole texts, because the text is the product."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samuel.base.errors import ConfigError
from samuel.events.event import PROTOCOL
from samuel.hooks.capability import Capabilities
from samuel.hooks.handler import HandlerMode, Role
from samuel.plugins.manifest import load
from samuel.plugins.model import FILE, Binding, Manifest, Requirement
from samuel.version import __version__

HEAD = 'name = "p"\nversion = "1"\n'
SKILL, PYTHON, WASM, OCI = (f'{HEAD}kind = "{kind}"\n' for kind in ("skill", "python", "wasm", "oci"))


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A directory with something of every kind in it."""
    directory = tmp_path / "plugin"
    (directory / "scripts").mkdir(parents=True)
    (directory / "scripts/run").write_text("#!/bin/sh\n")
    (directory / "scripts/run").chmod(0o755)
    (directory / "scripts/notes").write_text("")
    (directory / "plugin.py").write_text("raise SystemExit('it was imported')\n")
    (directory / "other.py").write_text("")
    (directory / "plugin.wasm").write_bytes(b"\0asm")
    (directory / "Containerfile").write_text("FROM scratch\n")
    (tmp_path / "outside").write_text("#!/bin/sh\n")
    (tmp_path / "outside").chmod(0o755)
    (directory / "scripts/leaves").symlink_to("../../outside")
    (directory / "scripts/stays").symlink_to("run")
    return directory


@pytest.fixture
def manifest_of(plugin: Path) -> Callable[[str], Manifest]:
    def run(text: str) -> Manifest:
        (plugin / FILE).write_text(textwrap.dedent(text))
        return load(plugin)

    return run


@pytest.fixture
def refused(plugin: Path) -> Callable[[str | bytes], str]:
    """The whole error, with the file called `F`."""

    def run(text: str | bytes) -> str:
        (plugin / FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ConfigError) as caught:
            load(plugin)
        return str(caught.value).replace(str(plugin / FILE), "F")

    return run


ManifestOf = Callable[[str], Manifest]
Refused = Callable[[str | bytes], str]

WHOLE = """\
name = "acme/python-facts"
version = "1.2.0"
kind = "python"
summary = "What the agent should know about this Python project"
license = "MIT"
homepage = "https://example.com/facts"
authors = ["A. Author <a@example.com>", "B. Other"]

[samuel]
framework = ">=0.1,<2"
protocol = "1"

[requires]
"acme/base" = ">=1"
other = { source = "acme/other", version = "*" }

[python]
module = "other.py"
dependencies = ["requests>=2", "tomli; python_version < '3.11'"]

[config]
level = 3
limits = { files = [1, 2.5, "x", true], deep = { er = "yes" } }

[capabilities]
filesystem.read = ["."]
filesystem.write = ["build/", "docs/api.md"]
exec = true
network = true
env = ["HOME", "CI"]

[provides]
hooks = ["context_extra", "QualityCheck", "PreAbilityCall", "sync.after"]

[hooks]
"context.extra" = "facts"
"agent.invoke" = { handler = "plugin.py:run", order = 100, strict = true, timeout = "90s" }
"quality.check" = ["lint", { handler = "types", order = -5 }]
pre_ability_call = { handler = "guard", role = "guard", mode = "observe" }

[hook.sync_after]
handler = "mirror"
timeout = "1m"
"""


def test_a_whole_manifest(manifest_of: ManifestOf, plugin: Path) -> None:
    assert manifest_of(WHOLE) == Manifest(
        name="acme/python-facts",
        version="1.2.0",
        kind="python",
        summary="What the agent should know about this Python project",
        license="MIT",
        homepage="https://example.com/facts",
        authors=("A. Author <a@example.com>", "B. Other"),
        framework=">=0.1,<2",
        protocol="==1",
        requires=(
            Requirement(name="acme/base", version=">=1", line=14),
            Requirement(name="other", source="acme/other", line=15),
        ),
        bindings=(
            Binding(event="context.extra", entry="facts", line=36),
            Binding(event="agent.invoke", entry="plugin.py:run", order=100, strict=True, timeout=90.0, line=37),
            Binding(event="quality.check", entry="lint", line=38),
            Binding(event="quality.check", entry="types", order=-5, line=38),
            Binding(event="PreAbilityCall", entry="guard", role=Role.GUARD, mode=HandlerMode.OBSERVE, line=39),
            Binding(event="sync.after", entry="mirror", timeout=60.0, line=41),
        ),
        config={"level": 3, "limits": {"files": [1, 2.5, "x", True], "deep": {"er": "yes"}}},
        capabilities=Capabilities(
            read=(".",), write=("build/", "docs/api.md"), exec=True, network=True, env=("HOME", "CI")
        ),
        module="other.py",
        dependencies=("requests>=2", "tomli; python_version < '3.11'"),
        file=str(plugin / FILE),
    )


def test_without_a_manifest_a_plugin_is_what_lies_in_it(plugin: Path) -> None:
    assert load(plugin) == Manifest(name="", kind="skill", file="")


def test_a_skill_plugin_binds_scripts(manifest_of: ManifestOf) -> None:
    manifest = manifest_of(f'{SKILL}[hooks]\n"context.extra" = "scripts/run"\n"sync.after" = "scripts/stays"\n')
    assert [binding.entry for binding in manifest.bindings] == ["scripts/run", "scripts/stays"]


def test_a_module_binds_exports_and_lists_hosts(manifest_of: ManifestOf) -> None:
    manifest = manifest_of(
        f"""{WASM}
        [wasm]
        module = "plugin.wasm"
        [wasm.hook_handlers]
        "context.extra" = "on_context_extra"
        [capabilities]
        "network.outbound" = ["API.example.com", "127.0.0.1"]
        "filesystem.read" = ["src"]
        """.replace("\n        ", "\n")
    )
    assert manifest.bindings == (Binding(event="context.extra", entry="on_context_extra", line=8),)
    assert manifest.capabilities == Capabilities(read=("src",), network=("api.example.com", "127.0.0.1"))
    assert manifest.module == "plugin.wasm"


def test_an_image_binds_subcommands(manifest_of: ManifestOf) -> None:
    manifest = manifest_of(
        f'{OCI}[oci]\nimage = "team/checks:1"\ncontainerfile = "Containerfile"\nserve = true\n'
        '[oci.hook_handlers]\n"after:iteration" = "post"\n[capabilities]\nnetwork.outbound = true\n'
    )
    assert (manifest.image, manifest.containerfile, manifest.serve) == ("team/checks:1", "Containerfile", True)
    assert manifest.bindings == (Binding(event="after:iteration", entry="post", line=9),)
    assert manifest.capabilities.network is True


def test_a_meta_plugin_requires_others_and_does_nothing(manifest_of: ManifestOf) -> None:
    manifest = manifest_of(f'{HEAD}kind = "meta"\n[requires]\n"acme/base" = "~=1.2"\n')
    assert manifest.requires == (Requirement(name="acme/base", version="~=1.2", line=5),)


def test_the_defaults_of_a_module_are_enough(manifest_of: ManifestOf) -> None:
    assert manifest_of(f'{PYTHON}[hooks]\n"context.extra" = "facts"\n').module == "plugin.py"
    assert manifest_of(f'{WASM}[hooks]\n"context.extra" = "facts"\n').module == "plugin.wasm"


def test_a_file_in_hooks_can_be_what_is_provided(manifest_of: ManifestOf, refused: Refused, plugin: Path) -> None:
    text = f'{SKILL}[provides]\nhooks = ["context.extra"]\n'
    (plugin / "hooks").mkdir()
    (plugin / "hooks/helper").write_text("not executable: no hook")
    assert "no handler is bound" in refused(text)
    (plugin / "hooks/extra").write_text("#!/bin/sh\n")
    (plugin / "hooks/extra").chmod(0o755)
    assert manifest_of(text).bindings == ()


@pytest.mark.parametrize(
    ("framework", "protocol"),
    [(f"=={__version__}", str(PROTOCOL)), (">=0", f">={PROTOCOL}"), ("*", "*"), ("", ">0,<99")],
)
def test_ranges_that_hold(manifest_of: ManifestOf, framework: str, protocol: str) -> None:
    assert manifest_of(f'{SKILL}[samuel]\nframework = "{framework}"\nprotocol = "{protocol}"\n').name == "p"


def test_the_protocol_may_be_a_plain_number(manifest_of: ManifestOf) -> None:
    assert manifest_of(f"{SKILL}[samuel]\nprotocol = {PROTOCOL}\n").protocol == f"=={PROTOCOL}"


def test_all_problems_at_once_in_the_order_of_the_file(refused: Refused) -> None:
    text = """\
    nam = "p"
    version = "one"
    kind = "pyton"

    [samuel]
    framework = ">=99"
    protocol = "7"

    [requires]
    plain = ">=1"
    "a/b/c" = ""

    [capabilities]
    filesystem.write = [".git/hooks"]
    netwrk = true

    [provides]
    hooks = ["context.extras", "quality.check"]

    [hooks]
    contxt_extra = "f"
    "agent.invoke" = { handler = "g", ordr = 1, role = "judge", mode = "observe" }

    [config]
    enabled = true
    since = 2020-01-01
    """
    assert refused(textwrap.dedent(text)) == textwrap.dedent(f"""\
    F: it has no `name`
    F:1: unknown key `nam` (did you mean `name`?)
    F:2: `version` must be a version like `1.0.0`, not `one`
    F:3: `kind` must be one of `skill`, `python`, `wasm`, `oci`, `meta`, not `pyton`
    F:6: it needs Samuel >=99, and this is {__version__}
    F:7: it needs protocol ==7, and this Samuel speaks {PROTOCOL}
    F:10: it does not say where `plain` comes from \
(for example: plain = {{ source = "org/repo", version = ">=1" }})
    F:11: `a/b/c` cannot name a plugin: it must be made of letters, digits, `-`, `_` and `.`, \
with at most one `/` inside
    F:14: `write` must not list `.git/hooks`: it decides what runs here
    F:15: unknown key `netwrk` in `capabilities` (did you mean `network`?)
    F:18: `context.extras` is not an event (did you mean `context.extra`?)
    F:18: `quality.check` is provided, but no handler is bound to it (for example: [hooks] "quality.check" = "...")
    F:21: `contxt_extra` is not an event (did you mean `context.extra`?)
    F:22: `role` must be one of `rewrite`, `guard`, `observe`, not `judge`
    F:22: `mode` cannot be `observe`: only one handler answers `agent.invoke`, so its answer cannot be left unused
    F:22: a handler of `agent.invoke` starts programs, and the capability `exec` is not granted \
(ask for it: [capabilities] exec = true)
    F:22: unknown key `ordr` in `hooks."agent.invoke"` (did you mean `order`?)
    F:25: `enabled` cannot be a setting (in samuel.toml it switches the whole plugin off)
    F:26: `since` must be text, a number, a boolean or an array of these, not a date or time""")


NAME_RULE = "F:1: `name` must be made of letters, digits, `-`, `_` and `.`, with at most one `/` inside"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("", "F:1: `name` must not be empty"),
        ("..", NAME_RULE),
        ("../up", NAME_RULE),
        ("a/..", NAME_RULE),
        ("/etc", NAME_RULE),
        ("a/b/c", NAME_RULE),
        ("a//b", NAME_RULE),
        ("-rf", NAME_RULE),
        (".git", NAME_RULE),
        ("a b", NAME_RULE),
        ("a@b", NAME_RULE),
        ("a\\u001B[2J", "F:1: `name` must not contain control characters"),
        ("x" * 101, "F:1: `name` must have at most 100 characters"),
        ("default", "F:1: `name` must not be `default`: that is the name of the built-in handlers"),
        ("samuel-default", "F:1: `name` must not be `samuel-default`: that is the name of the built-in handlers"),
    ],
)
def test_names_that_are_refused(refused: Refused, name: str, error: str) -> None:
    assert refused(f'name = "{name}"\nversion = "1"\nkind = "skill"\n') == error


PATH_RULE = "must list paths inside the project, like `src/data`, not"
HANDLER_RULE = "F:5: `{}` must name a function: `function`, or `file.py:function`"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "F: it has no `name`\nF: it has no `version`\nF: it has no `kind`"),
        # Capabilities
        ('CAP filesystem.read = ["/etc"]', f"F:5: `read` {PATH_RULE} `/etc`"),
        ('CAP filesystem.read = ["src/../../up"]', f"F:5: `read` {PATH_RULE} `src/../../up`"),
        ('CAP filesystem.read = ["~/x"]', f"F:5: `read` {PATH_RULE} `~/x`"),
        ('CAP filesystem.read = ["./src"]', f"F:5: `read` {PATH_RULE} `./src`"),
        (
            'CAP filesystem.read = ["src/**"]',
            "F:5: `read` must not list patterns like `src/**`: a directory includes everything in it",
        ),
        (
            'CAP filesystem.read = ["a"]\n"filesystem.read" = ["b"]',
            "F:6: `filesystem.read` is given twice (keep one of the two)",
        ),
        *(
            (
                f'CAP "filesystem.write" = ["{path}"]',
                f"F:5: `filesystem.write` must not list `{path}`: it decides what runs here",
            )
            for path in (
                *(".git", ".GIT/config", "vendor/x/.git/hooks", ".samuel", ".samuel/hooks/", ".kodelet/x"),
                *(".system/hooks", ".system/hooks/a.yaml", "samuel.toml", "Samuel.TOML", "samuel.lock"),
            )
        ),
        ("CAP exec = 1", "F:5: `exec` must be true or false, not an integer"),
        (
            'CAP network = ["a.example.com"]',
            "F:5: `network` must be true or false: only a module can be held to a list of hosts",
        ),
        ("CAP network = true\nnetwork.outbound = true", None),  # TOML's own error
        ('CAP network = true\n"network.outbound" = true', "F:6: `network` is given twice (keep one of the two)"),
        (
            'CAP env = ["A=B"]',
            "F:5: `env` must list names of environment variables; `A=B` is not one",
        ),
        (
            "WASM [capabilities]\nnetwork = true",
            'F:5: `network` must list the hosts a module may reach, like ["api.example.com"]',
        ),
        (
            'WASM [capabilities]\nnetwork = ["http://a.example.com/"]',
            "F:5: `network` must list host names like `api.example.com`, not `http://a.example.com/`",
        ),
        (
            'WASM [capabilities]\nnetwork = ["*"]',
            "F:5: `network` must list host names like `api.example.com`, not `*`",
        ),
        # The forms of a binding
        (
            "HOOKS context.extra = 'scripts/run'",
            'F:5: `context.extra` needs quotes (write `hooks."context.extra"`)',
        ),
        (
            "HOOKS context_extra = 1",
            "F:5: `context_extra` must be a handler, a table with `handler` or an array, not an integer",
        ),
        (
            "HOOKS context_extra = [1]",
            "F:5: item 1 of `context_extra` must be a string or a table, not an integer",
        ),
        ("HOOKS context_extra = {}", "F:5: the binding of `context.extra` has no `handler`"),
        ("HOOKS context_extra = ''", "F:5: `handler` must not be empty"),
        ("HOOKS 'extension.x' = 'f'", None),
        (
            "HOOKS context_extra = 'scripts/run'\n'context.extra' = ['scripts/run']",
            "F:6: `scripts/run` is bound to `context.extra` twice, first on line 5 (keep one of the two)",
        ),
        (
            "HOOKS context_extra = { handler = 'scripts/run', timeout = 60 }",
            'F:5: `timeout` needs a unit, like "60s"',
        ),
        (
            "SKILL [hook.context_extra]\nhandler = 'scripts/run'",
            'F:5: `[provides] hooks` does not name `context.extra` (add "context.extra" to it)',
        ),
        (
            "SKILL [provides]\nhooks = ['context.extra', 'context_extra']\n[hooks]\ncontext_extra = 'scripts/run'",
            "F:5: `context_extra` is the same event as `context.extra` (keep one of the two)",
        ),
        ("SKILL [provides]\nhook = []", "F:5: unknown key `hook` in `provides` (did you mean `hooks`?)"),
        # What a binding names
        ("HOOKS sync_after = 'scripts/none'", "F:5: `scripts/none` does not exist in the plugin"),
        (
            "HOOKS sync_after = 'scripts/notes'",
            "F:5: `scripts/notes` is not executable; run `chmod +x` on it",
        ),
        ("HOOKS sync_after = 'scripts'", "F:5: `scripts` is not a regular file"),
        ("HOOKS sync_after = 'scripts/leaves'", "F:5: `scripts/leaves` is a link that leaves the plugin"),
        (
            "HOOKS sync_after = '../outside'",
            "F:5: `../outside` must be a path inside the plugin, like `scripts/check`",
        ),
        ("HOOKS sync_after = '/bin/sh'", "F:5: `/bin/sh` must be a path inside the plugin, like `scripts/check`"),
        ("PYTHON [hooks]\nsync_after = 'a-b'", HANDLER_RULE.format("a-b")),
        ("PYTHON [hooks]\nsync_after = 'class'", HANDLER_RULE.format("class")),
        ("PYTHON [hooks]\nsync_after = 'os.system'", HANDLER_RULE.format("os.system")),
        ("PYTHON [hooks]\nsync_after = 'none.py:f'", "F:5: `none.py` does not exist in the plugin"),
        (
            "PYTHON [hooks]\nsync_after = '../x.py:f'",
            "F:5: `../x.py` must be a path inside the plugin, like `scripts/check`",
        ),
        ("PYTHON [hooks]\nsync_after = 'scripts/run:f'", "F:5: `scripts/run` must be a `.py` file"),
        ("PYTHON [python]\nmodule = 'none.py'", "F:5: `none.py` does not exist in the plugin"),
        (
            "PYTHON [python]\ndependencies = ['-r x']",
            "F:5: `dependencies` must list requirements like `requests>=2`, not `-r x`",
        ),
        (
            "PYTHON [python]\ndependencies = ['./local']",
            "F:5: `dependencies` must list requirements like `requests>=2`, not `./local`",
        ),
        (
            "PYTHON [python]\ndependencies = ['a @ file:///x']",
            "F:5: `dependencies` must list packages of a package index, not a URL like `a @ file:///x`",
        ),
        (
            "WASM [wasm]\nmodule = '../plugin.wasm'",
            "F:5: `../plugin.wasm` must be a path inside the plugin, like `scripts/check`",
        ),
        ("WASM [hooks]\nsync_after = 'a b'", "F:5: `a b` cannot name an export: it has spaces"),
        ("OCI [oci]\nserve = true", "F:4: `[oci]` has no `image`"),
        ("OCI ", "F: `[oci]` has no `image`"),
        ("OCI [oci]\nimage = '--privileged'", "F:5: `image` must name an image, like `team/name:1`"),
        (
            "OCI [oci]\nimage = 'a'\ncontainerfile = 'none'",
            "F:6: `none` does not exist in the plugin",
        ),
        (
            "OCI [oci]\nimage = 'a'\n[oci.hook_handlers]\nsync_after = '--help'",
            "F:7: `--help` cannot be a subcommand: use letters, digits, `-`, `_` and `.`",
        ),
        # Kinds
        (
            "SKILL [wasm.hook_handlers]\nsync_after = 'f'",
            "F:4: `[wasm]` is for plugins of kind `wasm`, and this one is `skill`",
        ),
        (
            "OCI oci = { image = 'a' }\n[python]",
            "F:5: `[python]` is for plugins of kind `python`, and this one is `oci`",
        ),
        (
            f'{HEAD}kind = "meta"',
            "F: a plugin of kind `meta` requires others, and this one requires none",
        ),
        (
            f'{HEAD}kind = "meta"\n[requires]\n"a/b" = ""\n[hooks]\nsync_after = "f"',
            "F:3: a plugin of kind `meta` has no handlers, and this one has `f`",
        ),
        # Requirements
        ("SKILL [requires]\np = { source = 'a/p' }", "F:5: it requires itself"),
        ("SKILL [requires]\n'a/b' = 1", "F:5: `a/b` must be a string, not an integer"),
        ("SKILL [requires]\n'a/b' = '1'", "F:5: `a/b` must be a range of versions like `>=1,<2`, not `1`"),
        ("SKILL [requires]\n'a/b' = { source = '--upload-pack=x' }", None),
        (
            "SKILL [requires]\n'a/b' = { src = 'a/b' }",
            'F:5: unknown key `src` in `requires."a/b"` (did you mean `source`?)',
        ),
        # The file itself
        (
            "name = 'p'\nname = 'q'",
            "F:2: not valid TOML: `name` has a value twice; the first is in line 1 (keep one of them)",
        ),
        ("name = \\xff", None),
    ],
)
def test_manifests_that_are_refused(refused: Refused, text: str, error: str | None) -> None:
    for word, head in {
        "CAP ": f"{SKILL}[capabilities]\n",
        "HOOKS ": f"{SKILL}[hooks]\n",
        "SKILL ": SKILL,
        "PYTHON ": PYTHON,
        "WASM ": WASM,
        "OCI ": OCI,
    }.items():
        if text.startswith(word):
            text = head + text.removeprefix(word)
    got = refused(text)
    assert got == error if error is not None else got.startswith("F:") and "\n" not in got


def test_a_missing_default_module_is_told_once(refused: Refused, plugin: Path) -> None:
    (plugin / "plugin.py").unlink()
    assert refused(f"{PYTHON}[hooks]\nsync_after = 'f'\nsync_before = 'g'") == (
        "F:5: `plugin.py` does not exist in the plugin (`[python] module` can name another file)"
    )


def test_a_gigabyte_is_refused_unread(refused: Refused, plugin: Path) -> None:
    with open(plugin / FILE, "wb") as file:
        file.write(b'name = "')
        file.truncate(1 << 30)
    with pytest.raises(ConfigError, match="larger than 1048576 bytes"):
        load(plugin)


@pytest.mark.parametrize(
    "text",
    [
        "[hooks]\n'context.extra' = [" + ", ".join(f"'f{n}'" for n in range(10_000)) + "]",
        "[hooks]\n" + "\n".join(f"e{n} = 'f'" for n in range(10_000)),
        "".join(f"[hook.e{n}]\nhandler = 'f'\n" for n in range(10_000)),
    ],
    ids=["in one array", "each an event", "each a table"],
)
def test_ten_thousand_hooks_are_one_problem(refused: Refused, text: str) -> None:
    assert refused(PYTHON + text).removeprefix("F:4: ").removeprefix("F: ") == (
        "it binds 10000 handlers; at most 1000 are allowed"
    )


@pytest.mark.slow
def test_ten_thousand_of_anything_else_is_one_problem(refused: Refused) -> None:
    listed = ", ".join(f"'e{n}'" for n in range(10_000))
    problem = "F:5: it provides 10000 hooks; at most 1000 are allowed"
    assert refused(f"{PYTHON}[provides]\nhooks = [{listed}]") == problem
    required = "".join(f"'a/e{n}' = ''\n" for n in range(10_000))
    assert refused(f"{PYTHON}[requires]\n{required}") == "F:5: it requires 10000 plugins; at most 100 are allowed"
    assert refused(PYTHON + "".join(f"e{n} = 1\n" for n in range(10_000))).endswith(
        "F:104: 9900 more unknown keys"
    )


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("../elsewhere.toml", path)])
def test_a_manifest_that_is_no_plain_file(plugin: Path, make: Callable[[Path], None]) -> None:
    (plugin.parent / "elsewhere.toml").write_text(SKILL)
    make(plugin / FILE)
    with pytest.raises(ConfigError, match=r"is a directory|is not a regular file|is a symbolic link"):
        load(plugin)


@given(
    at=st.integers(0, len(WHOLE)),
    removed=st.integers(0, 40),
    text=st.text(max_size=8)
    | st.sampled_from(["[", "[hooks]\n", "= 1\n", '"\n', "[[hook.sync_after]]\n", "nan", "'..'"]),
)
def test_a_damaged_manifest_is_read_or_refused(at: int, removed: int, text: str) -> None:
    damaged = WHOLE[:at] + text + WHOLE[at + removed :]
    with tempfile.TemporaryDirectory() as directory, suppress(ConfigError):
        Path(directory, FILE).write_bytes(damaged.encode())
        load(Path(directory))
