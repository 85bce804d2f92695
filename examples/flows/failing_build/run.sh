#!/bin/sh
# A session stops with two services changed; the build of one fails.
set -eu
cd "$(dirname "$0")"
id="flow-$$"

samuel trust --yes
samuel session start --id "$id"

# session_stop_build_check builds both services and proposes to open the file that fails.
samuel session stop --id "$id" --changed services/billing/invoice.py --changed services/auth/login.py
samuel session show --id "$id"
samuel session end --id "$id"
