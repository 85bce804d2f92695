/* Lists the lines of a task that carry a mark such as TODO, as an extra for the prompt. */

#include "samuel.h"

/* Does `line` begin with one of `marks`, which are words with blanks between them? */
static bool is_marked(text line, text marks) {
    while (marks.length) {
        text mark = cut(&marks, ' ');
        if (mark.length && starts_with(line, mark)) return true;
    }
    return false;
}

SAMUEL_EXPORT("on_context_extra") int64_t on_context_extra(const char *at, size_t length) {
    text payload = {at, length};
    text task = json_get(payload, "task");
    text marks = json_text(json_get(json_get(json_get(payload, "plugin"), "config"), "marks"));
    if (!marks.length) marks = words("TODO FIXME XXX");

    buffer list = {0};
    size_t open_points = 0, number = 0;
    text rest = json_text(json_get(task, "description"));
    while (rest.length) {
        text line = cut(&rest, '\n');
        number++;
        for (size_t i = 0; i < line.length; i++) {
            if (!is_marked(from(line, i), marks)) continue;
            open_points++;
            put(&list, words("- line "));
            put_number(&list, number);
            put(&list, words(": "));
            put(&list, from(line, i));
            put_char(&list, '\n');
            break;
        }
    }
    if (!open_points) return no_opinion();

    buffer content = {0};
    put_number(&content, open_points);
    put(&content, words(open_points == 1 ? " open point in task " : " open points in task "));
    put(&content, json_text(json_get(task, "id")));
    put(&content, words(":\n\n"));
    put(&content, written(&list));

    buffer json = {0};
    put(&json, words("{\"extras\": [{\"name\": \"open-points.md\", \"content\": "));
    put_json_string(&json, written(&content));
    put(&json, words("}]}"));
    return answer(written(&json));
}
