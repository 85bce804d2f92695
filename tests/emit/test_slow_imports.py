"""msgspec and pathlib without the modules that they import for little: nobody can tell."""

from __future__ import annotations

import json
import subprocess
import sys

LOOK = """
import json, os, sys
from samuel.emit.slow_imports import import_without_slow_modules

import_without_slow_modules()
SLOW = ("platform", "textwrap", "urllib.parse", "typing_extensions")
early = [name for name in SLOW if name in sys.modules]
import pathlib, uuid
import msgspec

class Documented(msgspec.Struct):
    '''In
        two lines.'''

used = pathlib.Path("/a b").as_uri(), uuid._LINUX, msgspec.json.schema(Documented)
import platform, textwrap, urllib.parse
files = [os.path.basename(module.__file__) for module in (platform, textwrap, urllib.parse)]
import_without_slow_modules()  # a second time changes nothing
print(json.dumps([early, used, files, sys.modules["platform"] is platform]))
"""
PLAIN = LOOK.replace("import_without_slow_modules()", "")


def _printed(program: str) -> list[object]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    values: list[object] = json.loads(done.stdout)
    return values


def test_slow_modules_are_imported_at_their_first_use() -> None:
    early, *rest = _printed(LOOK)
    assert early == []
    _, *usual = _printed(PLAIN)
    assert rest == usual
