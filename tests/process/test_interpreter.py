from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from samuel.base.decoding import msgpack_decoder
from samuel.files import file_cache
from samuel.process import shim
from samuel.process.interpreter import PRELUDE, command
from samuel.process.reason import NotRunnable
from samuel.process.spawn import Finished, run

PYTHON = f"#!{sys.executable}\n"
Hook = Callable[..., Path]


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    def write(content: str | bytes, name: str = "hook", mode: int = 0o755) -> Path:
        file = tmp_path / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        file.chmod(mode)
        return file

    return write


def ask(file: Path, *args: str, path: str = "/usr/bin:/bin", pycache: str = "") -> list[str]:
    return command(file, *args, path=path, pycache=pycache)


def refused(file: Path, path: str = "/usr/bin:/bin") -> str:
    with pytest.raises(NotRunnable) as caught:
        command(file, path=path, pycache="")
    return caught.value.message.replace(str(file), "FILE")


class TestTheCommand:
    def test_shell_script_is_started_by_its_shebang(self, hook: Hook) -> None:
        file = hook("#!/bin/sh\n")
        assert ask(file, "a", "b") == ["/bin/sh", str(file), "a", "b"]

    def test_the_rest_of_the_line_is_one_argument(self, hook: Hook) -> None:
        file = hook("#! /bin/sh \t-e -u \n")
        assert ask(file) == ["/bin/sh", "-e -u", str(file)]

    def test_env_looks_on_the_path_given(self, hook: Hook, tmp_path: Path) -> None:
        tool = hook("#!/bin/sh\n", name="tool")
        hook("", name="dir-first").unlink()
        file = hook("#!/usr/bin/env tool\n")
        assert ask(file, path=f"relative::/no/where:{tool.parent}") == [str(tool), str(file)]

    @pytest.mark.parametrize("line", ["-S sh -e 'a b'", "-Ssh -e 'a b'", "sh -e 'a b'"])
    def test_env_shebang_may_have_flags(self, hook: Hook, line: str) -> None:
        file = hook(f"#!/usr/bin/env {line}\n")
        assert ask(file, path="/bin") == ["/bin/sh", "-e", "a b", str(file)]

    @pytest.mark.parametrize("line", ["-i sh", "-S A=1 sh", ""])
    def test_env_with_more_than_that_is_left_to_env(self, hook: Hook, line: str) -> None:
        file = hook(f"#!/usr/bin/env {line}\n")
        assert ask(file) == [str(file)]

    def test_a_binary_runs_itself(self, hook: Hook) -> None:
        file = hook(Path("/bin/true").read_bytes())
        assert ask(file, "x") == [str(file), "x"]

    def test_a_relative_file_becomes_absolute(self, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
        file = hook("#!/bin/sh\n")
        monkeypatch.chdir(file.parent)
        assert ask(Path("hook")) == ["/bin/sh", str(file)]

    def test_python_script_is_started_with_the_prelude(self, hook: Hook) -> None:
        file = hook(f"#!{sys.executable} -I -u\n")
        start = [sys.executable, "-I", "-u", "-X", "pycache_prefix=/c", "-c", PRELUDE, str(file), "x"]
        assert ask(file, "x", pycache="/c") == start
        assert ask(hook(f"#!{sys.executable} -m json.tool\n", name="tool"))[1:3] == ["-m", "json.tool"]

    def test_windows_line_ends_are_fine_where_the_interpreter_can_read_them(
        self, hook: Hook, env: dict[str, str]
    ) -> None:
        argv = ask(hook(PYTHON.replace("\n", "\r\n") + "print(1)\r\n"))
        assert run(argv, cwd="/", env=env).stdout == b"1\n"

    def test_interpreter_is_looked_for_on_the_path_each_time(self, hook: Hook, tmp_path: Path) -> None:
        file = hook("#!/usr/bin/env tool\n")
        first, second = tmp_path / "first/tool", tmp_path / "second/tool"
        path = f"{first.parent}:{second.parent}"
        for tool in (second, first):  # one that is earlier on the path appears
            tool.parent.mkdir()
            tool.write_text("#!/bin/sh\n")
            tool.chmod(0o755)
            assert ask(file, path=path) == [str(tool), str(file)]
        first.unlink()
        assert ask(file, path=path) == [str(second), str(file)]
        second.unlink()
        assert refused(file, path=path) == f"`FILE` needs `tool`, which was not found on PATH ({path})"

    def test_interpreter_that_is_gone_is_refused_also_after_it_was_used(self, hook: Hook) -> None:
        tool = hook("#!/bin/sh\n", name="tool")
        file = hook(f"#!{tool}\n")
        assert ask(file) == [str(tool), str(file)]
        tool.unlink()
        assert refused(file) == f"`FILE` names the interpreter `{tool}`, which does not exist"

    def test_shebang_line_is_read_again_when_the_file_changes(self, hook: Hook) -> None:
        file = hook("#!/bin/sh\n")
        assert ask(file, "x") == ["/bin/sh", str(file), "x"]
        hook("#!/bin/cat\n")
        assert ask(file) == ["/bin/cat", str(file)]
        file.chmod(0o644)
        assert "is not executable" in refused(file)


class TestNotRunnable:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            ("", "`FILE` is empty"),
            ("echo 1\n", "`FILE` has no shebang line; begin it with one like `#!/usr/bin/env python3`"),
            ("#!\n", "`FILE` has a shebang line that names no interpreter"),
            ("#!/no/such/sh\n", "`FILE` names the interpreter `/no/such/sh`, which does not exist"),
            ("#!/tmp\n", "`FILE` names the interpreter `/tmp`, which cannot be run"),
            (
                "#!python3\n",
                "`FILE` names its interpreter `python3` by a relative path; use `#!/usr/bin/env …`",
            ),
            (
                "#!/usr/bin/env no-such-thing\n",
                "`FILE` needs `no-such-thing`, which was not found on PATH (/usr/bin:/bin)",
            ),
            (
                "#!/usr/bin/env -S sh 'a\n",
                "`FILE` has a shebang line that cannot be read: No closing quotation",
            ),
            (
                "#!/bin/sh\r\necho\r\n",
                "`FILE` has Windows line ends (CRLF), which `sh` cannot read; save it with LF",
            ),
            ("\ufeff#!/bin/sh\n", "`FILE` begins with a byte order mark; save it as UTF-8 without BOM"),
        ],
    )
    def test_file_that_cannot_run_is_refused_with_the_reason(self, hook: Hook, content: str, why: str) -> None:
        assert refused(hook(content)) == why

    def test_file_without_the_execute_bit_is_refused(self, hook: Hook) -> None:
        assert refused(hook("#!/bin/sh\n", mode=0o644)) == "`FILE` is not executable; `chmod +x FILE`"

    def test_missing_file_is_refused(self, tmp_path: Path) -> None:
        assert refused(tmp_path / "gone") == "`FILE` does not exist"
        assert refused(tmp_path) == "`FILE` is a directory"
        (tmp_path / "link").symlink_to("gone")
        assert refused(tmp_path / "link") == "`FILE` is a link to something that does not exist"
        os.mkfifo(tmp_path / "pipe")
        assert refused(tmp_path / "pipe") == "`FILE` is not a regular file"


class TestPythonHooks:
    @pytest.fixture
    def say(self, hook: Hook, env: dict[str, str]) -> Callable[..., Finished]:
        def say(code: str, *args: str, stdin: bytes = b"") -> Finished:
            file = hook(PYTHON + code)
            pycache = str(file.parent.parent / "cache")
            return run(ask(file, *args, pycache=pycache), cwd=str(file.parent), env=env, stdin=stdin, timeout=300)

        return say

    def test_file_beside_a_python_hook_does_not_shadow_the_standard_library(
        self, say: Callable[..., Finished], hook: Hook
    ) -> None:
        hook("raise SystemExit('shadowed')", name="json.py")
        hook("raise SystemExit('shadowed')", name="importlib.py")
        hook("VALUE = 7", name="helper.py")
        done = say("import json, helper, sys; print(json.dumps([helper.VALUE, '' in sys.path]))")
        assert (done.stdout, done.stderr) == (b"[7, false]\n", b"")
        assert not (hook("", name="x").parent / "__pycache__").exists()

    def test_python_hook_is_the_main_program(self, say: Callable[..., Finished]) -> None:
        code = """
import sys
if __name__ == "__main__":
    print(sys.argv[1:], sys.argv[0] == __file__, __file__.endswith("/hooks/hook"), sys.stdin.read())
"""
        assert say(code, "a", "-b", stdin=b"in").stdout == b"['a', '-b'] True True in\n"

    def test_python_hook_finds_the_global_names_of_a_script(
        self, say: Callable[..., Finished], hook: Hook, env: dict[str, str]
    ) -> None:
        code = "print(sorted(set(globals()) - {'__cached__', '__annotations__'}))"
        plain = run([sys.executable, str(hook(code, name="plain"))], cwd="/", env=env, timeout=300)
        assert say(code).stdout == plain.stdout

    def test_python_hook_can_inspect_its_own_source(self, say: Callable[..., Finished]) -> None:
        code = """
from __future__ import annotations
import dataclasses, inspect, pickle, typing

@dataclasses.dataclass
class Point:
    x: int
    y: Other = None

class Other: pass

def double(n): return 2 * n

assert pickle.loads(pickle.dumps(Point(3))) == Point(3)
assert pickle.loads(pickle.dumps(double)) is double
assert typing.get_type_hints(Point) == {"x": int, "y": Other}
assert inspect.getsource(double) == "def double(n): return 2 * n\\n"
assert inspect.getsource(Other) == "class Other: pass\\n"
print("fine")
"""
        done = say(code)
        assert (done.stdout, done.stderr) == (b"fine\n", b"")

    @pytest.mark.slow
    def test_multiprocessing_works_in_a_python_hook(self, say: Callable[..., Finished]) -> None:
        code = """
import multiprocessing
def double(n): return 2 * n
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [21]))
"""
        done = say(code)
        assert (done.stdout, done.stderr) == (b"[42]\n", b"")

    def test_a_traceback_names_the_file_and_shows_the_line(self, say: Callable[..., Finished]) -> None:
        done = say("def broken():\n    return 1 / 0  # here\nbroken()\n")
        assert done.returncode == 1
        assert b'/hooks/hook", line 3, in broken\n    return 1 / 0  # here\n' in done.stderr
        assert b"ZeroDivisionError" in done.stderr

    def test_a_syntax_error_names_the_file_and_shows_the_line(self, say: Callable[..., Finished]) -> None:
        done = say("if True print(1)\n")
        assert b'/hooks/hook", line 2\n    if True print(1)\n' in done.stderr

    def test_future_flags_do_not_leak_into_a_python_hook(self, say: Callable[..., Finished]) -> None:
        assert say("def f(x: 1 + 1): pass\nprint(f.__annotations__)").stdout == b"{'x': 2}\n"

    def test_python_hook_may_declare_its_encoding(self, hook: Hook, env: dict[str, str]) -> None:
        source = PYTHON + "# coding: latin-1\nprint(ascii('ä'))\n"
        argv = ask(hook(source.encode("latin-1")))
        assert run(argv, cwd="/", env=env, timeout=300).stdout == b"'\\xe4'\n"

    def test_helpers_are_beside_the_real_file(self, hook: Hook, env: dict[str, str], tmp_path: Path) -> None:
        hook("VALUE = 8", name="aside.py")
        link = tmp_path / "link"
        link.symlink_to(hook(PYTHON + "import aside; print(aside.VALUE)"))
        assert run(ask(link), cwd="/", env=env, timeout=300).stdout == b"8\n"

    @pytest.mark.parametrize("flag", ["-I", "-P", "-E", "-S", "-OO"])
    def test_flags_of_the_shebang_line_hold(self, hook: Hook, env: dict[str, str], flag: str) -> None:
        hook("VALUE = 9", name="helper.py")
        file = hook(f"#!{sys.executable} {flag}\nimport helper; print(helper.VALUE)")
        done = run(ask(file), cwd=str(file.parent), env=env, timeout=300)
        assert (done.stdout, done.stderr) == (b"9\n", b"")


class TestAShim:
    @pytest.fixture
    def count(self, hook: Hook) -> Callable[[], int]:
        script = f'#!/bin/sh\necho >> "$0.calls"\nexec {sys.executable} "$@"\n'
        self.shim = hook(script, name="python3")

        def count() -> int:
            calls = Path(f"{self.shim}.calls")
            return len(calls.read_text().splitlines()) if calls.exists() else 0

        return count

    def python(self, file: Path, cache_dir: Path | None) -> str:
        argv = command(file, path=f"{self.shim.parent}:/usr/bin:/bin", pycache="", cache_dir=cache_dir)
        return argv[0]

    def test_shim_is_asked_once_and_cached(self, hook: Hook, count: Callable[[], int], tmp_path: Path) -> None:
        file = hook("#!/usr/bin/env python3\n")
        assert self.python(file, tmp_path / "cache") == sys.executable
        assert self.python(file, tmp_path / "cache") == sys.executable
        shim._interpreters.clear()  # another process
        assert self.python(file, tmp_path / "cache") == sys.executable
        assert count() == 1
        cached = file_cache.load(tmp_path / "cache" / shim.CACHE, msgpack_decoder(dict[str, str])) or {}
        assert list(cached.values()) == [sys.executable]

    def test_shim_is_asked_again_when_its_answer_may_differ(
        self, hook: Hook, count: Callable[[], int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = hook("#!/usr/bin/env python3\n")
        self.python(file, None)
        monkeypatch.setenv("PYENV_VERSION", "9.9.9")
        self.python(file, None)
        (self.shim.parent.parent / "version").write_text("3.99")
        self.python(file, None)
        assert count() == 3

    def test_damaged_cache_of_interpreters_is_ignored(
        self, hook: Hook, count: Callable[[], int], tmp_path: Path
    ) -> None:
        file = hook("#!/usr/bin/env python3\n")
        for spoilt in (b"", b"[]", b"{", b"\xff", b'{"a": 1}'):
            (tmp_path / shim.CACHE).write_bytes(spoilt)
            shim._interpreters.clear()
            assert self.python(file, tmp_path) == sys.executable

    def test_shim_that_leads_nowhere_is_a_reason(self, hook: Hook) -> None:
        broken = hook("#!/bin/sh\necho 'version 9 is not installed' >&2; exit 1\n", name="python3")
        why = refused(hook("#!/usr/bin/env python3\n"), path=f"{broken.parent}:/bin")
        assert why == f"`{broken}` does not lead to a Python: version 9 is not installed"
