# JSON -> one line for each string, number and literal in it: where it is, a tab, the value as JSON spells it.
#
#     {"a": {"b": [1, "x"]}}  ->  a.b.0	1
#                                 a.b.1	x
#
# With -v below=a only what is in `a`, without its name. Splitting at the quotes makes it quick for long texts.

BEGIN {
    RS = "\""
    below = below == "" ? "" : below "."
}

inside {
    text = text (continued ? "\"" : "") $0
    match($0, /\\*$/)
    continued = RLENGTH % 2  # a quote after an odd number of backslashes belongs to the text
    if (!continued) {
        inside = 0
        if (object[depth] && !value)
            name[depth] = text
        else
            put(text)
    }
    next
}

{
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        if (c == "{" || c == "[") {
            object[++depth] = (c == "{")
            name[depth] = 0
            value = 0
        } else if (c == ":") {
            value = 1
        } else if (c == "," || c == "}" || c == "]") {
            if (literal != "")
                put(literal)
            literal = ""
            value = 0
            if (c != ",")
                depth--
            else if (!object[depth])
                name[depth]++
        } else if (c !~ /[ \t\r\n]/) {
            literal = literal c
        }
    }
    inside = 1
    text = ""
    continued = 0
}

function put(json,    path, level) {
    path = name[1]
    for (level = 2; level <= depth; level++)
        path = path "." name[level]
    if (below == "" || index(path, below) == 1)
        print substr(path, length(below) + 1) "\t" json
}
