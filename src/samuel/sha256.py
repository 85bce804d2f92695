"""SHA-256 as it is built into the interpreter: for short texts, where importing `hashlib` takes longer.

`hashlib` loads OpenSSL, which is three milliseconds of every `samuel emit` without a server. Whole files are
digested with `hashlib`: OpenSSL is several times as fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know this name
if TYPE_CHECKING:
    from hashlib import sha256 as sha256
else:
    try:
        from _sha2 import sha256 as sha256  # Python 3.12 and newer
    except ImportError:
        try:
            from _sha256 import sha256 as sha256
        except ImportError:  # an interpreter that was built without it
            from hashlib import sha256 as sha256
