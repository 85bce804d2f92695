"""What a reader of YAML hooks must know of the hooks that come with Samuel. The table itself is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from samuel.config.reader import ConfigTable


class ShippedHook(NamedTuple):
    """A hook that a YAML file can name with `kind: builtin`."""

    events: tuple[str, ...]
    """The events that it handles, and no other."""
    function: str
    """`module:function`, imported by the worker that runs it."""
    read_config: Callable[[ConfigTable], msgspec.Struct]
    """Reads and checks the values below `config:`."""
    required_key: str = ""
    """The key of `config` without which the hook has nothing to do."""
    only_suggests: bool = False
    """It never denies: where it cannot run, nothing is left unguarded."""


ShippedHooks = Mapping[str, ShippedHook]
