"""The hooks of agents as they were when the user last trusted them, by file.

A file that was changed, that broke or that is gone leaves its trusted hooks in their places,
where they are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from samuel.base.decoding import msgpack_decoder
from samuel.clients.hook_formats.client_hook import ClientHook
from samuel.files import file_cache

TrustedHooks = dict[str, tuple[ClientHook, ...]]


class LastTrusted:
    """The trusted hooks of one project, saved in the user's state directory."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @cached_property
    def _stored(self) -> TrustedHooks:
        # Without a stamp: the last trusted hooks must survive an update of Samuel.
        return file_cache.load(self._file, msgpack_decoder(TrustedHooks)) or {}

    def of(self, path: str) -> tuple[ClientHook, ...]:
        return self._stored.get(path, ())

    def save(self, hooks: Mapping[str, tuple[ClientHook, ...]]) -> None:
        """Save the hooks of files that are trusted now."""
        if any(self._stored.get(path, ()) != trusted for path, trusted in hooks.items()):
            self._stored.update(hooks)
            file_cache.save(self._file, self._stored, msgspec.msgpack.encode)
