"""Installing, updating, removing: what is there afterwards, whatever happens in between."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from samuel.base import paths
from samuel.base.errors import ConfigError, SamuelError, UnsafePath, UsageError
from samuel.hooks.capability import Capabilities
from samuel.plugins import lock
from samuel.plugins.installed import GLOBAL, LOCAL, InstalledPlugin, agreement, content_digest
from samuel.plugins.source import parse
from samuel.plugins.store import Store
from samuel.trust.repository import trust_key
from samuel.trust.store import TrustStore

HOOK = "#!/bin/sh\ncase $1 in hook) echo after:loop ;; run) echo '{}' ;; esac\n"
AT = "2025-01-15T10:00:00.000Z"
MANIFEST = """
name = "checks"
version = "{version}"
kind = "skill"

[hooks]
"after:loop" = "hooks/run"

[capabilities]
{capabilities}
"""


def manifest(version: str = "1.0.0", capabilities: str = "") -> str:
    return MANIFEST.format(version=version, capabilities=capabilities)


class Shop:
    """A store, and its commands as they are given: plan, agree, do."""

    def __init__(self, root: Path, user: paths.User, location: str = LOCAL) -> None:
        self.store = Store(root, user, location)
        self.root = root
        self.trust = TrustStore(user.state / "trust", trust_key(root))

    def add(self, *sources: str, **options: object) -> list[str]:
        with self.store.staging_area() as staging_area:
            plan = self.store.plan_add(staging_area, [parse(source, self.root) for source in sources], **options)
            return [plugin.title for plugin in self.store.commit(plan, AT)]

    def install(self) -> list[str]:
        with self.store.staging_area() as staging_area:
            return [plugin.title for plugin in self.store.commit(self.store.plan_install(staging_area), AT)]

    def update(self, name: str = "") -> list[str]:
        with self.store.staging_area() as staging_area:
            return [plugin.title for plugin in self.store.commit(self.store.plan_update(staging_area, name), AT)]

    def titles_to_agree(self, plan: str, *rest: object) -> list[str]:
        """The titles that a plan asks about."""
        with self.store.staging_area() as staging_area:
            return [candidate.title for candidate in getattr(self.store, plan)(staging_area, *rest).to_agree]

    @property
    def names(self) -> list[str]:
        return sorted(os.listdir(self.store.plugins))

    def is_agreed(self, plugin: InstalledPlugin) -> bool:
        known_agreement = self.trust.load().get(plugin.agreement)
        return known_agreement is not None and known_agreement.covers(agreement(plugin).digest)


@pytest.fixture
def shop(root: Path, user: paths.User) -> Shop:
    return Shop(root, user)


class TestAdd:
    def test_a_plugin_is_added_from_git(self, shop, origin):
        commit = origin("org/repo").push({"hooks/run": HOOK, "hooks/helper.txt": "x"}, tag="v1")
        assert shop.add("org/repo@v1") == ["org/repo"]
        (plugin,) = shop.store.installed()
        assert (plugin.directory, plugin.name, plugin.problems) == (
            shop.store.plugins / "org@repo",
            "org/repo",
            (),
        )
        assert sorted(os.listdir(plugin.directory / "hooks")) == ["helper.txt", "run"]
        assert plugin.locked == lock.LockedPlugin(
            name="org/repo",
            source="https://github.com/org/repo.git",
            ref="v1",
            commit=commit,
            digest=content_digest(plugin.directory),
        )
        assert shop.is_agreed(plugin)
        assert shop.names == [".lock", "org@repo"]

    def test_a_plugin_is_added_from_a_directory(self, shop, root):
        place = root / "tools/mine"
        (place / "hooks").mkdir(parents=True)
        (place / "hooks/run").write_text(HOOK)
        (place / "hooks/run").chmod(0o755)
        (place / "samuel-plugin.toml").write_text(manifest())
        assert shop.add("./tools/mine") == ["checks"]
        (plugin,) = shop.store.installed()
        assert plugin.locked.source == "./tools/mine"
        assert (plugin.directory.name, plugin.locked.commit) == ("checks", "")

    def test_a_linked_plugin_is_added(self, shop, root, tmp_path):
        place = tmp_path / "mine"
        (place / "hooks").mkdir(parents=True)
        (place / "hooks/run").write_text(HOOK)
        (place / "hooks/run").chmod(0o755)
        shop.add("../mine", link=True)
        (plugin,) = shop.store.installed()
        assert plugin.linked == str(place)
        assert plugin.locked == lock.LockedPlugin(name="mine", source="../mine", link=True)
        (place / "hooks/run").write_text(HOOK + "# changed\n")
        assert shop.is_agreed(plugin)  # to the place, whatever is in it
        shop.store.remove("mine")
        assert (place / "hooks/run").exists()
        assert not os.path.lexists(plugin.directory)

    def test_only_directories_can_be_linked(self, shop, origin):
        origin("org/repo", {"hooks/run": HOOK})
        with pytest.raises(UsageError, match="cannot be linked"):
            shop.add("org/repo", link=True)

    def test_a_plugin_is_added_for_the_user(self, root, user, origin):
        origin("org/repo", {"hooks/run": HOOK})
        shop = Shop(root, user, GLOBAL)
        shop.add("org/repo")
        assert (user.home / ".samuel/plugins/org@repo/hooks/run").exists()
        assert list(lock.read(user.lock)) == ["org/repo"]
        assert shop.trust.load() == {}  # only the user can have put it there
        assert os.listdir(root) == []

    def test_adding_a_plugin_twice_needs_force(self, shop, origin):
        repository = origin("org/repo", {"hooks/run": HOOK})
        shop.add("org/repo")
        repository.push({"hooks/more": HOOK})
        with pytest.raises(SamuelError, match="`org/repo` is installed already"):
            shop.add("org/repo")
        assert not (shop.store.plugins / "org@repo/hooks/more").exists()
        shop.add("org/repo", force=True)
        assert (shop.store.plugins / "org@repo/hooks/more").exists()
        assert shop.names == [".lock", "org@repo"]

    def test_two_plugins_of_one_name_are_refused(self, shop, origin):
        for name in ("org/a", "fork/a"):
            origin(name, {"hooks/run": HOOK, "samuel-plugin.toml": manifest()})
        shop.add("org/a")
        with pytest.raises(SamuelError, match="`org/a` is called `checks` as well"):
            shop.add("fork/a", force=True)
        shop.store.remove("org/a")
        with pytest.raises(SamuelError, match="`org/a` is called `checks` as well"):
            shop.add("org/a", "fork/a")
        assert shop.names == [".lock"]

    def test_two_plugins_whose_names_differ_by_case_are_refused(self, shop, origin):
        origin("org/repo", {"hooks/run": HOOK})
        origin("Org/Repo", {"hooks/run": HOOK})
        shop.add("org/repo")
        with pytest.raises(SamuelError, match="as well"):
            shop.add("Org/Repo")

    @pytest.mark.parametrize(
        "files",
        [
            {"README.md": "nothing"},
            {"hooks/run": "not executable"},
            {"hooks/run": HOOK, "samuel-plugin.toml": "name = 1\n"},
            {"hooks/run": HOOK, "samuel-plugin.toml": manifest(version="one")},
            {"hooks/run": HOOK, "link": Path("../../../../home")},
            {"hooks/run": HOOK, "link": Path("/etc/passwd")},
            {"hooks/run": HOOK, "d/e/link": Path("../.."), "d/e/out": Path("link/..")},
            {"hooks/run": HOOK, "link": Path("nowhere")},
            {"hooks/run": HOOK, "link": Path("hooks")},
        ],
    )
    def test_a_refused_plugin_leaves_no_files(self, shop, origin, files):
        origin("org/repo", files)
        with pytest.raises(ConfigError) as refused:
            shop.add("org/repo")
        assert all(problem.file.startswith("org/repo") for problem in refused.value.problems)
        assert shop.names == [".lock"]
        assert not shop.store.lock_file.exists()
        assert shop.trust.load() == {}

    def test_links_inside_a_plugin_are_installed(self, shop, origin):
        origin("org/repo", {"hooks/run": HOOK, "hooks/too": Path("run"), "deep/er/link": Path("../../hooks/run")})
        shop.add("org/repo")
        (plugin,) = shop.store.installed()
        assert (plugin.directory / "deep/er/link").read_text() == HOOK
        assert shop.is_agreed(plugin)
        (plugin.directory / "hooks/run").write_text("other")
        assert not shop.is_agreed(plugin)

    def test_a_failed_replacement_leaves_the_old_plugin(self, shop, origin):
        repository = origin("org/repo", {"hooks/run": HOOK})
        shop.add("org/repo")
        before, digest = shop.store.locked(), content_digest(shop.store.plugins / "org@repo")
        repository.push({"samuel-plugin.toml": "name ="})
        with pytest.raises(ConfigError):
            shop.add("org/repo", force=True)
        assert (shop.store.locked(), content_digest(shop.store.plugins / "org@repo")) == (before, digest)
        assert shop.is_agreed(shop.store.named("org/repo"))
        assert shop.names == [".lock", "org@repo"]

    def test_of_several_plugins_all_or_none_are_installed(self, shop, origin):
        origin("org/good", {"hooks/run": HOOK})
        with pytest.raises(SamuelError):
            shop.add("org/good", "org/missing")
        assert shop.names == [".lock"]

    def test_the_directory_of_the_plugins_cannot_be_added_to_itself(self, shop, root):
        (root / "hooks").mkdir()
        (root / "hooks/run").write_text(HOOK)
        for text in (".", "./.samuel", "../project"):
            (root / ".samuel").mkdir(exist_ok=True)
            with pytest.raises(UsageError, match="holds the installed plugins"):
                shop.add(text)

    def test_a_plugins_directory_that_is_a_link_is_refused(self, root, user, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        (root / ".samuel").mkdir()
        (root / ".samuel/plugins").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UnsafePath):
            Shop(root, user)

    def test_grants_are_for_plugins_without_a_manifest(self, shop, origin):
        origin("org/plain", {"hooks/run": HOOK})
        origin("org/checks", {"hooks/run": HOOK, "samuel-plugin.toml": manifest(capabilities="exec = true")})
        wide = Capabilities(network=True, write=("docs/",))
        with pytest.raises(UsageError, match="asks in its manifest"):
            shop.add("org/checks", grants=wide)
        shop.add("org/plain", "org/checks", grants=wide)
        plain, checks = shop.store.named("org/plain"), shop.store.named("checks")
        assert (plain.grants, plain.locked.capabilities) == (wide, wide)
        assert checks.grants == checks.locked.capabilities == Capabilities(exec=True)
        assert (plain.problems, checks.problems) == ((), ())

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (None, "plugins/\n"),
            ("run/\n", "run/\nplugins/\n"),
            ("run/", "run/\nplugins/\n"),
            ("plugins/\n", "plugins/\n"),
            ("*\n", "*\n"),
        ],
    )
    def test_installed_plugins_are_ignored_in_git(self, shop, origin, root, before, after):
        origin("org/repo", {"hooks/run": HOOK})
        (root / ".samuel").mkdir()
        if before is not None:
            (root / ".samuel/.gitignore").write_text(before)
        shop.add("org/repo")
        shop.add("org/repo", force=True)
        assert (root / ".samuel/.gitignore").read_text() == after


class TestInstall:
    @pytest.fixture
    def clone(self, shop, origin, tmp_path, user) -> Shop:
        """A second clone of a project with a lock, on a machine where nothing was agreed to."""
        repository = origin("org/repo", {"hooks/run": HOOK, "samuel-plugin.toml": manifest()})
        shop.add("org/repo")
        repository.push({"hooks/run": HOOK + "# newer\n"})
        root = tmp_path / "clone"
        root.mkdir()
        (root / "samuel.lock").write_bytes(shop.store.lock_file.read_bytes())
        return Shop(root, user)

    def test_install_takes_exactly_what_is_locked(self, shop, clone):
        assert clone.titles_to_agree("plan_install") == ["org/repo"]
        assert clone.install() == ["org/repo"]
        assert content_digest(clone.store.plugins / "org@repo") == content_digest(shop.store.plugins / "org@repo")
        assert clone.store.lock_file.read_bytes() == shop.store.lock_file.read_bytes()
        assert clone.is_agreed(clone.store.named("org/repo"))
        assert clone.titles_to_agree("plan_install") == []
        assert clone.install() == []

    def test_install_restores_a_changed_plugin(self, clone):
        clone.install()
        hook = clone.store.plugins / "org@repo/hooks/run"
        hook.write_text("#!/bin/sh\nevil\n")
        assert not clone.is_agreed(clone.store.named("org/repo"))
        assert clone.install() == ["org/repo"]
        assert hook.read_text() == HOOK

    def test_install_refuses_content_with_another_digest(self, clone):
        entries = clone.store.locked()
        text = clone.store.lock_file.read_text().replace(entries["org/repo"].digest, "0" * 64)
        clone.store.lock_file.write_text(text)
        with pytest.raises(SamuelError, match="is not what samuel"):
            clone.install()
        assert clone.names == [".lock"]
        assert clone.trust.load() == {}

    def test_install_refuses_a_plugin_that_asks_for_more_than_the_lock_grants(self, clone, origin):
        origin("org/more", {"hooks/run": HOOK, "samuel-plugin.toml": manifest(capabilities="network = true")})
        clone.store.remove("org/repo")
        clone.add("org/more")
        text = clone.store.lock_file.read_text()
        clone.store.remove("org/more")
        clone.store.lock_file.write_text(text.replace("{network = true}", "{}"))
        with pytest.raises(ConfigError, match="it asks for more than samuel"):
            clone.install()

    def test_a_plugin_that_came_with_a_clone_must_be_agreed_to(self, shop, clone, origin):
        """All of it: the plugin, where it would be, and a lock that says it is right."""
        (clone.root / ".samuel").mkdir()
        subprocess.run(["cp", "-r", shop.store.plugins, clone.root / ".samuel"], check=True)
        assert not clone.is_agreed(clone.store.named("org/repo"))
        assert clone.titles_to_agree("plan_install") == ["org/repo"]
        assert clone.titles_to_agree("plan_update") == ["org/repo"]

    def test_install_leaves_plugins_that_are_not_locked(self, clone, origin):
        (clone.root / ".samuel/plugins/own/skills/x").mkdir(parents=True)
        (clone.root / ".samuel/plugins/own/skills/x/SKILL.md").write_text("x")
        with clone.store.staging_area() as staging_area:
            assert clone.store.plan_install(staging_area).unlocked == ("own",)
        clone.install()
        assert clone.names == [".lock", "org@repo", "own"]

    @pytest.mark.parametrize("name", ["../../outside", "a/b/c", ".hidden", "default"])
    def test_a_hostile_name_in_samuel_lock_is_refused(self, clone, tmp_path, name):
        clone.store.lock_file.write_text(clone.store.lock_file.read_text().replace('"org/repo"', f'"{name}"'))
        with pytest.raises(UsageError):
            clone.install()
        assert clone.names == [".lock"]

    def test_install_restores_linked_plugins_and_directories(self, shop, root, tmp_path, user):
        for name in ("linked", "copied"):
            (tmp_path / name / "skills/x").mkdir(parents=True)
            (tmp_path / name / "skills/x/SKILL.md").write_text(name)
        shop.add("../linked", link=True)
        shop.add("../copied")
        clone = tmp_path / "clone"
        clone.mkdir()
        (clone / "samuel.lock").write_bytes(shop.store.lock_file.read_bytes())
        other = Shop(clone, user)
        assert other.install() == ["copied", "linked"]
        assert other.install() == []
        assert [bool(plugin.linked) for plugin in other.store.installed()] == [False, True]


class TestUpdate:
    def test_update_without_changes_plans_nothing(self, shop, origin):
        origin("org/repo", {"hooks/run": HOOK})
        shop.add("org/repo")
        with shop.store.staging_area() as staging_area:
            plan = shop.store.plan_update(staging_area)
        assert (plan.candidates, [candidate.title for candidate in plan.unchanged]) == ((), ["org/repo"])

    def test_update_asks_about_new_content(self, shop, origin):
        repository = origin("org/repo", {"hooks/run": HOOK, "samuel-plugin.toml": manifest()})
        shop.add("org/repo@main")
        commit = repository.push({"samuel-plugin.toml": manifest("1.1.0")})
        assert shop.titles_to_agree("plan_update", "checks") == ["org/repo"]
        assert shop.update("org@repo") == ["org/repo"]
        plugin = shop.store.named("checks")
        assert (plugin.manifest.version, plugin.locked.commit, plugin.locked.ref) == ("1.1.0", commit, "main")
        assert shop.is_agreed(plugin)

        repository.push({"samuel-plugin.toml": manifest("2.0.0", 'exec = true\n"filesystem.write" = ["docs/"]')})
        with shop.store.staging_area() as staging_area:
            (candidate,) = shop.store.plan_update(staging_area).to_agree
            assert candidate.news == ["filesystem.write: docs/", "exec: yes"]
        shop.update()
        assert shop.store.named("checks").grants == Capabilities(exec=True, write=("docs/",))

    def test_update_of_a_tag_stays_at_the_tag(self, shop, origin):
        repository = origin("org/repo", {"hooks/run": HOOK}, tag="v1")
        shop.add("org/repo@v1")
        repository.push({"hooks/more": HOOK})
        assert shop.update() == []

    def test_update_leaves_a_linked_plugin(self, shop, tmp_path):
        (tmp_path / "mine/skills/x").mkdir(parents=True)
        (tmp_path / "mine/skills/x/SKILL.md").write_text("x")
        shop.add("../mine", link=True)
        assert shop.update() == []

    def test_update_of_a_plugin_without_a_locked_source_is_refused(self, shop, root):
        (root / ".samuel/plugins/own/skills/x").mkdir(parents=True)
        with pytest.raises(UsageError, match="does not say where `own` came from"):
            shop.update("own")
        assert shop.update() == []


class TestRemove:
    @pytest.mark.parametrize("name", ["org/repo", "org@repo", "checks"])
    def test_a_plugin_is_removed_by_any_of_its_names(self, shop, origin, name, root):
        origin("org/repo", {"hooks/run": HOOK, "samuel-plugin.toml": manifest()})
        shop.add("org/repo")
        data = paths.Project(root).data_dir("checks")
        data.mkdir(parents=True)
        shop.store.remove(name)
        assert shop.names == [".lock"]
        assert (shop.store.locked(), shop.trust.load()) == ({}, {})
        assert data.exists()

    @pytest.mark.parametrize(
        "name", ["", ".", "..", "../..", "a/b/c", "/", "org", "repo", ".lock", "org@repo/hooks"]
    )
    def test_removing_an_unknown_plugin_is_refused(self, shop, origin, name):
        origin("org/repo", {"hooks/run": HOOK})
        shop.add("org/repo")
        with pytest.raises(UsageError):
            shop.store.remove(name)
        assert shop.names == [".lock", "org@repo"]

    def test_a_plugin_that_is_only_in_samuel_lock_can_be_removed(self, shop, origin):
        origin("org/repo", {"hooks/run": HOOK})
        shop.add("org/repo")
        subprocess.run(["rm", "-r", shop.store.plugins / "org@repo"], check=True)
        (plugin,) = shop.store.all_plugins()
        assert [problem.what for problem in plugin.problems] == ["it is not installed"]
        shop.store.remove("org/repo")
        assert shop.store.locked() == {}

    def test_a_plugin_of_kodelet_can_be_removed(self, shop, root):
        (root / ".kodelet/plugins/org@repo/skills/x").mkdir(parents=True)
        shop.store.remove("org/repo")
        assert os.listdir(root / ".kodelet/plugins") == []


# For each number that it is given, a process that kills itself with SIGKILL at that step of an `add`: the first,
# second, ... thing that it asks of the file system.
SUICIDE = """
import os, signal, sys
from pathlib import Path
from samuel.base import paths
from samuel.plugins.source import parse
from samuel.plugins.store import Store

root, source = Path(sys.argv[1]), sys.argv[2]
store = Store(root, paths.User.from_environment())
STEPS = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "shutil.rmtree")

def add(left):
    def watch(event, arguments):
        nonlocal left
        if event in STEPS:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    with store.staging_area() as staging_area:
        store.commit(store.plan_add(staging_area, [parse(source, root)], force=True), "now")
    os._exit(0)

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        add(int(line))
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class TestKilled:
    @pytest.fixture
    def place(self, tmp_path: Path) -> Callable[[str], None]:
        """The plugin in a directory, in one version or another."""

        def write(version: str) -> None:
            for name in ("a", "b"):
                file = tmp_path / "mine/skills" / name / "SKILL.md"
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(version)

        write("old")
        return write

    @pytest.fixture
    def add_until(self, root: Path) -> Iterator[Callable[[int], int]]:
        """An `add` that is killed at a step; gives how it ended."""
        command = [sys.executable, "-c", SUICIDE, root, "../mine"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

            def ask(step: int) -> int:
                process.stdin.write(f"{step}\n")
                process.stdin.flush()
                return int(process.stdout.readline())

            yield ask
            process.stdin.close()

    @pytest.mark.slow
    @pytest.mark.parametrize("installed", [True, False])
    def test_an_add_killed_at_any_step_is_finished_or_undone(self, shop, place, add_until, installed: bool):
        """The old one or the new one, whole, agreed to and as the lock says; and no traces."""
        if installed:
            shop.add("../mine")
        place("new")
        versions_seen, step, code = set(), 0, -9
        while code != 0:
            step += 1
            code = add_until(step)
            assert code in (0, -9)
            with shop.store.staging_area():
                pass  # the next command
            versions_seen |= (versions := self.look(shop, empty=not installed))
            if versions == {"new"} and installed:  # back, for the next step
                place("old")
                shop.add("../mine", force=True)
                place("new")
            elif versions == {"new"}:
                shop.store.remove("mine")
        assert versions_seen == ({"old", "new"} if installed else {"new"})
        assert step > 10

    def look(self, shop: Shop, empty: bool) -> set[str]:
        """What is there: one version, whole; or, where there was none before, nothing at all."""
        if empty and shop.names == [".lock"]:
            assert shop.store.locked() == {}
            return set()
        (plugin,) = shop.store.all_plugins()
        assert plugin.problems == ()
        content = [file.read_text() for file in plugin.directory.glob("skills/*/SKILL.md")]
        assert content in (["old"] * 2, ["new"] * 2)
        assert plugin.locked.digest == content_digest(plugin.directory)
        assert shop.is_agreed(plugin)
        assert shop.names == [".lock", "mine"]
        return {*content}

    def test_the_staging_directory_of_a_running_command_is_left_alone(self, shop, place):
        with shop.store.staging_area() as first, shop.store.staging_area() as other:
            assert first.directory.is_dir()
            assert other.directory.is_dir()
            assert first.directory != other.directory
        assert shop.names == [".lock"]

    def test_planted_staging_directories_cannot_write_outside(self, shop, root, tmp_path, origin):
        """A clone may bring one, with links that lead elsewhere and a decision that was never taken."""
        outside = tmp_path / "outside"
        (outside / "precious").mkdir(parents=True)
        plugins = root / ".samuel/plugins"
        for name in (".staging-a", ".staging-b"):
            (plugins / name).mkdir(parents=True)
        (plugins / ".staging-a/new").symlink_to(outside)
        (plugins / ".staging-a/old").symlink_to(outside)
        (plugins / ".staging-a/samuel.lock").write_text(
            'version = 1\n[[plugin]]\nname = "precious"\nsource = "x/y"\n'
        )
        for part in ("new", "old"):
            (plugins / ".staging-b" / part).mkdir()
        (plugins / ".staging-b/samuel.lock").write_text(
            'version = 1\n[[plugin]]\nname = "../../x"\nsource = "x/y"\n'
        )
        (plugins / ".staging-c").symlink_to(outside)
        origin("org/repo", {"hooks/run": HOOK})
        shop.add("org/repo")
        assert os.listdir(outside) == ["precious"]
        assert shop.names == [".lock", ".staging-c", "org@repo"]
        assert list(shop.store.locked()) == ["org/repo"]
        assert list(shop.trust.load()) == ["plugin:org@repo"]


@pytest.mark.slow
def test_many_adds_at_once_succeed(shop, root, origin):
    """Eight processes: four plugins, and one that five of them want."""
    for number in range(4):
        origin(f"org/p{number}", {"hooks/run": HOOK})
    sources = ["org/p0", "org/p1", "org/p2", "org/p3", "org/p0", "org/p0", "org/p0", "org/p0"]
    command = [sys.executable, "-m", "samuel", "plugin", "add", "--yes"]
    running = [
        subprocess.Popen([*command, source], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for source in sources
    ]
    endings = [(process.communicate(), process.returncode) for process in running]
    assert sorted(code for _, code in endings) == [0, 0, 0, 0, 1, 1, 1, 1], endings
    assert [err for (_, err), code in endings if code and "`org/p0` is installed already" not in err] == []
    assert shop.names == [".lock", "org@p0", "org@p1", "org@p2", "org@p3"]
    assert list(shop.store.locked()) == ["org/p0", "org/p1", "org/p2", "org/p3"]
    assert all(shop.is_agreed(plugin) for plugin in shop.store.installed())
    assert all(plugin.locked.digest == content_digest(plugin.directory) for plugin in shop.store.installed())
