#!/usr/bin/env bash
# Debian's Chromium, in which the tests open the report's page.
set -euo pipefail
command -v chromium >/dev/null && exit 0
privileged=()
[ "$(id -u)" = 0 ] || privileged=(sudo)
apt() { "${privileged[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }
echo "install-browser: apt-get install chromium"
apt update -qq
apt install -qq -y --no-install-recommends chromium >/dev/null
