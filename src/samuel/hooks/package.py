"""What the handlers of one plugin share: where it lies, what it may do, what it runs on."""

from __future__ import annotations

import msgspec

from samuel.hooks.capability import NOTHING, Capabilities


class Package(msgspec.Struct, frozen=True, kw_only=True):
    name: str  # the manifest's, or org/repo
    directory: str  # where it is installed
    kind: str  # skill, python, wasm, oci or meta
    version: str = ""
    has_manifest: bool = True  # without one it may use its own files, and what `plugin add --grant` gave it
    grants: Capabilities = NOTHING
    agreement: str = ""  # what its content is agreed to under: plugin:org@repo
    agreed_text: str = ""  # the words agreed to besides the content
    linked: bool = False  # a directory that its author works on: its content may change between runs
    image: str = ""  # oci: an image id or a reference with a digest, never a tag
    serve: bool = False  # oci: one kept container that answers JSON lines
    python: str = ""  # python: the interpreter of its own environment; "" for Samuel's
