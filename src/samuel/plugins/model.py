"""The manifest of a plugin, checked and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from samuel.hooks.capability import NOTHING, Capabilities
from samuel.hooks.handler import HandlerMode, Role

FILE = "samuel-plugin.toml"
SKILL, PYTHON, WASM, OCI, META = KINDS = ("skill", "python", "wasm", "oci", "meta")


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """One handler for one event."""

    event: str  # in the canonical spelling
    entry: str  # a script's path, a function (`function` or `file.py:function`), an export, a subcommand
    order: int | None = None
    strict: bool | None = None
    timeout: float | None = None
    serial: bool = False
    background: bool = False
    role: Role | None = None
    mode: HandlerMode = HandlerMode.ENFORCE
    line: int = 0


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """Another plugin that must be installed: its name, a range of versions, and where to get it."""

    name: str  # the manifest's name of the other, or org/repo
    version: str = ""  # a range like `>=1,<2`; "" for any
    source: str = ""  # what `plugin add` takes; "" when the name itself is org/repo
    line: int = 0


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""  # "" without a manifest: then the plugin is called org/repo
    version: str = ""
    kind: str = SKILL
    summary: str = ""
    license: str = ""
    homepage: str = ""
    authors: tuple[str, ...] = ()
    framework: str = ""  # the versions of Samuel it works with
    protocol: str = ""  # the numbers of the hook contract it speaks
    requires: tuple[Requirement, ...] = ()
    bindings: tuple[Binding, ...] = ()
    config: Mapping[str, Any] = {}
    capabilities: Capabilities = NOTHING
    module: str = ""  # python: `plugin.py`; wasm: `plugin.wasm`
    dependencies: tuple[str, ...] = ()  # python: what its own environment needs
    image: str = ""  # oci: the image's name
    containerfile: str = ""  # oci: what builds it where it cannot be pulled
    serve: bool = False  # oci
    file: str = ""  # "" without a manifest
