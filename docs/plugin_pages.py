"""The generated pages about plugins: the manifest, the wasm ABI, the oci protocol.

The keys of a manifest come from its reader, whose error about an unknown key lists the valid ones. The two
protocols are the docstrings of their runtimes.
"""

from __future__ import annotations

import tempfile
from inspect import getdoc
from pathlib import Path

from page import MUST, NOTE, UNKNOWN, keys_by_table, keys_table, table

from samuel.config import format_duration
from samuel.config.model import RESERVED_NAMES
from samuel.confine.containers.engine import PIDS, SAFER
from samuel.events.event import PROTOCOL
from samuel.plugins import bindings, contents, manifest
from samuel.plugins.model import FILE, KINDS
from samuel.runtimes import oci, wasm
from samuel.runtimes.wasm.codes import LARGEST, NoAnswer

# A manifest of each kind with an unknown key in every table.
WITH_UNKNOWN_KEYS = {
    "skill": f"""
{UNKNOWN} = 1
samuel.{UNKNOWN} = 1
requires = {{ "org/repo" = {{ {UNKNOWN} = 1 }} }}
provides.{UNKNOWN} = 1
hooks = {{ "context.extra" = {{ {UNKNOWN} = 1 }} }}
capabilities = {{ {UNKNOWN} = 1, "network.outbound" = false }}
""",
    "python": f"python.{UNKNOWN} = 1",
    "wasm": f"wasm.{UNKNOWN} = 1",
    "oci": f"oci.{UNKNOWN} = 1",
}

# By table and key: its type, its default, what it is for.
KEYS: dict[str, dict[str, tuple[str, str, str]]] = {
    "": {
        "name": (
            "string",
            MUST,
            "`name` or `org/name`: letters, digits, `-`, `_` and `.`, at most "
            f"{manifest.LONGEST_NAME} of them. Its handlers, its settings and its data are named by it. "
            f"{' and '.join(f'`{name}`' for name in RESERVED_NAMES)} are reserved.",
        ),
        "version": ("version", MUST, "Like `1.2.0`."),
        "kind": ("string", MUST, " or ".join(f'`"{kind}"`' for kind in KINDS) + "."),
        "summary": ("string", "-", "One line, shown before you agree to the plugin."),
        "license": ("string", "-", "Shown as well."),
        "homepage": ("string", "-", "Where to read more."),
        "authors": ("array of strings", "-", "Who wrote it."),
        "samuel": ("table", "-", "[Which Samuel it needs](#samuel)."),
        "requires": ("table", "-", "[Other plugins that it needs](#requires)."),
        "hooks": ("table", "-", "[Which handler is for which event](#hooks)."),
        "provides": ("table", "-", "[The same, with the names first](#provides)."),
        "hook": ("table", "-", "[The same, with the names first](#provides)."),
        "config": (
            "table",
            "-",
            "Defaults of its settings, any keys except `enabled`. `[plugins.<name>]` in samuel.toml overrides "
            "them, and handlers get the merged table as [`plugin.config`](../how-to/plugin-settings.md).",
        ),
        "capabilities": ("table", "-", "[What it asks for](#capabilities)."),
        "python": ("table", "-", "[For the kind `python`](#python)."),
        "wasm": ("table", "-", "[For the kind `wasm`](#wasm)."),
        "oci": ("table", "-", "[For the kind `oci`](#oci)."),
    },
    "samuel": {
        "framework": (
            "range",
            "any",
            "The versions of Samuel, like `>=0.1,<1`. Other versions refuse the plugin.",
        ),
        "protocol": (
            "range or integer",
            "any",
            f"The numbers of the hook contract; this Samuel speaks {PROTOCOL}.",
        ),
    },
    "requires": {
        "source": (
            "string",
            "the key, if it is `org/repo`",
            "What `plugin add` takes. A path is allowed only in a plugin that was added from a path.",
        ),
        "version": ("range", "any", "The versions that fit."),
    },
    "hooks": {
        "handler": ("string", MUST, "See the table above."),
        "role": ("string", "-", "`rewrite`, `guard` or `observe`, as with [a hook](../how-to/guard-a-call.md)."),
        "mode": (
            "string",
            "`enforce`",
            "`observe`: what it decides is only recorded, see [Try a guard](../how-to/observe-a-guard.md).",
        ),
        "order": ("integer", "200", "Its [place in the chain](../how-to/order-handlers.md)."),
        "strict": ("boolean", "the event's", "Whether a fault of it stops what fired the event."),
        "timeout": ("duration", "the event's", f'Like `"{format_duration(30)}"`.'),
        "serial": (
            "boolean",
            "`false`",
            "`true`: it never runs in two [lanes](../how-to/lanes.md#hooks-in-several-lanes) at once.",
        ),
        "background": (
            "boolean",
            "`false`",
            "`true`: [nobody waits for it](../how-to/background.md). Only for observers of what is over.",
        ),
    },
    "provides": {
        "hooks": ("array of events", "-", "Each must be bound, by one of the forms or by a file in `hooks/`."),
    },
    "capabilities": {
        "filesystem": (
            "table",
            "-",
            "`read` and `write`, if you write `filesystem.read = [...]` without quotes.",
        ),
        "filesystem.read": ("array of paths", "none", "Paths of the project."),
        "filesystem.write": ("array of paths", "none", "Paths of the project; they can be read, too."),
        "exec": ("boolean", "`false`", "Whether it may decide which programs run."),
        "network": ("boolean; for `wasm` array of hosts", "`false`", "Whether it may use the network."),
        "network.outbound": ("the same", "`false`", "Another name for `network`."),
        "env": (
            "array of names",
            "none",
            "Variables of the machine that it gets, and of the agent that it may set.",
        ),
    },
    "python": {
        "hook_handlers": ("table", "-", "As `[hooks]`."),
        "module": ("path", f'`"{manifest.MODULES["python"]}"`', "The file with its functions."),
        "dependencies": (
            "array of requirements",
            "none",
            "What pip installs for it, [from wheels](../how-to/python-plugin.md).",
        ),
    },
    "wasm": {
        "hook_handlers": ("table", "-", "As `[hooks]`."),
        "module": ("path", f'`"{manifest.MODULES["wasm"]}"`', "The module, built."),
    },
    "oci": {
        "hook_handlers": ("table", "-", "As `[hooks]`."),
        "image": (
            "string",
            MUST,
            "The image's name. A name below `localhost/` is built from the containerfile.",
        ),
        "containerfile": ("path", "none", "Builds the image if it cannot be pulled."),
        "serve": ("boolean", "`false`", "[Keep one container](oci-protocol.md) for all calls of a run."),
    },
}

ENTRIES = [
    ("`skill`", "an executable of the plugin, like `scripts/check`: the event on its stdin, no argument"),
    ("`python`", "`function` of the module, or `file.py:function`"),
    ("`wasm`", "an export of the module"),
    ("`oci`", "a subcommand of the image's entrypoint"),
]

ABOUT = {
    "samuel": "Which versions of Samuel it is for. Checked whenever the manifest is read, also after an update of "
    "Samuel.",
    "requires": "Other plugins that must be installed, by their names. A plugin of the kind `meta` has these "
    "and no handlers. A value is a range of versions, or a table; they are added together with it.",
    "hooks": "Keys are events, in any spelling, in quotes if there is a dot or a colon in it. A value is a "
    "handler, a table, or an array of both. What a handler is depends on the kind:\n\n"
    + table(("kind", "handler"), ENTRIES).rstrip(),
    "provides": "The events that the plugin has handlers for, each then bound by a table `[hook.<event>]` with "
    "the same keys as in `[hooks]`, or by any other form.",
    "capabilities": "What it asks for. [Capabilities](capabilities.md) describes what each means for each "
    "kind, and which paths and names are allowed.",
    "python": "Only for plugins of this kind.",
    "wasm": "Only for plugins of this kind.",
    "oci": "Only for plugins of this kind.",
}

EXAMPLES = {
    "requires": """\
[requires]
"acme/base" = ">=1,<2"
notes = { source = "https://example.com/notes.git", version = ">=1" }
""",
    "hooks": """\
[hooks]
"context.extra" = "facts"
"after:iteration" = ["report", "notify"]
PreAbilityCall = { handler = "no_secrets", role = "guard", order = 50, timeout = "5s" }
""",
    "provides": """\
[provides]
hooks = ["quality.check"]

[hook."quality.check"]
handler = "check"
strict = true
""",
    "python": """\
[python]
module = "plugin.py"
dependencies = ["packaging>=23"]
""",
    "wasm": """\
[wasm]
module = "plugin.wasm"

[wasm.hook_handlers]
"quality.check" = "on_quality_check"
""",
    "oci": """\
[oci]
image = "localhost/long-files:0.1.0"
containerfile = "Containerfile"
serve = true

[oci.hook_handlers]
"quality.check" = "check"
""",
}

HEAD = f"""\
# The manifest

`{FILE}` at the top of a plugin describes it. `samuel plugin validate DIR` reads it without running anything, and
reports all problems at once, with line and nearest valid name. An unknown key is an error.

A plugin without a manifest is of the kind `skill`, is called `org/repo`, and offers [what is in its
directories](plugin-files.md).
"""

LIMITS = f"""\
## Limits

A plugin has at most {bindings.MAX_BINDINGS} handlers, {manifest.MOST_REQUIRED} requirements and
{contents.MOST_FILES} files with {contents.MOST_BYTES // 1024**2} MiB together. Symbolic links that leave the
plugin or lead to a directory, pipes, sockets, devices and names that cannot be printed are refused.
"""


def manifest_page() -> str:
    texts = WITH_UNKNOWN_KEYS.items()
    valid_keys = {name: keys for kind, text in texts for name, keys in _valid_keys(kind, text).items()}
    valid_keys["hooks"] = valid_keys.pop('hooks."context.extra"')
    valid_keys["requires"] = valid_keys.pop('requires."org/repo"')
    parts = [NOTE, HEAD]
    for name, descriptions in KEYS.items():
        parts += [f"## `[{name}]` {{ #{name} }}\n\n{ABOUT[name]}\n"] if name else ["## At the top\n"]
        if name in EXAMPLES:
            _check(name if name in KINDS else "python", EXAMPLES[name])
            parts.append(f"```toml\n{EXAMPLES[name]}```\n")
        parts.append(keys_table(descriptions, valid_keys[name]))
    return "\n".join([*parts, LIMITS])


def _valid_keys(kind: str, text: str) -> dict[str, list[str]]:
    """The keys of each table, by its name."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, FILE).write_text(f'kind = "{kind}"\n{text}')
        return keys_by_table(lambda: manifest.load(Path(place)))


def _check(kind: str, text: str) -> None:
    """Load an example, so that a wrong one is an error."""
    with tempfile.TemporaryDirectory() as place:
        for name in (*manifest.MODULES.values(), "Containerfile"):
            Path(place, name).touch()
        Path(place, FILE).write_text(f'name = "example"\nversion = "1"\nkind = "{kind}"\n{text}')
        manifest.load(Path(place))


def wasm_page() -> str:
    codes = sorted(NoAnswer.__subclasses__(), key=lambda kind: -kind.code)
    rows = [(f"`{kind.code}`", WORDS[kind.__name__]) for kind in codes]
    return "\n".join(
        [
            NOTE,
            "# The wasm ABI\n",
            f"{getdoc(wasm)}\n",
            "## Codes\n",
            table(("code", "what it means to the module"), rows),
            f"A file, a response or a program's output may have {LARGEST // 1024**2} MiB. The reason of an "
            "error is in the call's stderr: `samuel hooks log --json`.\n",
            "[How to write one](../how-to/wasm-plugin.md), with a header for C; `examples/plugins/wasm-zig` has "
            "the same for Zig.\n",
        ]
    )


WORDS = {
    "Denied": "The plugin was not granted this, or the path is not what it should be. The call ends as `refused`.",
    "NotThere": "There is no such file or setting.",
    "Failed": "The operation was tried and failed.",
    "TooLarge": "More than the limit, or `samuel_alloc` had no room.",
    "BadArgument": "Not UTF-8, not JSON, outside of the memory, an unknown key.",
}


def oci_page() -> str:
    flags = " ".join(("--rm", "--read-only", *SAFER, f"--pids-limit={PIDS}", "--memory=..."))
    return "\n".join(
        [
            NOTE,
            "# The oci protocol\n",
            f"{getdoc(oci)}\n",
            "## How a container is started\n",
            f"With `{flags}`, with `--network=none` unless `network` is granted, as the user who runs Samuel, and "
            "never by pulling: the image that samuel.lock pins must exist. `samuel plugin install` gets it. "
            "`--memory` is [`handler_memory_bytes`](config.md#limits).\n",
            "## The outcome of a call\n",
            table(("the container", "outcome"), ENDINGS),
            "[How to write one](../how-to/oci-plugin.md).\n",
        ]
    )


ENDINGS = [
    ("exits with 0 and one JSON object, or nothing, on stdout; or answers `result`", "`ok`"),
    ("exits with another code; ends while it serves; or answers `error`", "`crashed`"),
    ("writes something else, or too much", "`bad_output`"),
    ("is not done at its deadline", "`timed_out`, and it is removed"),
    ("cannot be started: no engine, no image, a missing entrypoint", "`not_started`"),
    ("would get a granted path that is a link or was replaced meanwhile", "`refused`"),
]
