"""The one number that some of the shipped hooks have."""

from __future__ import annotations

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable


class Suggesting(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    limit: int = 3
    """The most abilities that are suggested at once."""


class Tracking(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    frequent: int = 5
    """From so many successful calls on, an ability is used often."""


def read_suggesting(table: ConfigTable) -> Suggesting:
    return Suggesting(table.take("limit", kinds.positive, Suggesting().limit))


def read_tracking(table: ConfigTable) -> Tracking:
    return Tracking(table.take("frequent", kinds.positive, Tracking().frequent))
