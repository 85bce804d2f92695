"""What the handlers of a plugin share: its directory, its capabilities, its interpreter or image."""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

import msgspec

from samuel.hooks.capability import NOTHING, Capabilities


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """An installed plugin, as its handlers need it."""

    name: str  # the manifest's, or org/repo
    directory: str  # where it is installed
    kind: str  # skill, python, wasm, oci or meta
    version: str = ""
    has_manifest: bool = True  # without one its capabilities are its own files and `plugin add --grant`
    grants: Capabilities = NOTHING
    agreement: str = ""  # the trust store's name for its content: plugin:org@repo
    agreed_text: str = ""  # what the user agreed to in addition to the content
    linked: bool = False  # a directory in development: its content may change between runs
    image: str = ""  # oci: an image id or a reference with a digest, never a tag
    serve: bool = False  # oci: one running container that replies to JSON lines
    python: str = ""  # python: the interpreter of its own environment; "" for Samuel's
