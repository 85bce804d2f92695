"""Reports of the loop as plain data, and back: for machines that send them, and for views in other processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from samuel.base.decoding import convert
from samuel.base.errors import SamuelError
from samuel.history.notices import Report


def kinds(*classes: type[Any]) -> dict[str, type[Any]]:
    """These classes of reports by their names."""
    return {kind.__name__: kind for kind in classes}


def notice_data(report: Report) -> tuple[str, dict[str, Any]]:
    """The name of its class, and its fields."""
    return type(report).__name__, msgspec.to_builtins(report)


def notice_of(kind: str, data: Mapping[str, Any], classes: Mapping[str, type[Any]]) -> Report:
    """Raises SamuelError for what is not one of the known reports."""
    if kind not in classes:
        raise SamuelError(f"`{kind}` is not a report of an attempt")
    try:
        return cast(Report, convert(data, classes[kind]))
    except msgspec.MsgspecError as error:
        raise SamuelError(f"a report `{kind}` cannot be read: {error}") from None
