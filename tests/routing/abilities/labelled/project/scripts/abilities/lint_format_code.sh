#!/bin/sh
cat >/dev/null
echo '{"status": "success"}'
