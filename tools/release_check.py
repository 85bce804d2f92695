"""`make release-check`: rehearses a release as far as that is possible without publishing anything.

    python tools/release_check.py                  build, install into empty environments, run the demo
    python tools/release_check.py --tag v0.2.0     the same; tag, version and changelog must agree
    python tools/release_check.py --installed      only look at the Samuel that this Python has installed
    python tools/release_check.py --static WHEEL   only look whether the wheel's program is linked statically

The files stay in dist/. Only the dependencies of Samuel are downloaded, by pip; with PIP_NO_INDEX and
PIP_FIND_LINKS it takes them from a directory.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
CLIENT = "samuel-emit"
INTERPRETER_HEADER = 3  # PT_INTERP, the kind of program header that names the dynamic linker


def main() -> None:
    parser = argparse.ArgumentParser(description="Rehearse a release.")
    parser.add_argument("--tag", default=os.environ.get("RELEASE_TAG", ""))
    parser.add_argument("--installed", action="store_true")
    parser.add_argument("--static", type=Path, metavar="WHEEL")
    options = parser.parse_args()
    if options.static:
        require_static(options.static)
    elif options.installed:
        check_installed(Path(sys.executable), native=True)
    else:
        rehearse(options.tag)


def rehearse(tag: str) -> None:
    step("the changelog")
    check_changelog(tag)
    step("an sdist, and a wheel that is built from it")
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)
    [sdist], [wheel] = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
    check_content(wheel)
    with tempfile.TemporaryDirectory(prefix="samuel-release-") as scratch:
        step("the wheel in an empty environment, with the demo")
        check_installed(empty_environment(Path(scratch, "native"), wheel), native=not wheel.stem.endswith("-any"))
        step("the sdist where there is no compiler")
        plain = wheel_without_compiler(sdist, Path(scratch))
        check_installed(empty_environment(Path(scratch, "plain"), plain), native=False)
    print(f"\nready: {sdist.relative_to(ROOT)} and {wheel.relative_to(ROOT)}", flush=True)


def version() -> str:
    return str(runpy.run_path(str(ROOT / "src/samuel/version.py"))["__version__"])


def check_changelog(tag: str) -> None:
    """Build the section of the next version; for a tag, the section must be in the file and no fragment left."""
    run(sys.executable, "-m", "towncrier", "build", "--draft", "--version", version(), cwd=ROOT)
    if not tag:
        return
    if tag != f"v{version()}":
        sys.exit(f"the tag is `{tag}`, and src/samuel/version.py has `{version()}`")
    if left := sorted(file.name for file in (ROOT / "changes").glob("+*.md")):
        sys.exit(f"not in the changelog yet: {', '.join(left)}; run `towncrier build --yes`")
    if not re.search(
        rf"^## {re.escape(version())} \(\d{{4}}-\d\d-\d\d\)$", (ROOT / "CHANGELOG.md").read_text(), re.M
    ):
        sys.exit(f"CHANGELOG.md has no section `## {version()} (YYYY-MM-DD)`")


def check_content(wheel: Path) -> None:
    """A wheel has the package and the client, and nothing else."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0].partition("-")[0] for name in names}
    if tops != {"samuel", "samuel_loop"}:
        sys.exit(f"`{wheel.name}` has more than the package: {', '.join(sorted(tops))}")
    if not any(name.endswith(f"/scripts/{CLIENT}") for name in names):
        sys.exit(f"`{wheel.name}` has no `{CLIENT}`")
    if "linux" in wheel.name:
        require_static(wheel)


def require_static(wheel: Path) -> None:
    """End with a message unless the client in the wheel is an ELF program that needs no dynamic linker."""
    archive = zipfile.ZipFile(wheel)
    [name] = [name for name in archive.namelist() if name.endswith(f"/scripts/{CLIENT}")]
    program = archive.read(name)
    if program[:5] != b"\x7fELF\x02":
        sys.exit(f"`{CLIENT}` in `{wheel.name}` is not a native program of 64 bits: was there a compiler?")
    (start,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<HH", program, 54)
    kinds = [struct.unpack_from("<I", program, start + number * size)[0] for number in range(count)]
    if INTERPRETER_HEADER in kinds:
        sys.exit(f"`{CLIENT}` in `{wheel.name}` needs a dynamic linker, so it does not run on every Linux")
    print(f"{CLIENT} is linked statically", flush=True)


def empty_environment(directory: Path, wheel: Path) -> Path:
    """The Python of a new environment with this wheel and its dependencies."""
    venv.create(directory, with_pip=True)
    python = directory / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return python


def wheel_without_compiler(sdist: Path, scratch: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch / "source", filter="data")
    [source] = (scratch / "source").iterdir()
    output = scratch / "without-compiler"
    run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", output, source),
        environment={**os.environ, "CC": "false"},
    )
    [wheel] = output.glob("*-any.whl")
    return wheel


def check_installed(python: Path, native: bool) -> None:
    """Look at an installed Samuel: its version, its client, and a whole run."""
    programs = python.parent
    with tempfile.TemporaryDirectory(prefix="samuel-installed-") as scratch:
        environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "HOME": scratch}
        output = run(programs / "samuel", "--version", environment=environment, cwd=Path(scratch))
        if version() not in output:
            sys.exit(f"`samuel --version` says `{output.strip()}`, not {version()}")
        doctor = run(programs / "samuel", "doctor", environment=environment, cwd=Path(scratch))
        if (f"`{CLIENT}` is a native program" in doctor) is not native:
            sys.exit(f"`{CLIENT}` should be {'a native' if native else 'a Python'} program:\n{doctor}")
        demo = (
            f"import sys; sys.path.insert(0, {str(ROOT / 'examples')!r}); import demo; from pathlib import Path; "
        )
        output = run(python, "-c", f"{demo}demo.main(Path({scratch!r}, 'demo'))", environment=environment)
        if "5 completed" not in output:
            sys.exit(f"the demo did not complete its tasks:\n{output}")
        print(
            f"samuel {version()} works, with {CLIENT} {'native' if native else 'in Python'}; the demo completed",
            flush=True,
        )


def run(*words: object, environment: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """The output of a command, which must succeed."""
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=environment, stdout=-1, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n`{' '.join(command)}` ended with exit code {done.returncode}")
    return done.stdout


def step(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()
