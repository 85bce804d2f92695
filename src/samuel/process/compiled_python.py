"""Compiled Python that is used only for the very file that it was compiled from.

To Python, a compiled file is good while its source has the same size and was modified in the same second. So a
hook that is changed and trusted within a second, or whose files always have the same time (from an archive, from a
reproducible build), would go on running as it was before.
"""

from __future__ import annotations

import os
import sys
from _frozen_importlib_external import SourceFileLoader  # `importlib.machinery`, without importing it
from collections.abc import Callable
from contextlib import suppress

EXACT = "exact"

# `compile_exactly` for a Python of any version, where `l` is SourceFileLoader. It must leave no names behind.
EXACTLY = (
    "l.path_stats=lambda _,p,s=__import__('os').stat:(lambda f:"
    "{'mtime':hash((f.st_ino,f.st_ctime_ns,f.st_mtime_ns)),'size':f.st_size})(s(p));"
    f"sys.pycache_prefix=getattr(sys,'pycache_prefix',None)and sys.pycache_prefix+'/{EXACT}';"
)


def compile_exactly(before_load: Callable[[str, os.stat_result], None] | None = None) -> None:
    """Have this interpreter compare a source's inode and exact times with those from which it was compiled.

    The time at which a file's status changed (ctime) cannot be set back, unlike that of its modification. What is
    compiled is kept apart from what Python compares in its own way. `before_load` is called with each source and
    its status before it is read.
    """

    def path_stats(_: SourceFileLoader, path: str) -> dict[str, int]:
        status = os.stat(path)
        if before_load is not None:
            before_load(path, status)
        # Python stores 32 bits of it in the compiled file, and the size.
        return {"mtime": hash((status.st_ino, status.st_ctime_ns, status.st_mtime_ns)), "size": status.st_size}

    SourceFileLoader.path_stats = path_stats  # type: ignore[assignment,method-assign]
    if sys.pycache_prefix:
        sys.pycache_prefix = os.path.join(sys.pycache_prefix, EXACT)


def keep_uncompiled(directory: str, pycache: str) -> None:
    """Have no Python keep what it compiles from `directory` below `pycache`, its PYTHONPYCACHEPREFIX.

    For the interpreters that a hook starts by itself. A file where the directory would be makes Python do without.
    """
    for name in {directory, os.path.realpath(directory)}:
        place = pycache + name
        if os.path.isfile(place):
            continue
        with suppress(OSError):  # a directory above it is kept uncompiled, or nothing can be kept there anyway
            if os.path.isdir(place):
                import shutil  # slow to import, and needed once

                shutil.rmtree(place)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
