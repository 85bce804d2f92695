#!/usr/bin/env bash
# @NAME@: a hook for @EVENT@.
#
#   @NAME@ hook    prints the events it is for
#   @NAME@ run     gets the event as JSON on stdin, prints its result as JSON on stdout
#
# The event has   @FIELDS@
# A result has    @KEYS@
# In full:        samuel hooks schema @EVENT@
#
# No output and exit code 0 mean "no opinion". What goes to stderr is kept: samuel hooks log --json
set -euo pipefail

case "${1:-}" in
hook)
    echo '@EVENT@'
    ;;
run)
    event=$(cat)
    echo "@NAME@ got ${#event} characters" >&2
    echo '@JSON@'
    ;;
*)
    echo "usage: ${0##*/} hook|run" >&2
    exit 2
    ;;
esac
