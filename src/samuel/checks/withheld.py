"""Variables that are set on this machine and that checks do not get: often why a check fails only in a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from samuel.events.loop import CheckRun

TOOLCHAIN_VARIABLES = frozenset(
    (
        *("ANDROID_HOME", "ANDROID_SDK_ROOT", "BUNDLE_PATH", "CARGO_HOME", "CARGO_TARGET_DIR", "CC", "CXX"),
        *("CONDA_PREFIX", "DATABASE_URL", "DOTNET_ROOT", "GEM_HOME", "GEM_PATH", "GOMODCACHE", "GOPATH", "GOROOT"),
        *("GRADLE_HOME", "GRADLE_USER_HOME", "JAVA_HOME", "LD_LIBRARY_PATH", "M2_HOME", "MAVEN_HOME", "NODE_PATH"),
        *("NVM_DIR", "PKG_CONFIG_PATH", "PYENV_ROOT", "PYTHONPATH", "RBENV_ROOT", "RUSTUP_HOME", "SDKMAN_DIR"),
        *("VIRTUAL_ENV", "VOLTA_HOME"),
    )
)
"""Those that the tools of a project are found by. They are named also if the output does not say so."""


def withheld_variables(
    failed_runs: Iterable[CheckRun], host: Mapping[str, str], passed: Mapping[str, str]
) -> tuple[str, ...]:
    """The names, never the values, of what may be missing: of toolchains, or in the output of a failed check."""
    words = {word for run in failed_runs for word in re.findall(r"[A-Za-z_]\w*", run.output_tail)}
    candidates = (TOOLCHAIN_VARIABLES | {word for word in words if "_" in word and word.isupper()}) & host.keys()
    return tuple(sorted(name for name in candidates if name not in passed))


def withheld_hint(names: Iterable[str]) -> str:
    """What to do about withheld variables; "" for none."""
    names = list(names)
    if not names:
        return ""
    quoted = ", ".join(f'"{name}"' for name in names)
    return (
        f"set here, but not passed to checks: {', '.join(names)}; if a check needs them, add to the top of "
        f"samuel.toml: pass_env = [{quoted}]"
    )
