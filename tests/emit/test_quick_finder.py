"""The finder of Samuel's own modules: the same modules as Python finds, and never code of another source."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType

import pytest

from samuel.emit.quick_finder import QuickFinder

NAME = "samuel.made_up"

COMPARE = """
import importlib.machinery, pkgutil, sys
import samuel
from samuel.emit.quick_finder import QuickFinder

ATTRIBUTES = ("name", "origin", "cached", "parent", "has_location", "submodule_search_locations")

def look(package):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        ours = QuickFinder.find_spec(module.name, package.__path__)
        theirs = importlib.machinery.PathFinder.find_spec(module.name, package.__path__)
        assert [getattr(ours, name) for name in ATTRIBUTES] == [getattr(theirs, name) for name in ATTRIBUTES], ours
        assert ours.loader.get_code(module.name) == theirs.loader.get_code(module.name), module
        seen.append(module.name)
        if module.ispkg:
            package_module = type(sys)(module.name)
            package_module.__path__ = theirs.submodule_search_locations
            look(package_module)

seen = []
look(samuel)
print(len(seen))
"""


@pytest.mark.slow
def test_all_modules_are_those_that_python_finds() -> None:
    done = subprocess.run([sys.executable, "-c", COMPARE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500


def load(directory: Path) -> ModuleType:
    spec = QuickFinder.find_spec(NAME, [str(directory)])
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module


def write(directory: Path, text: str, seconds: int = 1_700_000_000) -> Path:
    source = directory / "made_up.py"
    source.write_text(text)
    os.utime(source, (seconds, seconds))
    return source


def test_compiled_file_of_the_source_as_it_is_now_is_used(tmp_path: Path) -> None:
    source = write(tmp_path, "value = 1\n")
    py_compile.compile(str(source))
    write(tmp_path, "value = 2\n")  # the same size and time: by Python's rule nothing changed
    assert load(tmp_path).value == 1


@pytest.mark.parametrize("later", [("value = 22\n", 1_700_000_000), ("value = 2\n", 1_700_000_001)])
def test_compiled_file_of_another_source_is_not_used(tmp_path: Path, later: tuple[str, int]) -> None:
    py_compile.compile(str(write(tmp_path, "value = 1\n")))
    write(tmp_path, *later)
    assert load(tmp_path).value in (2, 22)


def test_compiled_file_with_a_hash_of_the_source_is_left_to_python(tmp_path: Path) -> None:
    source = write(tmp_path, "value = 1\n")
    py_compile.compile(str(source), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    write(tmp_path, "value = 2\n")
    assert load(tmp_path).value == 2


@pytest.mark.parametrize("compiled", [None, b"", b"of another Python"], ids=["none", "empty", "other"])
def test_module_is_compiled_where_no_compiled_file_fits(tmp_path: Path, compiled: bytes | None) -> None:
    source = write(tmp_path, "value = 1\n")
    if compiled is not None:
        Path(cache_from_source(str(source))).parent.mkdir()
        Path(cache_from_source(str(source))).write_bytes(compiled)
    module = load(tmp_path)
    assert (module.value, module.__file__) == (1, str(source))


def test_other_packages_and_missing_modules_are_left_to_python(tmp_path: Path) -> None:
    write(tmp_path, "value = 1\n")
    assert QuickFinder.find_spec("json.made_up", [str(tmp_path)]) is None
    assert QuickFinder.find_spec("samuel.missing", [str(tmp_path)]) is None
    assert QuickFinder.find_spec("samuel") is None
