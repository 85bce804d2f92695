"""The process in which third-party Python hooks run. `runtimes.python` starts it and talks to it over two pipes.

It loads a hook file once. It is the subreaper of everything its hooks start, so processes that a call leaves
behind end with the call. What hooks print goes to stderr: stdout is a copy of it here.
"""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

import os
import select
import signal
import sys
import threading
from _frozen_importlib import module_from_spec  # `importlib.util`, without importing it
from _frozen_importlib_external import spec_from_file_location
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from samuel.base.decoding import json_decoder
from samuel.events import event_type
from samuel.files.json import InvalidJson
from samuel.hooks.decorator import MARK, declarations
from samuel.process.compiled_python import compile_exactly
from samuel.process.ledger import any_child
from samuel.process.tree import Tree, own_all_children
from samuel.runtimes.loaded_files import LoadedFiles
from samuel.runtimes.results import encode
from samuel.runtimes.trusted_files import TrustedFiles
from samuel.trust.content import TrustedContent

_SIGNALS = (
    *(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGALRM, signal.SIGPIPE),
    *(signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2),
)


class WorkerRequest(msgspec.Struct, omit_defaults=True):
    """A call of a function, or the question which functions there are."""

    load: str  # an absolute path of a .py file, or `module` or `module:function`
    function: str = ""  # "" asks which functions there are
    event: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"{}")
    bound: bool = False  # a manifest names the function, so it needs no decorator
    content: TrustedContent | None = None  # what its permit was given for; None if it is the same as before


class WorkerReply(msgspec.Struct, omit_defaults=True):
    """A result, or why there is none."""

    result: msgspec.Raw = msgspec.Raw(b"{}")
    crash: str = ""
    bad: str = ""
    changed: str = ""  # a file is not what the permit was given for, so it was not loaded
    stale: bool = False  # nothing was called, since a loaded file has changed: ask a new worker
    spent: bool = False  # the hook has changed the process: the next call needs a new worker


def main() -> None:
    """Serve requests over the descriptors that the last two arguments name."""
    serve(int(sys.argv[1]), int(sys.argv[2]), LoadedFiles())


_decode_request = json_decoder(WorkerRequest)


def serve(requests: int, answers: int, files: LoadedFiles | None = None) -> None:
    """Serve requests until the parent closes its pipe.

    `files` is for a worker that outlives an event: what it has loaded may change before the next one. A worker
    ends after a hook that changed the state of the process, which the next call must not find.
    """
    trusted = TrustedFiles()
    trusted.install()
    compile_exactly(partial(_before_load, files, trusted))
    for fd in (requests, answers):
        os.set_inheritable(fd, False)  # processes that a hook starts must not hold the pipes open
    own_all_children()
    with Tree():  # from here on, orphans of processes that hooks start become children of this process
        pass
    threading.Thread(target=_end_with_parent, args=(requests,), daemon=True).start()
    loaded = _LoadedHooks()
    encode_answer = msgspec.json.Encoder().encode
    with open(requests, "rb", closefd=False) as lines:
        for line in lines:
            request = _decode_request(line)
            is_stale = files is not None and files.changed()
            if request.content is not None and not trusted.renew(request.content):
                is_stale = True
            answer = WorkerReply(stale=True) if is_stale else _handle(request, loaded)
            if trusted.objection:
                answer = WorkerReply(changed=trusted.objection)
            if files is not None:
                files.note()
            answer.spent = not is_stale and (bool(trusted.objection) or _process_state() != loaded.state)
            sys.stdout.flush()
            sys.stderr.flush()
            _write(answers, encode_answer(answer) + b"\n")
            if answer.spent:
                return


def _before_load(files: LoadedFiles | None, trusted: TrustedFiles, file: str, status: os.stat_result) -> None:
    if files is not None:
        files.before_load(file, status)
    if trusted.covered(file) is not None:
        raise OSError("bytecode is neither used nor kept for it")  # which is how Python is told


class _LoadedHooks:
    """The files and modules of hooks that were loaded."""

    def __init__(self) -> None:
        self._targets: dict[str, Any] = {}
        self.state = _process_state()  # after the latest was loaded: a new worker would load them, too

    def get(self, target: str) -> Any:
        if target not in self._targets:
            self._targets[target] = load(target)
            self.state = _process_state()
        return self._targets[target]


def _process_state() -> tuple[object, ...]:
    """What a hook may have changed in its process, and the next call in the same worker would find.

    A new process begins in the project's directory, with the variables and the path that it was given.
    """
    # The kernel tells a umask only when it is replaced. A thread of the hook may create a file meanwhile.
    umask = os.umask(0o077)
    os.umask(umask)
    return (
        umask,
        _directory(),
        id(os.environ),  # a hook can put another object there
        dict(vars(os.environ).get("_data", ())),  # `os.environ` itself would decode every value
        tuple(sys.path),
        (sys.stdin, sys.stdout, sys.stderr),
        sys.getrecursionlimit(),
        tuple(map(signal.getsignal, _SIGNALS)),
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0),  # else an alarm would go off in a later call
    )


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _handle(request: WorkerRequest, loaded: _LoadedHooks) -> WorkerReply:
    try:
        return _answer(request, loaded)
    finally:
        if any_child():  # end the processes that the hook started and left
            with Tree():
                pass


def _answer(request: WorkerRequest, loaded: _LoadedHooks) -> WorkerReply:
    try:
        target = loaded.get(request.load)
        if not request.function:
            return _result({"declared": describe(target)})
        function = _function(target, request.function, request.bound)
        return _result(function(_decoder(request.event)(request.payload)))
    except InvalidJson as error:
        return WorkerReply(bad=str(error))
    except BaseException as error:  # noqa: BLE001  also SystemExit and KeyboardInterrupt: the worker goes on
        import traceback  # slow to import, and hopefully not needed

        traceback.print_exception(error)
        return WorkerReply(crash=f"{type(error).__name__}: {error}"[:2000])


@cache
def _decoder(event: str) -> Callable[[bytes], Any]:
    return json_decoder(event_type(event).payload)


def _result(value: object) -> WorkerReply:
    return WorkerReply(msgspec.Raw(encode(value)))


def load(target: str) -> Any:
    """A module from a file, or a module or function by name."""
    if target.endswith(".py") and os.path.isabs(target):
        return _load_file(Path(target))
    from importlib import import_module  # most hooks are files

    name, _, attribute = target.partition(":")
    module = import_module(name)
    return getattr(module, attribute) if attribute else module


def _load_file(file: Path) -> ModuleType:
    # Helpers beside the hook can be imported; they are at the end of the path, so that they shadow nothing.
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    spec = spec_from_file_location(f"samuel_hook_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def describe(target: Any) -> list[dict[str, Any]]:
    """The decorated functions of a module, or the single function that was named."""
    named = vars(target).items() if isinstance(target, ModuleType) else [(target.__name__, target)]
    marked = declarations(named)
    return [{"function": name, **declared._asdict()} for name, _, declared in marked]


def _function(target: Any, name: str, bound: bool) -> Callable[..., Any]:
    function = getattr(target, name, None) if isinstance(target, ModuleType) else target
    if not callable(function) or not (bound or hasattr(function, MARK)):
        missing = f"no function `{name}`" if bound else f"no function `{name}` with @samuel.hook"
        raise AttributeError(f"there is {missing} any more")
    return function  # type: ignore[no-any-return]


def _end_with_parent(requests: int) -> None:
    """End this process when the parent was killed: the other end of the pipe is closed then."""
    poll = select.poll()
    poll.register(requests, 0)  # only the hang-up, never the data
    poll.poll()
    with Tree():
        pass
    os._exit(1)


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
