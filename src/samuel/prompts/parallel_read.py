"""Read very many files: half of them here, half in a second process, for Python counts on one core only.

That is for the first look at a large project. Later looks read a handful of files.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from samuel.process import environment, spawn
from samuel.prompts import file_facts
from samuel.prompts.file_facts import FactsReader, FileFacts

HEAD_START = 3_000
"""Files that are read here until another process has begun."""
TIMEOUT = 600.0

ReadFiles = tuple[int, FileFacts]
"""When the file last changed (ctime, in nanoseconds), and what it holds."""


def read_many(root: Path, reader: FactsReader, paths: Sequence[bytes]) -> Iterator[ReadFiles | None]:
    """For each path, in order. None: it is gone, or no regular file."""
    if len(paths) < 2 * HEAD_START or (os.cpu_count() or 1) < 2:
        yield from _here(reader, paths)
        return
    half = (len(paths) + HEAD_START) // 2
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(_elsewhere, root, paths[half:])
        yield from _here(reader, paths[:half])
        other_half = other.result()
    yield from _here(reader, paths[half:]) if other_half is None else other_half


def _here(reader: FactsReader, paths: Sequence[bytes]) -> Iterator[ReadFiles | None]:
    for path in paths:
        read = reader.read(path)
        yield None if read is None else (read[0].st_ctime_ns, read[1])


def _elsewhere(root: Path, paths: Sequence[bytes]) -> list[ReadFiles | None] | None:
    """The other half, or None if the second process failed."""
    done = spawn.run(
        # Isolated, and without packages: the file needs nothing but the standard library.
        [sys.executable, "-I", "-S", file_facts.__file__, str(root)],
        cwd=str(root),
        env=environment.clean(),
        stdin=b"\0".join(paths),
        timeout=TIMEOUT,
        output_limit=1 << 30,
    )
    if done.ended != "exited" or done.returncode != 0:
        return None
    rows = marshal.loads(done.stdout)
    return [None if row is None else (row[0], FileFacts._make(row[1])) for row in rows]
