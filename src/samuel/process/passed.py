"""Which variables of the user's environment reach the programs that Samuel starts.

No imports: the small clients of the server read these lists too, and `samuel-emit` is compiled with them.
"""

from __future__ import annotations

from collections.abc import Container

PASSED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR"),
    *("LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
    "__CF_USER_TEXT_ENCODING",  # macOS: without it some programs ask a system service at every start
)
PASSED_PREFIXES = ("LC_", "XDG_", "SAMUEL_")

INTERPRETER_PREFIXES = ("PYTHON",)
"""Not passed on, but they decide how a Samuel works that is started with them."""

PINNED = "SAMUEL_PINNED"
"""Set for the hooks of a run's agent: a digest of what decides about tool calls, as it was when the run began."""

PINNED_NAMES = frozenset(name for name in PASSED if "proxy" not in name.lower())
"""Those that the hooks of a run's agent have from the run, whatever the agent's client passes on. Not those of
proxies, whose values may have a password in them: the client passes them on, or not."""
UNSET_NAMES = (PINNED_NAMES | {"LC_CTYPE"}) - {"PATH", "HOME"}
"""Those that they do not have where the run has none. Python sets LC_CTYPE for itself where there is no locale,
and hands it on."""


def is_pinned(name: str, variables: Container[str]) -> bool:
    """Whether the hooks of a run's agent have this variable as it is in the run's `variables`, or is not.

    All others are those that the agent's client passes on.
    """
    if name not in variables:
        return name in UNSET_NAMES
    is_passed = name in PINNED_NAMES or name.startswith(PASSED_PREFIXES)
    return is_passed and name.isascii() and name.isidentifier()  # a shell cannot set any other, and would end
