/* Every behaviour of the runtimes' contract as an export, and one that calls the host function it is told to. */

#include "samuel.h"

#define HOOK(name) SAMUEL_EXPORT(#name) int64_t name(const char *at, size_t length)

HOOK(answers) { return answer(words("{\"extras\": [{\"name\": \"a\", \"content\": \"b\"}]}")); }

HOOK(empty) { return no_opinion(); }

HOOK(data) { return answer(words("{\"data\": {\"Venv\": \".venv\"}, \"unknown\": [1]}")); }

HOOK(crash) {
    text why = words("the reason");
    samuel_log(SAMUEL_ERROR, why.at, why.length);
    __builtin_trap();
}

HOOK(hang) {
    for (volatile int forever = 1; forever;) {
    }
    return 0;
}

HOOK(bad) { return answer(words("hello")); }

HOOK(flood) {
    buffer much = {0};
    for (int i = 0; i < 1 << 20; i++) put_char(&much, ' ');
    return answer(written(&much));
}

HOOK(chatter) {
    text said = words("chatter");
    samuel_log(SAMUEL_INFO, said.at, said.length);
    return answer(words("{\"x\": 1}"));
}

HOOK(echo) {
    text payload = {at, length}, task = json_get(payload, "task"), body = json_text(json_get(task, "text"));
    size_t characters = 0;
    for (size_t i = 0; i < body.length; i++) characters += (body.at[i] & 0xc0) != 0x80;
    buffer json = {0};
    put(&json, words("{\"deadline_ms\": "));
    put(&json, json_get(payload, "deadline_ms"));
    put(&json, words(", \"event\": "));
    put(&json, json_get(payload, "event"));
    put(&json, words(", \"id\": "));
    put(&json, json_get(task, "id"));
    put(&json, words(", \"size\": "));
    put_number(&json, characters);
    put(&json, words("}"));
    return answer(written(&json));
}

/* task.call is the function's name, task.first and task.second are its arguments. The answer is
   {"code": 0 or a negative number, "text": what it gave}. */
HOOK(ask) {
    text task = json_get((text){at, length}, "task"), call = json_text(json_get(task, "call"));
    text first = json_text(json_get(task, "first")), second = json_text(json_get(task, "second"));
    int64_t got = -99;
    if (same(call, words("fs_read"))) got = samuel_fs_read(first.at, first.length);
    if (same(call, words("fs_write")))
        got = samuel_fs_write(first.at, first.length, second.at, second.length);
    if (same(call, words("exec"))) got = samuel_exec(first.at, first.length);
    if (same(call, words("net"))) got = samuel_net(first.at, first.length);
    if (same(call, words("config_get"))) got = samuel_config_get(first.at, first.length);
    buffer json = {0};
    put(&json, words("{\"code\": "));
    if (got < 0) put_char(&json, '-');
    put_number(&json, got < 0 ? (size_t)-got : 0);
    put(&json, words(", \"text\": "));
    put_json_string(&json, samuel_unpacked(got));
    put(&json, words("}"));
    return answer(written(&json));
}
