"""Whatever changes between two calls, the server answers as a process that is started now."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.length import at_length

from samuel.emit.serve import wire
from samuel.version import __version__

from .served_project import INSTALLATION, ServedProject, context, read_frame, yaml_hook

PYTHON_HOOK = """
import samuel

@samuel.hook("PreAbilityCall", role="guard", order={order})
def guard(event):
    return {{"messages_to_user": ["guard {order}"]}}
"""
HELPED = """
import sys, pathlib
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "lib"))
import helper
import samuel

@samuel.hook("PreAbilityCall")
def helped(event):
    return {"messages_to_user": [helper.WORD]}
"""
DENYING_GUARD = """
import samuel

@samuel.hook("PreAbilityCall", role="guard")
def mine(event):
    return {"decision": "deny", "reason": "my guard says no"}
"""
FILTER, IN_CI = "match: {ability_id: [other]}\n", "environments: [ci]\n"
NUMBERS = itertools.count()
MANIFEST = '[plugin]\nname = "extra"\nversion = "1.0.0"\n'


def says(word: str) -> str:
    return f"""echo '{{"messages_to_user": ["{word}"]}}'"""


def toggle(path: Path, text: str) -> None:
    """Remove the file, or write it."""
    if path.exists():
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def toggle_link(root: Path) -> None:
    """`.samuel` becomes a link, which is refused, and a directory again."""
    place, elsewhere = root / ".samuel", root.parent / "elsewhere"
    if place.is_symlink():
        place.unlink()
        elsewhere.rename(place)
    else:
        place.rename(elsewhere)
        place.symlink_to(elsewhere)


def toggle_git(root: Path) -> None:
    if (root / ".git").exists():
        shutil.rmtree(root / ".git")
    else:
        subprocess.run(["git", "init", "-q", root], check=True, env={"PATH": os.environ["PATH"], "HOME": "/"})


def toggle_plugin(root: Path) -> None:
    place = root / ".samuel/plugins/extra"
    if place.exists():
        shutil.rmtree(place)
    else:
        toggle(place / "samuel-plugin.toml", MANIFEST)
        toggle(
            place / "hooks/extra", f"#!/bin/sh\n[ $1 = hook ] && echo PreAbilityCall && exit\n{says('plugin')}\n"
        )
        (place / "hooks/extra").chmod(0o755)


def rewrite_keeping_size_and_time(file: Path) -> None:
    """The same size and the same time: only the time of the change of its node tells."""
    own = file.stat()
    data = file.read_bytes()
    file.write_bytes(data.replace(b"one", b"two") if b"one" in data else data.replace(b"two", b"one"))
    os.utime(file, ns=(own.st_atime_ns, own.st_mtime_ns))


def toggle_execute_bit(file: Path) -> None:
    file.chmod(file.stat().st_mode ^ 0o111)


Change = Callable[[ServedProject], object]
CHANGES: dict[str, Change] = {
    "bytes of a script": lambda p: yaml_hook(p.root, "yaml", "PreAbilityCall", says(f"new {next(NUMBERS)}")),
    "bytes of a script, same size and time": lambda p: rewrite_keeping_size_and_time(p.root / "scripts/yaml.sh"),
    "a hook in Python": lambda p: toggle(p.root / ".samuel/hooks/second.py", PYTHON_HOOK.format(order=7)),
    "execute bit": lambda p: toggle_execute_bit(p.root / "scripts/yaml.sh"),
    "a hook switched off": lambda p: toggle(p.root / ".samuel/hooks/guard.py.disable", ""),
    "samuel.toml": lambda p: p.files.config(f"environment = '{('ci', 'dev')[next(NUMBERS) % 2]}'\n"),
    "a wrong samuel.toml": lambda p: p.files.config("nonsense = 1\n"),
    "an empty samuel.toml": lambda p: p.files.config(""),
    "trust": lambda p: trust(p),
    "trust withdrawn": lambda p: p.samuel("trust", "--revoke"),
    "trust's files removed": lambda p: shutil.rmtree(p.files.user.state / "trust", ignore_errors=True),
    "samuel.lock": lambda p: toggle(p.root / "samuel.lock", "version = 1\n"),
    "the user's configuration": lambda p: toggle(p.home / ".samuel/config.toml", 'environment = "ci"\n'),
    "the user's own hook": lambda p: toggle(p.home / ".samuel/hooks/own.py", PYTHON_HOOK.format(order=3)),
    "a filter": lambda p: yaml_hook(p.root, "yaml", "PreAbilityCall", says("one"), FILTER),
    "environments of a hook": lambda p: yaml_hook(p.root, "yaml", "PreAbilityCall", says("x"), IN_CI),
    "a YAML hook that is not YAML": lambda p: toggle(p.root / ".system/hooks/wrong.yaml", "id: [\n"),
    "a plugin": lambda p: toggle_plugin(p.root),
    "`.samuel` as a link": lambda p: toggle_link(p.root),
    "git": lambda p: toggle_git(p.root),
    "a project in the project": lambda p: toggle(p.root / "inner/samuel.toml", ""),
    "no samuel.toml": lambda p: toggle(p.root / "samuel.toml", ""),
    "past of the project": lambda p: shutil.rmtree(p.root / ".samuel/run", ignore_errors=True),
    "nothing": lambda p: None,
}  # fmt: skip


def trust(project: ServedProject) -> None:
    done = project.samuel("trust", "--yes")
    assert b"Traceback" not in done.err


@pytest.fixture(scope="module")
def project(
    tmp_path_factory: pytest.TempPathFactory, fast_samuel: Path, with_compiled_python: Callable[[Path], None]
) -> Iterator[ServedProject]:
    """One project for all examples: each begins where the last one ended, which is one more change."""
    project = ServedProject(tmp_path_factory.mktemp("changes"), fast_samuel, with_compiled_python)
    (project.root / "inner").mkdir()
    yaml_hook(project.root, "yaml", "PreAbilityCall", says("one"))
    project.files.python_hook("guard", PYTHON_HOOK.format(order=5))
    project.start()
    yield project
    project.close()


@pytest.mark.slow
def test_changes_are_about_what_they_say(project: ServedProject) -> None:
    """Most of them change the answer, else the property would hold for a server that never looks."""
    answers = set()
    for name in ("nothing", "bytes of a script", "trust", "a hook in Python", "trust", "a wrong samuel.toml"):
        CHANGES[name](project)
        answers.add(project.cold("PreAbilityCall", stdin=context("read")))
    assert len(answers) >= 4
    CHANGES["an empty samuel.toml"](project)


@settings(max_examples=at_length(2, 60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(CHANGES)), st.booleans(), st.sampled_from(["", "inner"])), max_size=4
    )
)
@example(
    [("bytes of a script, same size and time", True, ""), ("trust withdrawn", False, ""), ("trust", False, "")]
)
@example([("execute bit", False, ""), ("`.samuel` as a link", False, ""), ("`.samuel` as a link", False, "")])
@example([("git", False, ""), ("git", True, ""), ("a project in the project", False, "inner")])
def test_answer_after_any_change_is_that_of_a_new_process(
    project: ServedProject, changes: list[tuple[str, bool, str]]
) -> None:
    if not project.servers():  # it ended with its project's directory, or nothing was trusted
        trust(project)
        if not project.samuel("serve", "--help").code:
            restart(project)
    for name, trusted, directory in changes:
        CHANGES[name](project)
        if trusted:
            trust(project)
        more = {"stdin": context("read"), "cwd": project.root / directory}
        warm = project.warm("PreAbilityCall", **more)  # type: ignore[arg-type]
        assert (name, warm) == (name, project.cold("PreAbilityCall", **more))  # type: ignore[arg-type]


def restart(project: ServedProject) -> None:
    """Where the state of the project allows for a server."""
    place = project.root / ".samuel"
    if place.is_symlink() or not (project.root / "samuel.toml").exists():
        return
    if "nonsense" not in (project.root / "samuel.toml").read_text():
        project.start()


@pytest.mark.slow
def test_module_that_a_python_hook_imports_may_change(served: ServedProject) -> None:
    (served.root / "lib").mkdir()
    helper = served.root / "lib/helper.py"
    helper.write_text('WORD = "one"\n')
    served.files.python_hook("helped", HELPED)
    served.start()
    for word in ("one", "three"):
        helper.write_text(f'WORD = "{word}"\n')
        for _ in range(2):
            assert served.warm("PreAbilityCall", stdin=context("read")).err == f"{word}\n".encode()
    assert served.answered() == 4


@pytest.mark.slow
def test_git_init_leaves_trusted_hooks_trusted_for_the_server_and_without_it(served: ServedProject) -> None:
    served.files.python_hook("guard", PYTHON_HOOK.format(order=5))
    served.start()
    before = served.warm("PreAbilityCall", stdin=context("read"))
    toggle_git(served.root)
    for _ in range(2):
        assert served.warm("PreAbilityCall", stdin=context("read")) == before
    assert served.cold("PreAbilityCall", stdin=context("read")) == before
    assert (before.err, served.answered()) == (b"guard 5\n", 3)


UNTIL_STDIN = {
    "a guard of the user": lambda project: project.files.python_hook(
        "mine", DENYING_GUARD, where=project.home / ".samuel/hooks"
    ),
    "samuel.toml": lambda project: project.files.config("nonsense = [\n"),
    "trust": lambda project: shutil.rmtree(project.home / ".local/state/samuel/trust"),
    "the root": lambda project: (project.root / "inner/samuel.toml").touch(),
}


@pytest.mark.parametrize("what", at_length(["a guard of the user", "the root"], [*UNTIL_STDIN]))
def test_change_before_stdin_has_come_counts(served: ServedProject, what: str) -> None:
    """The client is started, and its caller takes time to write the event."""
    served.files.python_hook("guard", PYTHON_HOOK.format(order=1))
    inner = served.root / "inner"
    inner.mkdir()
    served.start()
    fields = (wire.EMIT, __version__.encode(), INSTALLATION.encode(), str(inner).encode(), served.proof())
    variables = [f"{name}={value}".encode() for name, value in served.environment.items()]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(served.socket())
        connection.sendall(wire.header(fields, [b"PreAbilityCall"], variables))
        assert read_frame(connection)[:1] == wire.ACCEPTED
        UNTIL_STDIN[what](served)
        connection.sendall(wire.data_frame(context("read")))
        answer = read_frame(connection)
        if answer[:1] == wire.COMMITTED:
            answer = read_frame(connection)
    cold = served.cold("PreAbilityCall", stdin=context("read"), cwd=inner)
    if answer[:1] != wire.COLD:  # which makes the client do just that
        assert wire.decode_answer(answer[5:])[0] == cold.code == 2


def test_place_that_cannot_be_read_leaves_no_worker_behind(served: ServedProject) -> None:
    """The project cannot be opened while a link leads to itself: each time, the one from before it is closed."""
    served.files.python_hook("guard", PYTHON_HOOK.format(order=1))
    served.start()
    assert served.warm("PreAbilityCall", stdin=context("read")).code == 0
    processes = len(served.pids())
    place = served.root / ".samuel/plugins"
    for _ in range(2):
        place.symlink_to("plugins")
        assert served.warm("PreAbilityCall", stdin=context("read")).code == 2
        place.unlink()
        assert served.warm("PreAbilityCall", stdin=context("read")).code == 0
    assert len(served.pids()) == processes
