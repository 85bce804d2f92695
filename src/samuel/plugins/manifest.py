"""Reads samuel-plugin.toml into a Manifest, or reports every problem at once.

This is the only reader of manifests. Reading runs nothing, so it is done before the user agrees to the plugin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from samuel.base.printable import shorten
from samuel.config import kinds
from samuel.config.model import RESERVED_NAMES
from samuel.config.reader import ConfigTable, ProblemReport
from samuel.config.source import read_source
from samuel.events.event import PROTOCOL
from samuel.files.toml.lines import toml_key, toml_lines
from samuel.hooks.capability import binding_refusal
from samuel.plugins import bindings, manifest_capabilities, ranges
from samuel.plugins.bindings import BoundHandler
from samuel.plugins.contents import HOOKS, hook_files
from samuel.plugins.model import FILE, KINDS, META, OCI, PYTHON, WASM, Manifest, Requirement
from samuel.version import __version__

LONGEST_NAME = 100  # it becomes the name of a directory
MOST_REQUIRED = 100
MODULES: Mapping[str, str] = MappingProxyType({PYTHON: "plugin.py", WASM: "plugin.wasm"})

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]*")


def load(directory: Path) -> Manifest:
    """The manifest of the plugin in `directory`; ConfigError with everything that is wrong with it."""
    file = directory / FILE
    source = read_source(file)
    if source is None:
        return Manifest()
    report = ProblemReport(file, toml_lines(source.text))
    manifest = _manifest(directory, report.read(source.values), str(file))
    report.finish()
    return manifest


def plugin_name(value: object) -> str:
    """`name` or `org/name`. It becomes the name of directories and of keys in samuel.toml and the context."""
    text = kinds.name(value)
    if not _NAME.fullmatch(text):
        raise ValueError("must be made of letters, digits, `-`, `_` and `.`, with at most one `/` inside")
    if len(text) > LONGEST_NAME:
        raise ValueError(f"must have at most {LONGEST_NAME} characters")
    if text in RESERVED_NAMES:
        raise ValueError(f"must not be `{text}`: that is the name of the built-in handlers")
    return text


def _manifest(directory: Path, top: ConfigTable, file: str) -> Manifest:
    name = _needed(top, "name", plugin_name)
    version = _needed(top, "version", ranges.version)
    kind = _needed(top, "kind", kinds.one_of(*KINDS))
    framework, protocol = _contract(top.table("samuel"))
    tier = _tier(top, kind)
    files = hook_files(directory)
    bound = bindings.read(top, tier, has_files=bool(files))
    capabilities = manifest_capabilities.read(top.table("capabilities"), kind)
    requires = _requires(top.table("requires"), name)
    for handler in bound:
        bindings.check(directory, kind, handler)
        if why := binding_refusal(handler.binding.event, capabilities):
            handler.refuse(why, "ask for it: [capabilities] exec = true")
    if kind == META:
        _check_meta(top, requires, bound, files)
    manifest = Manifest(
        name=name,
        version=version,
        kind=kind,
        summary=top.take("summary", kinds.name, ""),
        license=top.take("license", kinds.name, ""),
        homepage=top.take("homepage", kinds.name, ""),
        authors=top.take("authors", kinds.names, ()),
        framework=framework,
        protocol=protocol,
        requires=requires,
        bindings=tuple(handler.binding for handler in bound),
        config=_config(top.table("config")),
        capabilities=capabilities,
        file=file,
    )
    return _TIERS[kind](manifest, directory, tier, bound) if tier else manifest


def _needed(top: ConfigTable, key: str, kind: Callable[[object], str]) -> str:
    if key not in top:
        top.refuse(key, f"it has no `{key}`")
    return top.take(key, kind, "")


def _contract(table: ConfigTable) -> tuple[str, str]:
    """The ranges of Samuel's version and of the hook protocol that it works with; others are refused."""
    framework = table.take("framework", ranges.version_range, "")
    protocol = table.take("protocol", ranges.protocol_range, "")
    if framework and not ranges.within(__version__, framework):
        table.refuse("framework", f"it needs Samuel {framework}, and this is {__version__}")
    if protocol and not ranges.within(str(PROTOCOL), protocol):
        table.refuse("protocol", f"it needs protocol {protocol}, and this Samuel speaks {PROTOCOL}")
    return framework, protocol


def _requires(table: ConfigTable, own: str) -> tuple[Requirement, ...]:
    requirements: list[Requirement] = []
    count = sum(1 for _ in table)
    if count > MOST_REQUIRED:
        table.refuse(next(iter(table)), f"it requires {count} plugins; at most {MOST_REQUIRED} are allowed")
        return ()
    for name in table:
        if isinstance(table.take(name, kinds.any_value, ""), dict):
            inner = table.table(name)
            source = inner.take("source", _source, "")
            version = inner.take("version", ranges.version_range, "")
        else:
            source, version = "", table.take(name, ranges.version_range, "")
        try:
            plugin_name(name)
        except ValueError as error:
            table.refuse(name, f"`{shorten(name)}` cannot name a plugin: it {error}")
            continue
        if name == own:
            table.refuse(name, "it requires itself")
        elif not source and "/" not in name:
            hint = f'for example: {toml_key(name)} = {{ source = "org/repo", version = ">=1" }}'
            table.refuse(name, f"it does not say where `{name}` comes from", hint)
        requirements.append(Requirement(name=name, version=version, source=source, line=table.line(name)))
    return tuple(requirements)


def _source(value: object) -> str:
    text = kinds.name(value)
    if text.startswith("-"):  # a program that gets it would take it for an option
        raise ValueError("must be `org/repo`, a git URL or a path")
    return text


def _config(table: ConfigTable) -> dict[str, Any]:
    if "enabled" in table:
        table.refuse("enabled", "`enabled` cannot be a setting", "in samuel.toml it switches the whole plugin off")
    return {key: table.take(key, kinds.data, None) for key in table}


def _check_meta(
    top: ConfigTable, requires: Sequence[Requirement], bound: Sequence[BoundHandler], files: Sequence[str]
) -> None:
    if not requires:
        top.refuse("requires", "a plugin of kind `meta` requires others, and this one requires none")
    if bound or files:
        named = bound[0].binding.entry if bound else f"{HOOKS}/{files[0]}"
        top.refuse("kind", f"a plugin of kind `meta` has no handlers, and this one has `{shorten(named)}`")


# The tables of single kinds


def _tier(top: ConfigTable, kind: str) -> ConfigTable | None:
    for other in _TIERS:
        if other != kind and top.take(other, kinds.any_value, None) is not None and kind:
            top.refuse(other, f"`[{other}]` is for plugins of kind `{other}`, and this one is `{kind}`")
    return top.table(kind) if kind in _TIERS else None


def _with_module(
    manifest: Manifest, directory: Path, tier: ConfigTable, bound: Sequence[BoundHandler]
) -> Manifest:
    module = tier.take("module", kinds.name, MODULES[manifest.kind])
    users = [handler for handler in bound if not (manifest.kind == PYTHON and ":" in handler.binding.entry)]
    why = bindings.file_problem(directory, module)
    if why and "module" in tier:
        tier.refuse("module", why)
    elif why and users:
        users[0].refuse(why, f"`[{manifest.kind}] module` can name another file")
    dependencies = tier.take("dependencies", ranges.dependencies, ()) if manifest.kind == PYTHON else ()
    return replace(manifest, module=module, dependencies=dependencies)


def _with_image(manifest: Manifest, directory: Path, tier: ConfigTable, bound: Sequence[BoundHandler]) -> Manifest:
    image, containerfile = tier.take("image", _reference, ""), tier.take("containerfile", kinds.name, "")
    if "image" not in tier:
        tier.refuse("image", "`[oci]` has no `image`")
    if containerfile and (why := bindings.file_problem(directory, containerfile)):
        tier.refuse("containerfile", why)
    return replace(manifest, image=image, containerfile=containerfile, serve=tier.take("serve", kinds.flag, False))


def _reference(value: object) -> str:
    text = kinds.name(value)
    if not _IMAGE.fullmatch(text):
        raise ValueError("must name an image, like `team/name:1`")
    return text


_TIERS: Mapping[str, Callable[[Manifest, Path, ConfigTable, Sequence[BoundHandler]], Manifest]] = MappingProxyType(
    {PYTHON: _with_module, WASM: _with_module, OCI: _with_image}
)
