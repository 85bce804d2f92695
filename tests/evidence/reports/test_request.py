"""How runners are asked for reports, and which reports a project writes of its own accord."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from samuel.evidence.reports.comparison import fail_to_pass
from samuel.evidence.reports.printed.output import read_output
from samuel.evidence.reports.report_files import WrittenReports, matching_files
from samuel.evidence.reports.request import ReportRequest, RunnerInvocation, node_version, report_request
from samuel.evidence.reports.suite import SuiteReport, combined

DESTINATION = Path("/state/reports")


def request_for(
    *invocations: RunnerInvocation,
    environment: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    version: int = 20,
) -> ReportRequest:
    return report_request(
        invocations,
        DESTINATION,
        environment or {},
        lambda path: (files or {}).get(path, ""),
        name="1",
        node_version=version,
    )


def test_pytest_is_asked_for_xml_with_the_names_of_files() -> None:
    request = request_for(RunnerInvocation("pytest"), environment={"PYTEST_ADDOPTS": "-x"})
    assert request == ReportRequest(
        {
            "PYTEST_ADDOPTS": "-x --junitxml=/state/reports/1-pytest.xml -o junit_family=xunit1"
            " --continue-on-collection-errors"
        },
        ("1-pytest.xml",),
    )


@pytest.mark.parametrize(
    ("settings", "arguments", "asks", "own"),
    [
        ((), (), True, ()),
        (("--junitxml=out/junit.xml",), (), False, ("app/out/junit.xml",)),
        (("--junit-xml", "junit.xml"), ("-q",), False, ("app/junit.xml",)),
        ((), ("--junitxml=mine.xml",), True, ("app/mine.xml",)),
        (("-m", "not junit", "-o", "junit_suite_name=junit"), (), True, ()),
        (("--junitxml=out.xml",), ("-o", "addopts="), True, ()),
        (("--junitxml=out.xml",), ("--override-ini=addopts=-q",), True, ()),
        ((), ("-oaddopts=--junitxml=b.xml",), False, ("app/b.xml",)),
        (("-p", "no:junitxml"), (), False, ()),
        ((), ("-p", "no:junitxml"), False, ()),
        ((), ("-p", "no:cacheprovider"), True, ()),
        ((), ("--junitxml=/reports/a.xml",), True, ("/reports/a.xml",)),
    ],
)
def test_a_report_that_the_project_names_is_read_and_a_word_switches_nothing_off(
    settings: tuple[str, ...], arguments: tuple[str, ...], asks: bool, own: tuple[str, ...]
) -> None:
    request = request_for(RunnerInvocation("pytest", arguments, "app", settings))
    assert ("PYTEST_ADDOPTS" in request.variables) == asks
    assert request.own == own


@pytest.mark.parametrize(
    ("arguments", "version", "options"),
    [
        ((), 20, "--test-reporter=spec --test-reporter-destination=stdout "),
        (("--test-reporter=tap", "--test-reporter-destination=out"), 22, ""),
        (("--test-reporter=tap",), 22, None),
        ((), 18, None),
        ((), 0, None),
    ],
)
def test_node_is_asked_for_xml_beside_what_it_prints(
    arguments: tuple[str, ...], version: int, options: str | None
) -> None:
    request = request_for(RunnerInvocation("node-test", ("--test", *arguments)), version=version)
    ours = "--test-reporter=junit --test-reporter-destination=/state/reports/1-node-test.xml"
    assert dict(request.variables) == ({} if options is None else {"NODE_OPTIONS": f"{options}{ours}"})


def test_the_version_of_node_is_read() -> None:
    assert [node_version(text) for text in (b"v20.20.2\n", b"v8.1.0", b"", b"node 20")] == [20, 8, 0, 0]


def test_gotestsum_and_rspec_are_asked_by_variables() -> None:
    request = request_for(RunnerInvocation("gotestsum"), RunnerInvocation("rspec", ("--format", "documentation")))
    assert dict(request.variables) == {
        "SPEC_OPTS": "--format documentation --format json --out /state/reports/1-rspec.json",
        "GOTESTSUM_JUNITFILE": "/state/reports/1-gotestsum.xml",
    }
    assert request.asked_for == ("1-rspec.json", "1-gotestsum.xml")


@pytest.mark.parametrize(
    ("invocation", "own"),
    [
        (RunnerInvocation("gotestsum", ("--junitfile", "a.xml"), "app"), ("app/a.xml",)),
        (RunnerInvocation("rspec", ("--format", "json", "--out", "a.json")), ("a.json",)),
        (RunnerInvocation("rspec", directory="app"), ("app/out.json",)),
    ],
)
def test_a_runner_that_already_writes_a_report_is_not_asked(
    invocation: RunnerInvocation, own: tuple[str, ...]
) -> None:
    files = {"app/.rspec": "--format json --out out.json\n"}
    assert request_for(invocation, files=files) == ReportRequest({}, (), own)


@pytest.mark.parametrize(
    ("invocation", "files", "own"),
    [
        (RunnerInvocation("jest"), {"package.json": '{"jest": {"reporters": ["jest-junit"]}}'}, ("junit.xml",)),
        (
            RunnerInvocation("jest"),
            {"package.json": '{"jest-junit": {"outputDirectory": "out", "outputName": "j.xml"}}'},
            ("j.xml", "out/j.xml"),
        ),
        (
            RunnerInvocation("vitest"),
            {"vitest.config.ts": "test: { reporters: ['junit'], outputFile: './out/junit.xml' }"},
            ("out/junit.xml",),
        ),
        (
            RunnerInvocation("vitest", ("run", "--reporter=json", "--outputFile=a.json"), "web"),
            {},
            ("web/a.json",),
        ),
        (RunnerInvocation("phpunit"), {"phpunit.xml": '<junit outputFile="build/j.xml"/>'}, ("build/j.xml",)),
        (RunnerInvocation("phpunit", ("--log-junit", "j.xml")), {}, ("j.xml",)),
        (RunnerInvocation("mocha", ("--reporter-option", "output=a.json")), {}, ("a.json",)),
        (
            RunnerInvocation("cargo", ("nextest", "run", "--profile", "ci")),
            {".config/nextest.toml": '[profile.ci.junit]\npath = "junit.xml"\n'},
            ("target/nextest/ci/junit.xml",),
        ),
        (
            RunnerInvocation("cargo", ("nextest", "run")),
            {".config/nextest.toml": '[profile.ci.junit]\npath = "junit.xml"\n'},
            (),
        ),
        (RunnerInvocation("cargo", ("nextest", "run")), {".config/nextest.toml": "[profile = 1"}, ()),
        (RunnerInvocation("cargo", ("test",)), {}, ()),
        (RunnerInvocation("unittest"), {}, ()),
    ],
)
def test_reports_that_settings_and_options_name_are_noted(
    invocation: RunnerInvocation, files: dict[str, str], own: tuple[str, ...]
) -> None:
    request = request_for(invocation, files=files)
    assert request.own == own
    assert dict(request.variables) == {}


def test_maven_gradle_and_dotnet_write_reports_in_places_of_their_own(tmp_path: Path) -> None:
    request = request_for(RunnerInvocation("maven"), RunnerInvocation("gradle"), RunnerInvocation("dotnet"))
    paths = [
        "a/build/test-results/test/TEST-shop.A.xml",
        "a/target/surefire-reports/TEST-shop.A.xml",
        "target/failsafe-reports/TEST-B.xml",
        "x/TestResults/1/a.trx",
    ]
    others = [
        "a/target/surefire-reports/shop.A.txt",
        "TEST-x.xml",
        "node_modules/target/surefire-reports/TEST-c.xml",
    ]
    for path in (*paths, *others):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("<testsuite/>")
    assert matching_files(tmp_path, request.own_patterns) == paths


REPORT = '<testsuite name="x"><testcase classname="a" name="{}"/></testsuite>'


def test_only_reports_of_this_run_are_read(tmp_path: Path) -> None:
    room, state = tmp_path / "room", tmp_path / "state"
    (room / "target/surefire-reports").mkdir(parents=True)
    state.mkdir()
    (room / "old.xml").write_text(REPORT.format("old"))
    (room / "target/surefire-reports/TEST-old.xml").write_text(REPORT.format("older"))
    (state / "reports").mkdir()
    (state / "reports/1-pytest.xml").write_text(REPORT.format("stale"))
    patterns = ("**/target/surefire-reports/TEST-*.xml",)
    reports = WrittenReports(
        room, state / "reports", ReportRequest({}, ("1-pytest.xml",), ("old.xml", "new.xml"), patterns)
    )
    assert reports.prepare()
    assert reports.read() == []
    (room / "new.xml").write_text(REPORT.format("new"))
    (room / "target/surefire-reports/TEST-new.xml").write_text(REPORT.format("newer"))
    (state / "reports/1-pytest.xml").write_text(REPORT.format("asked"))
    ids = [id for report in reports.read() for id in report.tests]
    assert ids == ["a::asked", "a::new", "a::newer"]


def test_a_report_behind_a_link_and_a_directory_in_its_place_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "state").mkdir()
    (tmp_path / "elsewhere.xml").write_text(REPORT.format("elsewhere"))
    request = ReportRequest({}, ("1-pytest.xml",), ("link.xml", "directory.xml", "pipe.xml", "no\0name.xml"))
    reports = WrittenReports(tmp_path / "room", tmp_path / "state" / "reports", request)
    assert reports.prepare()
    (tmp_path / "room/link.xml").symlink_to(tmp_path / "elsewhere.xml")
    (tmp_path / "room/directory.xml").mkdir()
    os.mkfifo(tmp_path / "room/pipe.xml")
    (tmp_path / "state/reports/1-pytest.xml").mkdir()
    assert reports.read() == []
    assert not reports.prepare()


def run_with_reports(
    room: Path, invocation: RunnerInvocation, command: list[str], version: int = 0
) -> SuiteReport | None:
    """What a real runner reports about the tests in a directory, as a check would be run."""
    destination = room.parent / "reports"
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(room.parent)}
    request = report_request([invocation], destination, environment, lambda path: "", node_version=version)
    reports = WrittenReports(room, destination, request)
    assert reports.prepare()
    finished = subprocess.run(
        command, cwd=room, env={**environment, **request.variables}, capture_output=True, text=True, check=False
    )
    return combined([*reports.read(), *read_output(finished.stdout + finished.stderr, str(room))])


@pytest.mark.slow
def test_a_real_pytest_writes_the_report_that_it_is_asked_for(tmp_path: Path) -> None:
    room = tmp_path / "a room"
    room.mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    (room / "shop.py").write_text("def add(a, b):\n    return 0\n")
    (room / "test_new.py").write_text("from shop import take\ndef test_take():\n    assert take(2, 1) == 1\n")
    (room / "test_shop.py").write_text("import shop\ndef test_add():\n    assert shop.add(1, 2) == 3\n")
    before = run_with_reports(room, RunnerInvocation("pytest"), [*command, "--continue-on-collection-errors"])
    (room / "shop.py").write_text("def add(a, b):\n    return a + b\ndef take(a, b):\n    return a - b\n")
    after = run_with_reports(room, RunnerInvocation("pytest"), command)
    assert before is not None
    assert after is not None
    assert [before.is_printed, after.is_printed] == [False, False]
    assert [(test.id, test.failure, test.file) for test in fail_to_pass(before, after)] == [
        ("test_new::test_take", "missing", "test_new.py"),
        ("test_shop::test_add", "assertion", "test_shop.py"),
    ]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_real_node_writes_the_report_that_it_is_asked_for(tmp_path: Path) -> None:
    version = node_version(subprocess.run(["node", "--version"], capture_output=True, check=True).stdout)
    if version < 20:
        pytest.skip("needs node 20")
    room = tmp_path / "room"
    room.mkdir()
    (room / "new.test.js").write_text("require('./cart.js');\n")
    (room / "shop.test.js").write_text(
        "const test = require('node:test'); const assert = require('node:assert');\n"
        "test('adds', () => assert.strictEqual(1 + 2, 4));\n"
    )
    report = run_with_reports(room, RunnerInvocation("node-test", ("--test",)), ["node", "--test"], version)
    assert report is not None
    assert not report.is_printed
    assert report.tests["new.test.js"].failure == "missing"
    assert [test.failure for test in report.tests.values() if not test.is_module] == ["assertion"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("rspec") is None, reason="needs rspec")
def test_a_real_rspec_writes_the_report_that_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "room/spec").mkdir(parents=True)
    (tmp_path / "room/spec/a_spec.rb").write_text("describe('a') { it('adds') { expect(1 + 2).to eq(4) } }\n")
    report = run_with_reports(tmp_path / "room", RunnerInvocation("rspec"), ["rspec"])
    assert report is not None
    assert not report.is_printed
    assert {id: test.failure for id, test in report.tests.items()} == {"spec/a_spec.rb::a adds": "assertion"}
