"""Which variables of the user's environment reach the programs that Samuel starts.

No imports: the small clients of the server read these lists too, and `samuel-emit` is compiled with them.
"""

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
