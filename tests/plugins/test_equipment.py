"""What a plugin needs besides its files: packages of its own, an image; got when it is installed, and locked."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from samuel.base import paths
from samuel.base.errors import SamuelError
from samuel.plugins import environment
from samuel.plugins.source import parse
from samuel.plugins.store import Plan, Store
from samuel.trust.repository import trust_key
from samuel.trust.store import TrustStore

AT = "2025-01-15T10:00:00.000Z"


@pytest.fixture
def user(tmp_path: Path) -> paths.User:
    # By hand, and not by HOME: rootless podman keeps its images in the real one.
    return paths.User(home=tmp_path / "home", state=tmp_path / "state", cache=tmp_path / "cache")


def add(store: Store, root: Path, source: str, **options: bool) -> None:
    with store.staging_area() as staging_area:
        store.commit(store.plan_add(staging_area, [parse(source, root)], **options), AT)


def install(store: Store) -> Plan:
    with store.staging_area() as staging_area:
        plan = store.plan_install(staging_area)
        store.commit(plan, AT)
        return plan


class TestPython:
    @pytest.fixture
    def wheels(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        place = tmp_path / "wheels"
        place.mkdir()
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(place))
        self.write(place, "1.0")
        return place

    def write(self, place: Path, version: str) -> None:
        with zipfile.ZipFile(place / f"flour-{version}-py3-none-any.whl", "w") as file:
            file.writestr("flour.py", f"VERSION = {version!r}\n")
            info = f"flour-{version}.dist-info"
            file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: flour\nVersion: {version}\n")
            file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            file.writestr(f"{info}/RECORD", "")

    @pytest.fixture
    def bakery(self, tmp_path: Path) -> Path:
        place = tmp_path / "bakery"
        place.mkdir()
        (place / "plugin.py").write_text(
            "def bake(event):\n    import flour\n    return {'data': {'flour': flour.VERSION}}\n"
        )
        (place / "samuel-plugin.toml").write_text(
            'name = "bakery"\nversion = "1.0"\nkind = "python"\n[hooks]\n"after:loop" = "bake"\n'
            '[python]\ndependencies = ["flour>=1"]\n'
        )
        return place

    def test_a_plugin_gets_an_environment_with_its_own_packages(
        self, root, user, wheels, bakery, tmp_path, with_pip
    ):
        with_pip(user.environments)
        store = Store(root, user)
        add(store, root, "../bakery")
        assert store.named("bakery").locked.python == ("flour==1.0",)
        python = environment.interpreter(user.environments, ("flour==1.0",))
        process = subprocess.run(
            [python, "-c", "import flour; print(flour.VERSION)"], capture_output=True, text=True
        )
        assert process.stdout == "1.0\n"

        # Elsewhere, later: exactly what was locked, though there is a newer one now.
        self.write(wheels, "2.0")
        clone = tmp_path / "clone"
        clone.mkdir()
        (clone / "samuel.lock").write_bytes(store.lock_file.read_bytes())
        other = paths.User(home=tmp_path / "h", state=tmp_path / "s", cache=tmp_path / "c")
        with_pip(other.environments)
        elsewhere = Store(clone, other)
        install(elsewhere)
        assert environment.interpreter(other.environments, ("flour==1.0",))
        assert elsewhere.lock_file.read_bytes() == store.lock_file.read_bytes()

        # Other packages than those agreed to are something to agree to.
        assert install(elsewhere).to_agree == []
        text = elsewhere.lock_file.read_text()
        elsewhere.lock_file.write_text(text.replace("flour==1.0", "flour==2.0"))
        with elsewhere.staging_area() as staging_area:
            assert [candidate.title for candidate in elsewhere.plan_install(staging_area).to_agree] == ["bakery"]

    @pytest.mark.slow
    def test_a_plugin_whose_packages_cannot_be_installed_is_not_installed(
        self, root, user, wheels, bakery, with_pip
    ):
        with_pip(user.environments)
        file = bakery / "samuel-plugin.toml"
        file.write_text(file.read_text().replace("flour>=1", "yeast"))
        store = Store(root, user)
        with pytest.raises(SamuelError, match=r"`bakery`: [^$]*No matching distribution found for yeast"):
            add(store, root, "../bakery")
        assert (store.installed(), store.locked()) == ([], {})
        assert TrustStore(user.state / "trust", trust_key(root)).load() == {}


class TestImage:
    @pytest.fixture
    def box(self, tmp_path: Path, busybox_image: str) -> Path:
        place = tmp_path / "box"
        place.mkdir()
        (place / "answer").write_text("echo '{}'\n")
        (place / "Containerfile").write_text(
            f'FROM {busybox_image}\nCOPY answer /answer\nENTRYPOINT ["sh", "/answer"]\n'
        )
        (place / "samuel-plugin.toml").write_text(
            'name = "box"\nversion = "1.0"\nkind = "oci"\n[oci]\nimage = "localhost/samuel-test-box:1"\n'
            'containerfile = "Containerfile"\n[oci.hook_handlers]\n"after:loop" = "answer"\n'
        )
        return place

    @pytest.mark.slow
    def test_the_image_of_a_plugin_is_pinned_and_agreed_to(self, root, user, box):
        store = Store(root, user)
        add(store, root, "../box")
        image = store.named("box").locked.image
        assert image.startswith("sha256:")
        assert f"runs the image {image}\n" in store.named("box").words
        assert install(store).to_agree == []

        # Another image in a lock is something to agree to, although the files are the same.
        other = f"sha256:{'0' * 64}"
        store.lock_file.write_text(store.lock_file.read_text().replace(image, other))
        with store.staging_area() as staging_area:
            assert [candidate.title for candidate in store.plan_install(staging_area).to_agree] == ["box"]
        # It is nowhere: the one that these files make is taken.
        install(store)
        assert store.named("box").locked.image == image

        # What is in the image changes with the files.
        (box / "answer").write_text("echo '{\"ok\": true}'\n")
        add(store, root, "../box", force=True)
        assert store.named("box").locked.image not in (image, other)
        subprocess.run(["podman", "rmi", "--force", "localhost/samuel-test-box:1"], capture_output=True)

    def test_a_container_plugin_without_an_engine_is_not_installed(self, root, user, box, monkeypatch, tmp_path):
        (tmp_path / "bin").mkdir()
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        with pytest.raises(SamuelError, match=r"`box`: .*podman"):
            add(Store(root, user), root, "../box")
        assert Store(root, user).installed() == []
