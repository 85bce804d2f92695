"""msgspec and pathlib without the modules that they import for little: nobody can tell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = """
import json, os, sys
from samuel.emit.slow_imports import import_without_slow_modules

import_without_slow_modules()
SLOW = ["platform", "textwrap", "urllib.parse", "typing_extensions", "ntpath", "msgspec.inspect", "msgspec.toml"]
if sys.version_info < (3, 12):  # from then on it is quick to import
    SLOW.append("datetime")
early = [name for name in SLOW if name in sys.modules]
import pathlib, uuid
import msgspec

class Documented(msgspec.Struct):
    '''In
        two lines.'''

used = [pathlib.Path("/a b").as_uri(), uuid._LINUX, msgspec.json.schema(Documented)]
used += [str(pathlib.PureWindowsPath("C:/a") / "b"), msgspec.inspect.type_info(int).__class__.__name__]
import datetime, ntpath, platform, textwrap, urllib.parse
used += [msgspec.json.decode(b'"2026-01-02T03:04:05Z"', type=datetime.datetime).isoformat()]
used += [msgspec.json.encode(datetime.date(2026, 1, 2)).decode(), datetime.datetime.__module__]
modules = (platform, textwrap, urllib.parse, datetime, ntpath, msgspec.toml, msgspec.inspect)
files = [os.path.basename(module.__file__) for module in modules]
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


@pytest.mark.parametrize("use", ["from textwrap import dedent", "import textwrap; textwrap.dedent('')"])
def test_library_that_uses_one_of_them_at_once_is_imported_as_usual(use: str, tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text(f"{use}\nname = 'imported'\n")
    program = f"""
import sys
from samuel.emit.slow_imports import import_without_slow_modules

sys.path.insert(0, {str(tmp_path)!r})
import_without_slow_modules()
import json, msgspec
print(json.dumps([msgspec.name]))
"""
    assert _printed(program) == ["imported"]
