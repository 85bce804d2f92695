"""`tools/release_check.py`: what must not be released is refused, with the reason."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "release_check.py"


def release_check(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True)


def wheel(directory: Path, program: bytes) -> Path:
    file = directory / "samuel_loop-1.0-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("samuel_loop-1.0.data/scripts/samuel-emit", program)
    return file


def test_a_tag_that_is_not_the_version_is_refused_before_anything_is_built() -> None:
    check = release_check("--tag", "v99.0.0")
    assert check.returncode == 1
    assert "the tag is `v99.0.0`, and src/samuel/version.py has" in check.stderr


def test_a_wheel_whose_client_is_a_script_is_refused(tmp_path: Path) -> None:
    check = release_check("--static", wheel(tmp_path, b"#!python\n"))
    assert check.returncode == 1
    assert "is not a native program of 64 bits: was there a compiler?" in check.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: other systems have other formats of programs")
def test_a_wheel_whose_client_needs_a_dynamic_linker_is_refused(tmp_path: Path) -> None:
    git = shutil.which("git")
    assert git is not None
    check = release_check("--static", wheel(tmp_path, Path(git).read_bytes()))
    assert check.returncode == 1
    assert "needs a dynamic linker, so it does not run on every Linux" in check.stderr
