"""Whether git can bring back what is deleted."""

from __future__ import annotations

import os
from collections.abc import Iterable

from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.places import Where, real_path


def has_unsaved(paths: Iterable[str], call: GuardedShellCall) -> bool:
    """Whether there are changed, untracked or ignored files at or below these paths that are no build output."""
    candidates = [path for path in paths if call.places.where(path) is not Where.BUILD or os.path.isdir(path)]
    if not candidates:
        return False
    unsaved = call.work_tree.unsaved(candidates)
    if unsaved is None:
        return any(call.places.where(path) is not Where.BUILD for path in candidates)
    return any(call.places.where(real_path(path)) is not Where.BUILD for path in unsaved)
