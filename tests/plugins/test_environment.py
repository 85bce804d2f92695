"""Environments of plugins: really made, with wheels built here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.errors import SamuelError
from samuel.plugins import environment


@pytest.fixture
def environments(tmp_path: Path, with_pip: Callable[[Path], Path]) -> Path:
    return with_pip(tmp_path / "environments")


@pytest.fixture
def wheels(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "wheels"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    _wheel(place, "apple_pie", "1.0", "flour>=1")
    _wheel(place, "flour", "1.5")
    _wheel(place, "flour", "2.0")
    return place


def _wheel(place: Path, name: str, version: str, *requires: str) -> None:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(place / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        file.writestr(
            f"{info}/METADATA", metadata + "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
        )
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


def _says(python: str, code: str) -> str:
    return subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
def test_an_environment_is_resolved_created_and_reused(environments: Path, wheels: Path):
    pins = environment.resolve(environments, ["Apple.Pie>=1"])
    assert pins == ("apple-pie==1.0", "flour==2.0")
    assert environment.interpreter(environments, pins) == ""
    python = environment.make(environments, pins)
    assert environment.interpreter(environments, pins) == python
    assert _says(python, "import apple_pie, flour; print(apple_pie.VERSION, flour.VERSION)") == "1.0 2.0"
    assert _says(python, "import sys; print(sys.prefix)") == str(Path(python).parents[1])
    shutil.rmtree(wheels)  # it is there: nothing is looked for
    assert environment.make(environments, pins) == python


@pytest.mark.slow
def test_an_environment_holds_exactly_its_pins(environments: Path, wheels: Path):
    """Also older ones, and nothing that they require besides."""
    python = environment.make(environments, ("flour==1.5",))
    assert _says(python, "import flour; print(flour.VERSION)") == "1.5"
    alone = environment.make(environments, ("apple-pie==1.0",))
    assert alone != python
    with pytest.raises(subprocess.CalledProcessError):
        _says(alone, "import flour")


@pytest.mark.slow
def test_the_environment_of_a_plugin_has_none_of_samuels_packages(environments: Path, wheels: Path):
    python = environment.make(environments, ("flour==2.0",))
    with pytest.raises(subprocess.CalledProcessError):
        _says(python, "import msgspec")
    with pytest.raises(subprocess.CalledProcessError):
        _says(python, "import pip")


def test_no_dependencies_resolve_to_no_pins(tmp_path: Path):
    assert environment.resolve(tmp_path / "none", []) == ()
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_a_missing_package_is_reported(environments: Path, wheels: Path):
    with pytest.raises(SamuelError, match="No matching distribution found for nowhere"):
        environment.resolve(environments, ["nowhere"])
    with pytest.raises(SamuelError, match="No matching distribution found for flour==9"):
        environment.make(environments, ("flour==9",))
    assert environment.interpreter(environments, ("flour==9",)) == ""


@pytest.mark.slow
def test_installing_a_package_runs_none_of_its_code(environments: Path, wheels: Path, tmp_path: Path):
    """What is no wheel would have to be built, by a program of its author's."""
    source = tmp_path / "dough-1.0"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(tmp_path / 'touched')!r}, 'w')\nraise SystemExit\n")
    (source / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: dough\nVersion: 1.0\n")
    shutil.make_archive(str(wheels / "dough-1.0"), "gztar", tmp_path, "dough-1.0")
    with pytest.raises(SamuelError, match="No matching distribution found for dough"):
        environment.resolve(environments, ["dough"])
    with pytest.raises(SamuelError):
        environment.make(environments, ("dough==1.0",))
    assert not (tmp_path / "touched").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "wish", ["--index-url=https://evil.example", "-r/etc/passwd", "flour @ file:///x.whl", "./flour", ""]
)
def test_a_dependency_must_be_a_name_with_versions(environments: Path, wish: str):
    with pytest.raises(SamuelError):
        environment.resolve(environments, [wish])


@pytest.mark.parametrize(
    "pin",
    [
        "flour",
        "flour>=1",
        "flour==1.*",
        "--pre",
        "-r/etc/passwd",
        "flour==1 --pre",
        "flour @ file:///x",
        "../x==1",
    ],
)
def test_a_pin_must_be_one_exact_version(environments: Path, pin: str):
    with pytest.raises(SamuelError, match=r"is not an exact version"):
        environment.make(environments, (pin,))


@pytest.mark.slow
def test_pip_settings_of_the_user_do_not_change_the_target_directory(
    environments: Path, wheels: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "target"))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "flour.py").write_text("raise SystemExit('wrong one')")
    _wheel(wheels, "flour", "1.7")
    python = environment.make(environments, ("flour==1.7",))
    assert _says(python, "import flour; print(flour.VERSION)") == "1.7"
    assert not (tmp_path / "target").exists()


@pytest.mark.slow
def test_an_incomplete_environment_is_created_again(environments: Path, wheels: Path):
    _wheel(wheels, "flour", "1.8")
    python = Path(environment.make(environments, ("flour==1.8",)))
    (python.parents[1] / environment.READY).unlink()
    next(python.parents[1].glob("lib/*/site-packages/flour.py")).unlink()
    assert environment.interpreter(environments, ("flour==1.8",)) == ""
    assert _says(environment.make(environments, ("flour==1.8",)), "import flour; print(flour.VERSION)") == "1.8"


@pytest.mark.slow
def test_an_environment_whose_python_is_gone_is_created_again(environments: Path, wheels: Path):
    _wheel(wheels, "flour", "1.9")
    python = Path(environment.make(environments, ("flour==1.9",)))
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert environment.interpreter(environments, ("flour==1.9",)) == ""
    assert environment.make(environments, ("flour==1.9",)) == str(python)


@pytest.mark.slow
def test_one_environment_created_by_several_processes_at_once_is_complete(environments: Path, wheels: Path):
    _wheel(wheels, "flour", "1.6")
    code = (
        "import sys; from pathlib import Path; from samuel.plugins import environment;"
        "print(environment.make(Path(sys.argv[1]), ('flour==1.6',)))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, environments], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    outputs = {process.communicate()[0].strip() for process in running}
    assert outputs == {environment.interpreter(environments, ("flour==1.6",))}
    assert os.access(outputs.pop(), os.X_OK)
