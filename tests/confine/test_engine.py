"""The container engine of this machine: which one, what it needs here, and images under names that stay."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from samuel.base.decoding import msgpack_decoder
from samuel.confine.containers import engine, probe
from samuel.files import file_cache
from samuel.files.keyed_cache import KeyedCache
from samuel.process.reason import NotRunnable

BROKEN = "#!/bin/sh\necho 'Cannot connect to the daemon' >&2\nexit 1\n"


@pytest.fixture
def podman(busybox_image: str) -> Callable[..., str]:
    """The real one; where there is none, the fixture of the image has skipped the test."""

    def run(*words: str) -> str:
        return subprocess.run(["podman", *words], check=True, capture_output=True, text=True).stdout.strip()

    return run


@pytest.fixture
def name() -> Iterator[str]:
    """An image's name that is the test's alone."""
    name = f"localhost/samuel-test-{uuid.uuid4().hex}:1"
    yield name
    subprocess.run(["podman", "rmi", "--force", "--ignore", name], capture_output=True)


@pytest.fixture
def forgetful() -> Iterator[None]:
    before = dict(probe._flags_in_process)
    probe._flags_in_process.clear()
    yield
    probe._flags_in_process.clear()
    probe._flags_in_process.update(before)


def plugin(directory: Path, base: str, text: str = "hello") -> Path:
    directory.mkdir()
    (directory / "file").write_text(text)
    containerfile = directory / "Containerfile"
    containerfile.write_text(f"FROM {base}\nCOPY file /file\nENTRYPOINT cat /file\n")
    return containerfile


def fake(directory: Path, script: str, *names: str) -> Mapping[str, str]:
    for name in names:
        (directory / name).write_text(script)
        (directory / name).chmod(0o755)
    return {"PATH": str(directory), "HOME": str(directory)}


class TestWhichOne:
    def test_first_engine_on_path_or_the_named_one_is_used(self, tmp_path: Path) -> None:
        host = fake(tmp_path, BROKEN, "podman", "docker")
        assert _name(engine.find(host)) == "podman"
        assert _name(engine.find({**host, engine.CHOICE: "docker"})) == "docker"
        (tmp_path / "podman").unlink()
        assert _name(engine.find(host)) == "docker"
        assert engine.missing_engine(host) == ""

    @pytest.mark.parametrize(
        ("choice", "says"),
        [
            ({}, "`podman` or `docker` (apt install podman"),
            ({engine.CHOICE: "podman"}, "`podman` (SAMUEL_CONTAINER says so): install it"),
            ({engine.CHOICE: "/bin/sh"}, "`podman` or `docker`, and SAMUEL_CONTAINER says `/bin/sh`"),
        ],
    )
    def test_missing_engine_is_reported_with_what_to_install(self, choice: dict[str, str], says: str) -> None:
        host = {"PATH": "/nowhere", **choice}
        assert says in engine.missing_engine(host)
        assert says in engine.explain(host, None)[0]
        with pytest.raises(NotRunnable) as refused:
            engine.pin("localhost/any", containerfile=None, host=host)
        assert says in str(refused.value)

    def test_the_client_gets_its_own_settings_and_no_secrets(self, tmp_path: Path) -> None:
        host = {
            **fake(tmp_path, BROKEN, "podman"),
            "CONTAINERS_CONF": "/c",
            "TOKEN": "t",
            "LD_PRELOAD": "/evil.so",
        }
        engine_found = engine.find(host)
        assert engine_found is not None
        assert engine_found.env["CONTAINERS_CONF"] == "/c"
        assert not {"TOKEN", "LD_PRELOAD"} & set(engine_found.env)

    def test_engine_that_does_not_work_is_quoted(self, tmp_path: Path) -> None:
        host = {**fake(tmp_path, BROKEN, "docker"), engine.CHOICE: "docker"}
        explanation = engine.explain(host, None)
        assert "docker`, as SAMUEL_CONTAINER says" in explanation[0]
        assert explanation[1] == "`docker` does not work: Cannot connect to the daemon"
        with pytest.raises(NotRunnable, match="Cannot connect to the daemon"):
            engine.pin("ghcr.io/org/name:1", containerfile=None, host=host)


class TestWhatItNeedsHere:
    @pytest.mark.slow
    def test_container_flags_are_found_without_an_image_cached_and_explained(
        self, podman: Callable[..., str], forgetful: None, tmp_path: Path
    ) -> None:
        lines = engine.explain(os.environ, tmp_path)
        assert lines[0].startswith(f"containers are run by `{shutil.which('podman')}` ")
        engine_found = probe.remembered_flags(shutil.which("podman") or "", False, tmp_path, limits=True)
        assert engine_found is not None
        conceded = [
            word
            for word in (*engine_found.before, *engine_found.after)
            if word not in ("--network=none", "--events-backend=file")
        ]
        assert all(any(f"`{word}`" in line for line in lines) for word in conceded)
        assert bool(conceded) == any(line.startswith("without that it said: ") for line in lines)
        probe._flags_in_process.clear()
        assert engine.explain(os.environ, tmp_path) == lines

    @pytest.mark.slow
    def test_planted_container_flags_are_not_believed(
        self, podman: Callable[..., str], forgetful: None, tmp_path: Path
    ) -> None:
        engine_found = engine.find(os.environ)
        assert engine_found is not None
        right = engine.limited_flags(engine_found, network=False, cache=tmp_path)
        file = tmp_path / probe.CACHE
        ((key, flags),) = (file_cache.load(file, msgpack_decoder(dict[str, probe.Flags])) or {}).items()
        planted = flags._replace(after=(*flags.after, "--privileged"))
        KeyedCache(file, probe.Flags).add(key, planted)
        assert KeyedCache(file, probe.Flags).get(key) == planted
        probe._flags_in_process.clear()
        assert engine.limited_flags(engine_found, network=False, cache=tmp_path) == right

    @pytest.mark.slow
    def test_container_without_limits_is_the_last_resort_and_reported(
        self, forgetful: None, tmp_path: Path
    ) -> None:
        script = """#!/bin/sh
            case "$*" in *--memory=*|*--pids-limit=*) echo 'no such controller' >&2; exit 125;; esac
            case "$*" in *--ulimit=*) echo "no $*" >&2; exit 127;; esac
            echo 'not permitted' >&2; exit 126
        """
        host = fake(tmp_path, script, "podman")
        engine_found = engine.find({**host, "PATH": f"{tmp_path}:/bin"})
        assert engine_found is not None
        flags = engine.limited_flags(engine_found, network=False, cache=None)
        assert (flags.without, flags.refused) == (("memory", "pids"), ("no such controller", "not permitted"))
        assert "a container cannot be limited in memory and pids here" in engine.gaps(host, None)

    @pytest.mark.slow
    def test_a_runtime_that_is_itself_not_found_does_not_work(self, forgetful: None, tmp_path: Path) -> None:
        """Podman says 127 for that too."""
        host = fake(tmp_path, "#!/bin/sh\necho 'crun: libyajl.so.2: not found' >&2\nexit 127\n", "podman")
        assert "cannot start a container: crun: libyajl.so.2: not found" in engine.explain(host, None)[1]

    @pytest.mark.slow
    def test_engine_error_is_reported_when_no_flags_help(self, forgetful: None, tmp_path: Path) -> None:
        host = fake(tmp_path, BROKEN, "podman")
        assert engine.explain(host, None)[1] == "`podman` cannot start a container: Cannot connect to the daemon"


class TestPinning:
    @pytest.mark.slow
    def test_the_same_files_are_the_same_image_wherever_they_are(
        self, busybox_image: str, podman: Callable[..., str], name: str, tmp_path: Path
    ) -> None:
        image = engine.pin(name, containerfile=plugin(tmp_path / "a", busybox_image), host=os.environ)
        two = engine.pin(name, containerfile=plugin(tmp_path / "b", busybox_image), host=os.environ)
        assert image == two
        assert engine.is_pinned(image)
        assert image.startswith("sha256:")
        assert engine.pin(name, host=os.environ) == image
        assert engine.pin(image, host=os.environ) == image

    @pytest.mark.slow
    def test_changed_image_is_built_anew_and_the_old_one_keeps_its_id(
        self, busybox_image: str, podman: Callable[..., str], name: str, tmp_path: Path
    ) -> None:
        containerfile = plugin(tmp_path / "a", busybox_image)
        old = engine.pin(name, containerfile=containerfile, host=os.environ)
        (tmp_path / "a" / "file").write_text("changed")
        new = engine.pin(name, containerfile=containerfile, host=os.environ)
        try:
            assert new != old
            assert engine.pin(old, host=os.environ) == old
            assert podman("image", "inspect", "--format={{.Id}}", name) == new.removeprefix("sha256:")
        finally:
            podman("rmi", "--force", old)

    @pytest.mark.slow
    def test_image_of_a_registry_is_pinned_by_its_digest(
        self, busybox_image: str, podman: Callable[..., str]
    ) -> None:
        tag = f"registry.example/org/{uuid.uuid4().hex}:1"
        podman("tag", busybox_image, tag)
        try:
            pinned = engine.pin(tag, host=os.environ)
            assert pinned.startswith(f"{tag.removesuffix(':1')}@sha256:")
            assert engine.pin(pinned, host=os.environ) == pinned
            assert podman("image", "inspect", "--format={{.Id}}", pinned) == podman(
                "image", "inspect", "--format={{.Id}}", busybox_image
            )
        finally:
            podman("rmi", tag)

    @pytest.mark.slow
    def test_image_that_cannot_be_pulled_is_built_or_reported(
        self, busybox_image: str, podman: Callable[..., str], tmp_path: Path
    ) -> None:
        name = f"127.0.0.1:1/samuel-test-{uuid.uuid4().hex}:1"
        with pytest.raises(NotRunnable, match=r"cannot pull `127.0.0.1:1/(.|\n)*refused(.|\n)*publish the image"):
            engine.pin(name, host=os.environ)
        built = engine.pin(name, containerfile=plugin(tmp_path / "a", busybox_image), host=os.environ)
        podman("rmi", "--force", built)
        assert built.startswith("sha256:")

    @pytest.mark.parametrize(
        ("image", "says"),
        [
            ("localhost/samuel-test-nothing:1", "does not have the image `localhost/samuel-test-nothing:1`"),
            (f"sha256:{'0' * 64}", "does not have the image"),
            ("--privileged", "is not a valid image name"),
            ("", "is not a valid image name"),
            ("a b", "is not a valid image name"),
        ],
    )
    def test_image_that_exists_nowhere_is_reported(
        self, podman: Callable[..., str], image: str, says: str
    ) -> None:
        with pytest.raises(NotRunnable, match=says):
            engine.pin(image, host=os.environ)

    @pytest.mark.slow
    def test_a_build_that_fails_is_quoted(
        self, busybox_image: str, podman: Callable[..., str], name: str, tmp_path: Path
    ) -> None:
        containerfile = plugin(tmp_path / "a", busybox_image)
        containerfile.write_text(f"FROM {busybox_image}\nCOPY absent /\n")
        with pytest.raises(NotRunnable, match=r"cannot build `.*/a/Containerfile`(.|\n)*absent"):
            engine.pin(name, containerfile=containerfile, host=os.environ)
        with pytest.raises(NotRunnable, match="does not exist"):
            engine.pin(name, containerfile=tmp_path / "nowhere", host=os.environ)

    @pytest.mark.parametrize(
        ("image", "pinned"),
        [
            (f"sha256:{'a' * 64}", True),
            (f"ghcr.io/org/name@sha256:{'0' * 64}", True),
            (f"localhost:5000/name:1@sha256:{'0' * 64}", True),
            ("ghcr.io/org/name:1", False),
            ("name", False),
            ("", False),
            (f"sha256:{'a' * 63}", False),
            (f"--privileged@sha256:{'a' * 64}", False),
            (f"name@sha256:{'a' * 64}\n", False),
        ],
    )
    def test_only_a_digest_is_a_pin(self, image: str, pinned: bool) -> None:
        assert engine.is_pinned(image) is pinned


def _name(engine_found: engine.Engine | None) -> str:
    return engine_found.name if engine_found else ""
