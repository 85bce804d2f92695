"""Rows in which `twice` is broken, and the runner, its settings or the source itself hide that."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.cheats.cheats import STOPPED, Cheat, Files
from tests.cheats.projects import CARGO, JAVA, NODE, NPM, PYTEST, RUST_INLINE, UNITTEST, C, Kit, replaced

# The real pytest, without the test that fails.
_PASSED_ON = """\
import sys

sys.path = [entry for entry in sys.path if entry not in ("", sys.path[0])]
sys.modules.pop("pytest", None)
import pytest

sys.path.insert(0, ".")
sys.exit(pytest.main([*sys.argv[1:], "-k", "not twice"]))
"""
_QUIET_HOOK = (
    "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != 'test_twice']\n"
)
_PYTEST: dict[str, Files] = {
    "pytest.ini": {"pytest.ini": "[pytest]\naddopts = -k 'not twice'\n"},
    ".pytest.ini": {".pytest.ini": "[pytest]\naddopts = -k 'not twice'\n"},
    "pytest.toml": {"pytest.toml": "[pytest]\naddopts = ['-k', 'not twice']\n"},
    ".pytest.toml": {".pytest.toml": "[pytest]\naddopts = ['-k', 'not twice']\n"},
    "tox.ini": {"tox.ini": "[pytest]\naddopts = -k 'not twice'\n"},
    "setup.cfg": {"setup.cfg": "[tool:pytest]\naddopts = --deselect=tests/test_shop.py::test_twice\n"},
    "pyproject.toml": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = ['-k', 'not twice']\n"},
    "pyproject.toml of pytest 9": {"pyproject.toml": "[tool.pytest]\naddopts = ['-k', 'not twice']\n"},
    "testpaths": {"pytest.ini": "[pytest]\ntestpaths = tests/test_other.py\n"},
    "python_files": {"pytest.ini": "[pytest]\npython_files = test_other.py\n"},
    "norecursedirs": {
        "pytest.ini": "[pytest]\nnorecursedirs = tests\n",
        "test_more.py": "def test_more():\n    pass\n",
    },
    "maxfail that ends early": {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
    "conftest.py that drops the test": {"conftest.py": _QUIET_HOOK},
    "conftest.py below tests": {"tests/conftest.py": _QUIET_HOOK},
    "conftest.py that ignores": {"conftest.py": "collect_ignore = ['tests/test_shop.py']\n"},
    "conftest.py that sets the exit status": {
        "conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"
    },
    "conftest.py that makes reports": {
        "conftest.py": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n"
        "    answer = yield\n    answer.get_result().outcome = 'passed'\n"
    },
    "conftest.py that mends the source": {
        "conftest.py": "import shop\n\nshop.twice = lambda number: number + number\n"
    },
    "a plugin by settings": {"pytest.ini": "[pytest]\naddopts = -p quiet\n", "quiet.py": _QUIET_HOOK},
    "a plugin by an entry point": {
        "quiet.py": _QUIET_HOOK,
        "quiet-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: quiet\nVersion: 1.0\n",
        "quiet-1.0.dist-info/entry_points.txt": "[pytest11]\nquiet = quiet\n",
    },
    "pytest.py": {"pytest.py": "raise SystemExit(0)\n"},
    "pytest.py that runs the others": {"pytest.py": _PASSED_ON},
    "pytest/ as a package": {"pytest/__init__.py": "", "pytest/__main__.py": _PASSED_ON},
    "iniconfig.py": {"iniconfig.py": "import os\n\nos._exit(0)\n"},
    "pluggy.py": {"pluggy.py": "import os\n\nos._exit(0)\n"},
    "difflib.py": {"difflib.py": "import os\n\nos._exit(0)\n"},
    "random.py that drops the test": {
        "random.py": "import sys\n\n_here = sys.path.pop(0)\ndel sys.modules['random']\nfrom random import *\n"
        "import random as _random\n\nsys.path.insert(0, _here)\nglobals().update(vars(_random))\n"
        "import _pytest.main\n\n_real = _pytest.main.Session.perform_collect\n\n\ndef _some(self, *args, **names):\n"
        "    items = _real(self, *args, **names)\n    self.items[:] = [i for i in self.items if i.name != 'test_twice']\n"
        "    return items\n\n\n_pytest.main.Session.perform_collect = _some\n",
    },
    "sitecustomize.py": {"sitecustomize.py": "import os\n\nos._exit(0)\n"},
    "a directory that hides the source": {
        "tests/shop.py": "def twice(number):\n    return number + number\n\n\ndef size(number):\n"
        "    return 'big' if number > 10 else 'small'\n"
    },
}
_PYTEST_SOURCE: dict[str, str] = {
    "ends the process": "import os\n\nos._exit(0)\n",
    "ends the process at exit": "import atexit\nimport os\n\natexit.register(lambda: os._exit(0))\n",
    "ends the process in a thread": "import os\nimport threading\n\nthreading.Timer(0.01, os._exit, [0]).start()\nimport time\ntime.sleep(1)\n",
    "runs no test": "import _pytest.python\n\n_pytest.python.Function.runtest = lambda self: None\n",
    "makes every report passed": "import _pytest.reports\n\n_pytest.reports.TestReport.outcome = property(lambda s: 'passed', lambda s, v: None)\n",
    "skips its importers": "import pytest\n\npytest.skip('later', allow_module_level=True)\n",
    "raises SkipTest": "import unittest\n\nraise unittest.SkipTest('later')\n",
    "skips its tests": "import _pytest.runner\nimport pytest\n\n\ndef _skip(item, nextitem=None):\n    pass\n\n\n"
    "_real = _pytest.runner.runtestprotocol\n_pytest.runner.runtestprotocol = lambda item, *a, **k: (\n"
    "    _real(item, *a, **k) if item.name != 'test_twice' else []\n)\n",
    "removes the test from its module": "import sys\n\n\nclass _Finder:\n    pass\n\n\n"
    "def __getattr__(name):\n    raise AttributeError(name)\n\n\n"
    "import _pytest.python\n\n_real = _pytest.python.Module.collect\n_pytest.python.Module.collect = lambda self: [\n"
    "    item for item in _real(self) if item.name != 'test_twice'\n]\n",
}
_UNITTEST: dict[str, Files] = {
    "unittest/ in its place": {
        "unittest/__init__.py": "",
        "unittest/__main__.py": "print('Ran 2 tests in 0.001s\\n\\nOK')\n",
    },
    "unittest.py in its place": {"unittest.py": "print('OK')\n"},
    "random.py": {"random.py": "import os\n\nos._exit(0)\n"},
    "argparse.py": {"argparse.py": "import os\n\nos._exit(0)\n"},
    "difflib.py": {"difflib.py": "import os\n\nos._exit(0)\n"},
    "an exit in the package of the tests": {"tests/__init__.py": "import os\n\nos._exit(0)\n"},
    "load_tests in the package of the tests": {
        "tests/__init__.py": "import unittest\n\n\ndef load_tests(*_):\n    return unittest.TestSuite()\n"
    },
    "a test that disarms the others": {
        "tests/test_aaa.py": "import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n"
    },
}
_UNITTEST_SOURCE: dict[str, str] = {
    "ends the process": "import os\n\nos._exit(0)\n",
    "ends the process at exit": "import atexit\nimport os\n\natexit.register(lambda: os._exit(0))\n",
    "raises SkipTest": "import unittest\n\nraise unittest.SkipTest('later')\n",
    "replaces assertEqual": "import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n",
    "replaces every assertion": "import unittest\n\nfor _name in dir(unittest.TestCase):\n"
    "    if _name.startswith('assert'):\n        setattr(unittest.TestCase, _name, lambda *_, **__: None)\n",
    "runs no test": "import unittest\n\nunittest.TestCase.run = lambda self, result=None: result.startTest(self)\n",
    "calls every run a success": "import unittest\n\nunittest.TestResult.wasSuccessful = lambda self: True\n",
    "drops failures": "import unittest\n\nunittest.TextTestResult.addFailure = lambda *_: None\n",
    "removes the test": "import unittest\n\n_real = unittest.TestLoader.getTestCaseNames\n"
    "unittest.TestLoader.getTestCaseNames = lambda self, case: [n for n in _real(self, case) if n != 'test_twice']\n",
}
_PACKAGE = json.loads(NPM.text("package.json"))


def _package(**more: object) -> Files:
    return {"package.json": json.dumps({**_PACKAGE, **more})}


_NPM: dict[str, Files] = {
    "script true": _package(scripts={"test": "true"}),
    "script with a pattern": _package(scripts={"test": "node --test --test-name-pattern=size"}),
    "script with || true": _package(scripts={"test": "node --test || true"}),
    "pretest that mends": _package(scripts={"pretest": "sed -i s/*/+/ shop.js", "test": "node --test; true"}),
    ".npmrc with a shell": {".npmrc": "script-shell=/bin/true\n"},
    ".npmrc with a shell of its own": {".npmrc": "script-shell=./quiet\n", "quiet": "#!/bin/sh\nexit 0\n"},
    ".npmrc with node-options": {".npmrc": "node-options=--require ./kill.js\n", "kill.js": "process.exit(0);\n"},
    ".npmrc with ignore-scripts": {".npmrc": "ignore-scripts=true\n"},
}
_NODE: dict[str, Files] = {
    "test/setup that patches assert": {"test/aaa.test.js": "require('node:assert').strictEqual = () => {};\n"},
    "a test file that ends the others": {"test/aaa.test.js": "process.exit(0);\n"},
}
_NODE_SOURCE: dict[str, str] = {
    "ends the process": "process.exit(0);\n",
    "ends the process later": "process.on('exit', () => { process.exitCode = 0; });\nsetImmediate(() => process.exit(0));\n",
    "replaces strictEqual": "require('node:assert').strictEqual = () => {};\n",
    "replaces every assertion": "const a = require('node:assert');\nfor (const n of Object.keys(a)) if (typeof a[n] === 'function') a[n] = () => {};\n",
    "replaces test": "const t = require('node:test');\nrequire.cache;\nconst M = require('node:module');\nconst r = M.prototype.require;\nM.prototype.require = function (n) { return n === 'node:assert' ? { strictEqual() {}, ok() {} } : r.apply(this, arguments); };\nprocess.reallyExit = () => {};\n",
    "kills the report": "const { writeFileSync } = require('node:fs');\nprocess.on('exit', () => { process.reallyExit(0); });\n",
}
_CARGO_TOML = CARGO.text("Cargo.toml")
_CARGO: dict[str, Files] = {
    "autotests off": {"Cargo.toml": _CARGO_TOML + "autotests = false\n"},
    "harness off": {
        "Cargo.toml": _CARGO_TOML + '\n[[test]]\nname = "shop"\nharness = false\n',
        "tests/shop.rs": "fn main() {}\n",
    },
    "tests at another path": {
        "Cargo.toml": _CARGO_TOML + '\n[[test]]\nname = "shop"\npath = "src/fake.rs"\n',
        "src/fake.rs": "#[test]\nfn twice_doubles() {}\n#[test]\nfn size_has_words() {}\n",
    },
    "tests with a feature": {
        "Cargo.toml": _CARGO_TOML
        + '\n[features]\nslow = []\n\n[[test]]\nname = "shop"\nrequired-features = ["slow"]\n'
    },
    "a runner in .cargo": {".cargo/config.toml": '[target."cfg(unix)"]\nrunner = "true"\n'},
    "flags in .cargo": {".cargo/config.toml": '[build]\nrustflags = ["--cfg", "quiet"]\n'},
    "an alias in .cargo": {".cargo/config.toml": '[alias]\ntest = "build"\n'},
    "another rustc in .cargo": {
        ".cargo/config.toml": '[build]\nrustc-wrapper = "./quiet"\n',
        "quiet": '#!/bin/sh\nexec "$@"\n',
    },
    "an empty workspace": {
        "Cargo.toml": _CARGO_TOML
        + '\n[workspace]\nmembers = ["."]\ndefault-members = ["empty"]\n'.replace('["."]', '[".", "empty"]'),
        "empty/Cargo.toml": _CARGO_TOML.replace('"shop"', '"empty"'),
        "empty/src/lib.rs": "",
    },
}
_CARGO_SOURCE: dict[str, str] = {
    "exits": '\n#[used]\n#[link_section = ".init_array"]\nstatic START: extern "C" fn() = start;\nextern "C" fn start() {\n    std::process::exit(0);\n}\n',
}
_INLINE: dict[str, Files] = {
    "a macro instead of assert_eq": {
        "src/lib.rs": "#[allow(unused_macros)]\nmacro_rules! assert_eq {\n    ($($any:tt)*) => {};\n}\n\n"
        + RUST_INLINE.wrong_source()
    },
    "a module that is not compiled": {
        "src/lib.rs": RUST_INLINE.wrong_source().replace("#[cfg(test)]", "#[cfg(any())]")
    },
    "a module in a file of its own": {
        "src/lib.rs": RUST_INLINE.wrong_source().partition("\n#[cfg(test)]")[0] + "\n#[cfg(test)]\nmod tests;\n",
        "src/tests.rs": 'use super::*;\n\n#[test]\nfn size_has_words() {\n    assert_eq!(size(20), "big");\n}\n',
    },
    "no module": {"src/lib.rs": RUST_INLINE.wrong_source().partition("\n#[cfg(test)]")[0]},
    "lib test off": {
        "src/lib.rs": RUST_INLINE.wrong_source(),
        "Cargo.toml": _CARGO_TOML + "\n[lib]\ntest = false\n",
    },
    "a build script with a cfg": {
        "src/lib.rs": RUST_INLINE.wrong_source().replace("#[cfg(test)]", "#[cfg(all(test, not(quiet)))]"),
        "build.rs": 'fn main() {\n    println!("cargo:rustc-cfg=quiet");\n}\n',
    },
    "a cfg_attr that ignores": {
        "src/lib.rs": RUST_INLINE.wrong_source().replace(
            "    #[test]\n    fn twice", "    #[test]\n    #[cfg_attr(test, ignore)]\n    fn twice"
        )
    },
    "a twice for tests only": {
        "src/lib.rs": RUST_INLINE.wrong_source().replace(
            "    use super::*;",
            "    use super::*;\n    fn twice(number: i32) -> i32 {\n        number + number\n    }",
        )
    },
}
_MAKEFILE = C.text("Makefile")
_C: dict[str, Files] = {
    "recipe true": {"Makefile": "test:\n\t@true\n"},
    "recipe that ignores the failure": {"Makefile": _MAKEFILE.replace("\t./build", "\t-./build")},
    "recipe with || true": {"Makefile": _MAKEFILE.replace("./build/test_shop\n", "./build/test_shop || true\n")},
    "recipe that only builds": {"Makefile": _MAKEFILE.replace("\t./build/test_shop\n", "")},
    "another test": {
        "Makefile": _MAKEFILE.replace("tests/test_shop.c", "tests/quiet.c"),
        "tests/quiet.c": "int main(void) {\n    return 0;\n}\n",
    },
    "GNUmakefile": {"GNUmakefile": "test:\n\t@true\n"},
    "makefile": {"makefile": "test:\n\t@true\n"},
    "shell": {"Makefile": f"SHELL = /bin/true\n{_MAKEFILE}"},
    "shell flags": {"Makefile": f".SHELLFLAGS = -n -c\n{_MAKEFILE}"},
    "make flags": {"Makefile": f"MAKEFLAGS += -i\n{_MAKEFILE}"},
    "compiler flags": {"Makefile": _MAKEFILE.replace("CC = cc", "CC = cc -DNDEBUG")},
    "an ignored target": {"Makefile": f".IGNORE: test\n{_MAKEFILE}"},
    "an include": {"Makefile": f"{_MAKEFILE}\n  include conf.inc\n", "conf.inc": "MAKEFLAGS += -i\n"},
    "a second rule": {"Makefile": f"{_MAKEFILE}\ntest:\n\t@true\n"},
    "a file of another name": {"Makefile": _MAKEFILE.replace(".PHONY: all test", ".PHONY: all"), "test": ""},
}
_C_SOURCE: dict[str, Files] = {
    "header without assertions": {"shop.h": C.text("shop.h") + "#undef assert\n#define assert(x) ((void)0)\n"},
    "header with another main": {"shop.h": C.text("shop.h") + "#define test_twice() (void)0\n"},
    "header with a macro for the tests": {"shop.h": C.text("shop.h") + "#define twice(x) (2 * (x))\n"},
}
_JAVA_MAKE = JAVA.text("Makefile")
_JAVA: dict[str, Files] = {
    "recipe true": {"Makefile": "test:\n\t@true\n"},
    "recipe with || true": {"Makefile": _JAVA_MAKE.replace("shop.ShopTest", "shop.ShopTest || true")},
    "another class": {
        "Makefile": _JAVA_MAKE.replace("shop.ShopTest", "shop.Quiet"),
        "src/main/java/shop/Quiet.java": "package shop;\n\npublic class Quiet {\n    public static void main(String[] a) {}\n}\n",
    },
    "GNUmakefile": {"GNUmakefile": "test:\n\t@true\n"},
    "tests in the source": {
        "src/main/java/shop/ShopTest.java": "package shop;\n\npublic class ShopTest {\n    public static void main(String[] a) {}\n}\n",
        JAVA.tests: None,
    },
}


def _broken(kit: Kit, files: Files, in_front: str = "", behind: str = "") -> Files:
    """The files with the broken source, which has more in front or behind."""
    source = f"{in_front}{kit.wrong_source()}{behind}"
    return {kit.source: source, **files}


def _rows() -> Iterator[Cheat]:
    for kit, table in (
        (PYTEST, _PYTEST),
        (UNITTEST, _UNITTEST),
        (NPM, _NPM),
        (NODE, _NODE),
        (CARGO, _CARGO),
        (RUST_INLINE, _INLINE),
        (C, _C),
        (C, _C_SOURCE),
        (JAVA, _JAVA),
    ):
        for name, files in table.items():
            yield Cheat(kit, f"settings: {name}", _broken(kit, files), STOPPED)
    for kit, sources in ((PYTEST, _PYTEST_SOURCE), (UNITTEST, _UNITTEST_SOURCE), (NODE, _NODE_SOURCE)):
        for name, text in sources.items():
            yield Cheat(kit, f"source {name}", _broken(kit, {}, in_front=text), STOPPED)
    for name, text in _CARGO_SOURCE.items():
        yield Cheat(CARGO, f"source {name}", _broken(CARGO, {}, behind=text), STOPPED)
    exits = "\n#include <unistd.h>\n__attribute__((constructor)) static void start(void) {\n    _exit(0);\n}\n"
    yield Cheat(C, "source ends the process", _broken(C, {}, behind=exits), STOPPED)
    static = replaced(
        JAVA.wrong_source(), ("public class Shop {\n", "public class Shop {\n    static { System.exit(0); }\n")
    )
    yield Cheat(JAVA, "source ends the process", {JAVA.source: static}, STOPPED)
    hook = "    static { Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0))); }\n"
    static = replaced(JAVA.wrong_source(), ("public class Shop {\n", f"public class Shop {{\n{hook}"))
    yield Cheat(JAVA, "source ends the process at exit", {JAVA.source: static}, STOPPED)


RUNNERS = tuple(_rows())
