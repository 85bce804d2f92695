"""The places that decide about a project, each looked at as cheaply as can be: this is a part of every warm call.

Most of these places do not exist, and where a directory is missing, so is everything below it. So one look at
`.kodelet` stands for all that could be in it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from samuel.files.survey import TooManyFiles, is_as_before


class DecidingPlaces:
    """What there was when a project was opened, and what there was not."""

    def __init__(self, files: Mapping[str, Any], kinds: Mapping[str, int | None]) -> None:
        """`files` has the survey of each place, {} where nothing is; `kinds` is of directories, or None."""
        absent = [place for place, before in files.items() if not before]
        absent += [place for place, kind in kinds.items() if kind is None]
        self._absent = tuple(dict.fromkeys(map(_highest_missing, absent)))
        self._kinds = tuple((place, kind) for place, kind in kinds.items() if kind is not None)
        self._present = tuple((place, before) for place, before in files.items() if before)

    def are_as_before(self) -> bool:
        """Whether all of them are. Whatever is in doubt is not."""
        lstat = os.lstat
        for place in self._absent:
            try:
                lstat(place)
            except FileNotFoundError:
                continue
            except OSError:
                pass
            return False
        try:
            return all(stat.S_IFMT(lstat(place).st_mode) == kind for place, kind in self._kinds) and all(
                is_as_before(place, before) for place, before in self._present
            )
        except (OSError, TooManyFiles):
            return False


def _highest_missing(place: str) -> str:
    """The highest missing directory above a place that is missing, or the place itself."""
    while (above := os.path.dirname(place)) != place:
        try:
            os.lstat(above)
        except FileNotFoundError:
            place = above
            continue
        except OSError:
            pass
        break
    return place
