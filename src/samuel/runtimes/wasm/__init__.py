"""Plugins as WebAssembly modules, run by wasmtime: memory, files, programs and network all within their grants.

A plugin is a core module (no component) in any language. It uses protocol 1 through its own memory:

    memory                                exported, 32 bit
    samuel_alloc(size i32) -> i32         memory for `size` bytes; 0 when there is none. It is never freed: all
                                          memory is released when the call ends
    samuel_protocol_version() -> i32      1
    <hook>(at i32, length i32) -> i64     one export for each hook, named in the manifest. It gets the payload as
                                          JSON and returns JSON: address << 32 | length. A length of 0 is no
                                          opinion
    _initialize()                         if it is exported, called before anything else (a WASI reactor)

and may import any of these from module `samuel`:

    log(level i32, at, length)            a line for the call's stderr; 0 debug, 1 info, 2 warning, 3 error
    fs_read(path, length) -> i64          the whole file
    fs_write(path, length, data, length) -> i32
                                          0. The whole file is replaced; missing directories are created
    exec(request, length) -> i64          {"argv": [..], "stdin"?: "", "timeout_ms"?: n}
                                          -> {"exit_code", "stdout", "stderr", "timed_out"?: true}
    net(request, length) -> i64           {"url": "http..", "method"?, "headers"?: {}, "body"?: ""}
                                          -> {"status", "headers": {}, "body"}; text, redirects not followed
    config_get(key, length) -> i64        a setting as JSON; all of them for ""

Arguments are UTF-8 in the module's memory. An i64 is an address and a length like a hook's result, in memory from
`samuel_alloc`; or it is negative, like fs_write's i32 may be:

    -1 denied   -2 not found   -3 failed   -4 too large (8 MiB, or no memory)   -5 bad argument

Paths are relative to the project, or begin with `/data/` (the plugin's data_dir) or `/plugin/` (its own directory,
to read). Links are not followed. A call that was denied anything ends as `refused`, whatever the module returns.

WASI preview 1 is there for modules built with a libc: the granted directories under their own names, `/data` and
`/plugin`; granted variables; stdout and stderr go to the call's stderr; stdin is empty, there are no arguments.
A grant of the whole project for writing opens the directories in it for writing, and the files beside them only
for `fs_write`. A single file that is granted can only be used with `fs_read` and `fs_write`: WASI opens
directories. WASI writes in place, so it writes through a hard link in a granted directory; `fs_write` refuses one.
Threads, shared, 64 bit and several memories, and GC types are off.
"""

from __future__ import annotations

MISSING = "WebAssembly plugins need wasmtime; `pip install 'samuel-loop[wasm]'`"
