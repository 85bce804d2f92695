/* samuel.h: what a plugin for Samuel needs in C. No libc and no WASI; copy it and change it as you like.

   Samuel calls one export per hook with the payload as JSON in memory, and gets JSON back. Every call has an
   instance of its own: nothing is freed here, because all of it goes when the call is over. */

#ifndef SAMUEL_H
#define SAMUEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMUEL_EXPORT(name) __attribute__((export_name(name)))
#define SAMUEL_IMPORT(name) __attribute__((import_module("samuel"), import_name(name)))

/* A piece of text. It need not end in a NUL. */
typedef struct {
    const char *at;
    size_t length;
} text;

static const text NOTHING = {0, 0};

/* What Samuel offers. A packed answer is an address and a length, or less than 0: -1 denied, -2 not found,
   -3 failed, -4 too large, -5 bad argument. A denied call makes the whole hook `refused`, so ask only for what
   the manifest's [capabilities] names. */

enum samuel_level { SAMUEL_DEBUG, SAMUEL_INFO, SAMUEL_WARNING, SAMUEL_ERROR };

SAMUEL_IMPORT("log") void samuel_log(int32_t level, const char *at, size_t length);
SAMUEL_IMPORT("fs_read") int64_t samuel_fs_read(const char *path, size_t length);
SAMUEL_IMPORT("fs_write")
int32_t samuel_fs_write(const char *path, size_t length, const char *data, size_t data_length);
SAMUEL_IMPORT("exec") int64_t samuel_exec(const char *request, size_t length);
SAMUEL_IMPORT("net") int64_t samuel_net(const char *request, size_t length);
SAMUEL_IMPORT("config_get") int64_t samuel_config_get(const char *key, size_t length);

/* The text of a packed answer; NOTHING for an error. */
static text samuel_unpacked(int64_t packed) {
    if (packed < 0) return NOTHING;
    return (text){(const char *)(uintptr_t)(packed >> 32), (size_t)(packed & 0xffffffff)};
}

/* Memory: what lies behind the module's own data, handed out from the bottom to the top. */

extern unsigned char __heap_base;
static uintptr_t samuel_next;

SAMUEL_EXPORT("samuel_alloc") void *samuel_alloc(size_t size) {
    if (samuel_next == 0) samuel_next = (uintptr_t)&__heap_base;
    uintptr_t start = (samuel_next + 7) & ~(uintptr_t)7;
    uintptr_t room = __builtin_wasm_memory_size(0) << 16;
    if (size > UINTPTR_MAX - 0xffff - start) __builtin_trap();
    if (start + size > room &&
        __builtin_wasm_memory_grow(0, (start + size - room + 0xffff) >> 16) == (size_t)-1)
        __builtin_trap();
    samuel_next = start + size;
    return (void *)start;
}

SAMUEL_EXPORT("samuel_protocol_version") int32_t samuel_protocol_version(void) { return 1; }

/* Text. */

static text words(const char *literal) {
    size_t length = 0;
    while (literal[length]) length++;
    return (text){literal, length};
}

static bool starts_with(text whole, text start) {
    if (start.length > whole.length) return false;
    for (size_t i = 0; i < start.length; i++)
        if (whole.at[i] != start.at[i]) return false;
    return true;
}

static bool same(text a, text b) { return a.length == b.length && starts_with(a, b); }

static text from(text whole, size_t start) { return (text){whole.at + start, whole.length - start}; }

/* The piece up to the first `end`, taken off `rest`. */
static text cut(text *rest, char end) {
    size_t length = 0;
    while (length < rest->length && rest->at[length] != end) length++;
    text piece = {rest->at, length};
    *rest = from(*rest, length < rest->length ? length + 1 : length);
    return piece;
}

/* Writing: a buffer that grows. */

typedef struct {
    char *at;
    size_t length, room;
} buffer;

static void put_char(buffer *to, char c) {
    if (to->length == to->room) {
        size_t room = to->room ? 2 * to->room : 256;
        char *at = samuel_alloc(room);
        for (size_t i = 0; i < to->length; i++) at[i] = to->at[i];
        to->at = at;
        to->room = room;
    }
    to->at[to->length++] = c;
}

static void put(buffer *to, text piece) {
    for (size_t i = 0; i < piece.length; i++) put_char(to, piece.at[i]);
}

static void put_number(buffer *to, size_t number) {
    if (number >= 10) put_number(to, number / 10);
    put_char(to, (char)('0' + number % 10));
}

static text written(const buffer *in) { return (text){in->at, in->length}; }

/* A JSON string, with its quotes. */
static void put_json_string(buffer *to, text piece) {
    static const char digits[] = "0123456789abcdef";
    put_char(to, '"');
    for (size_t i = 0; i < piece.length; i++) {
        unsigned char c = (unsigned char)piece.at[i];
        if (c == '"' || c == '\\') put_char(to, '\\');
        if (c >= 0x20) {
            put_char(to, (char)c);
        } else {
            put(to, words("\\u00"));
            put_char(to, digits[c >> 4]);
            put_char(to, digits[c & 15]);
        }
    }
    put_char(to, '"');
}

/* Reading JSON without a parser: Samuel's payload is well formed, so skipping a value is enough to find one. */

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

static void skip_space(text *rest) {
    while (rest->length && is_space(rest->at[0])) *rest = from(*rest, 1);
}

/* One value, raw, taken off `rest`. */
static text json_value(text *rest) {
    skip_space(rest);
    text start = *rest;
    size_t depth = 0, i = 0;
    for (bool quoted = false; i < start.length; i++) {
        char c = start.at[i];
        if (quoted) {
            if (c == '\\') i++;
            else if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (depth && (c == '}' || c == ']')) {
            depth--;
        } else if (depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']' || is_space(c))) {
            break;
        }
    }
    *rest = from(start, i < start.length ? i : start.length);
    return (text){start.at, i < start.length ? i : start.length};
}

/* The raw value of a key; NOTHING when the object does not have it, or is no object. */
static text json_get(text object, const char *key) {
    skip_space(&object);
    if (!object.length || object.at[0] != '{') return NOTHING;
    object = from(object, 1);
    while (object.length) {
        skip_space(&object);
        if (!object.length || object.at[0] == '}') return NOTHING;
        if (object.at[0] == ',') object = from(object, 1);
        text name = json_value(&object);
        skip_space(&object);
        if (!object.length || object.at[0] != ':') return NOTHING;
        object = from(object, 1);
        text value = json_value(&object);
        if (name.length >= 2 && same((text){name.at + 1, name.length - 2}, words(key))) return value;
    }
    return NOTHING;
}

static uint32_t hex4(const char *at) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        value = value << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static void put_utf8(buffer *to, uint32_t point) {
    if (point < 0x80) {
        put_char(to, (char)point);
    } else if (point < 0x800) {
        put_char(to, (char)(0xc0 | point >> 6));
        put_char(to, (char)(0x80 | (point & 0x3f)));
    } else if (point < 0x10000) {
        put_char(to, (char)(0xe0 | point >> 12));
        put_char(to, (char)(0x80 | (point >> 6 & 0x3f)));
        put_char(to, (char)(0x80 | (point & 0x3f)));
    } else {
        put_char(to, (char)(0xf0 | point >> 18));
        put_char(to, (char)(0x80 | (point >> 12 & 0x3f)));
        put_char(to, (char)(0x80 | (point >> 6 & 0x3f)));
        put_char(to, (char)(0x80 | (point & 0x3f)));
    }
}

/* What a raw JSON string says; NOTHING when it is no string. */
static text json_text(text raw) {
    if (raw.length < 2 || raw.at[0] != '"') return NOTHING;
    buffer plain = {0};
    for (size_t i = 1; i + 1 < raw.length; i++) {
        char c = raw.at[i];
        if (c != '\\') {
            put_char(&plain, c);
            continue;
        }
        c = raw.at[++i];
        if (c == 'u' && i + 5 < raw.length) {
            uint32_t point = hex4(raw.at + i + 1);
            i += 4;
            if (point >= 0xd800 && point < 0xdc00 && i + 6 < raw.length) {
                point = 0x10000 + ((point - 0xd800) << 10) + (hex4(raw.at + i + 3) - 0xdc00);
                i += 6;
            }
            put_utf8(&plain, point);
        } else {
            static const char short_for[] = "n\nt\tr\rb\bf\f";
            for (size_t k = 0; k < sizeof short_for - 1; k += 2)
                if (short_for[k] == c) {
                    c = short_for[k + 1];
                    break;
                }
            put_char(&plain, c);
        }
    }
    return written(&plain);
}

/* How a hook answers: with JSON, or with no opinion. */

static int64_t answer(text json) { return (int64_t)(uintptr_t)json.at << 32 | (int64_t)json.length; }

static int64_t no_opinion(void) { return 0; }

#endif
