#!/bin/sh
# Debian packages that some tests need: installed when we are root on a Debian machine, else named.
# With what they recommend: podman without netavark is no podman.
wanted=""
command -v podman >/dev/null || wanted="$wanted podman"
command -v runc >/dev/null || wanted="$wanted runc"
command -v bwrap >/dev/null || wanted="$wanted bubblewrap"
[ -x /bin/busybox ] || command -v busybox >/dev/null || wanted="$wanted busybox-static"
command -v sshd >/dev/null || [ -x /usr/sbin/sshd ] || wanted="$wanted openssh-server"
command -v tmux >/dev/null || wanted="$wanted tmux"
command -v ssh >/dev/null || wanted="$wanted openssh-client"
command -v chromium >/dev/null || command -v google-chrome >/dev/null || wanted="$wanted chromium"
# jest and vitest, for tests/cheats: once, outside of any project.
packages="${XDG_CACHE_HOME:-$HOME/.cache}/samuel-node-packages"
if [ ! -x "$packages/node_modules/.bin/vitest" ]; then
    { command -v npm && mkdir -p "$packages" && cd "$packages" && echo '{"private": true}' > package.json &&
        npm install --ignore-scripts --no-audit --no-fund --silent jest@30.5.2 vitest@4.1.12; } >/dev/null 2>&1 ||
        echo "NOT TESTED: jest and vitest, which npm could not install into $packages" >&2
fi
[ -n "$wanted" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing for the tests:$wanted"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $wanted; } \
        >/dev/null 2>&1 && exit 0
fi
echo "NOT TESTED: what needs$wanted; install these packages to test it" >&2
exit 0
