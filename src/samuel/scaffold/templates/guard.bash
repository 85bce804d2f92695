#!/usr/bin/env bash
# @NAME@: a guard for @EVENT@.
#
#   @NAME@ hook    prints the events it is for
#   @NAME@ run     gets the event as JSON on stdin, prints its result as JSON on stdout
#
# The event has   @FIELDS@
# A result has    @KEYS@
# In full:        samuel hooks schema @EVENT@
#
# Only `decision` decides: deny, ask or allow. No output and exit code 0 mean "no opinion". What goes to stderr is
# kept: samuel hooks log --json
#
# A crash, a timeout or wrong output of this hook is only a warning, and nothing is denied. It denies with these
# lines in samuel.toml:
#
#   [hooks.@EVENT@]
#   handlers = [{ use = "@NAME@", strict = true }, "..."]
set -euo pipefail

case "${1:-}" in
hook)
    echo '@EVENT@'
    ;;
run)
    event=$(cat)
    echo "@NAME@ got ${#event} characters" >&2
    if [[ $event == *'rm -rf'* ]]; then # an example: put here what you want to deny
        echo '@DENIAL@'
    fi
    ;;
*)
    echo "usage: ${0##*/} hook|run" >&2
    exit 2
    ;;
esac
