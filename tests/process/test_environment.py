from __future__ import annotations

import os

from samuel.process.environment import DEFAULT_PATH, clean

LOADERS = (
    *(
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
    ),
    *("BASH_ENV", "ENV", "PERL5OPT", "RUBYOPT", "GIT_DIR", "GIT_SSH_COMMAND", "BASH_FUNC_x%%", "IFS"),
)
SECRETS = ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY")
USUAL = (
    *(
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TERM",
        "TMPDIR",
    ),
    *("XDG_CACHE_HOME", "NO_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "HTTPS_PROXY", "NO_PROXY"),
    *("SAMUEL_EVENT", "SAMUEL_DEADLINE"),
)


def test_only_the_usual_names_are_passed() -> None:
    base = dict.fromkeys((*USUAL, *LOADERS, *SECRETS, "SAMUEL_TRUST"), "x")
    assert clean(base={**base, "PATH": "/x"}) == {**dict.fromkeys(USUAL, "x"), "PATH": "/x"}


def test_relative_entries_of_path_are_left_out() -> None:
    assert clean(base={"PATH": ":.:bin:/usr/bin:./x:/bin:"})["PATH"] == "/usr/bin:/bin"
    assert clean(base={"PATH": ".:"})["PATH"] == DEFAULT_PATH


def test_variables_named_by_the_caller_are_passed() -> None:
    base = {"PATH": "/bin", "GITHUB_TOKEN": "t", "PYTHONPATH": "p", "SAMUEL_TRUST": "s"}
    assert clean(base=base, pass_names=["GITHUB_TOKEN", "NOT_SET"]) == {"PATH": "/bin", "GITHUB_TOKEN": "t"}
    assert clean({"PYTHONPATH": "mine"}, base=base) == {"PATH": "/bin", "PYTHONPATH": "mine"}
    assert clean(base=base, pass_names=["SAMUEL_TRUST"])["SAMUEL_TRUST"] == "s"


def test_a_program_is_told_that_trust_in_everything_was_not_handed_on() -> None:
    assert clean(base={"PATH": "/bin", "SAMUEL_TRUST": "all"}) == {"PATH": "/bin", "SAMUEL_TRUST_WITHHELD": "1"}


def test_extra_variables_override_the_base() -> None:
    assert clean({"PATH": "/mine"}, base={"PATH": "/bin"}) == {"PATH": "/mine"}


def test_clean_environment_always_has_a_path() -> None:
    assert clean(base={}) == clean(base={"PATH": ""}) == {"PATH": DEFAULT_PATH}


def test_own_environment_is_the_base_by_default() -> None:
    assert clean()["PATH"] == os.environ["PATH"]
    assert clean() is not clean()
