#!/usr/bin/env bash
# Installs what jostle is measured against: wrk, ab and nginx from Debian, oha from crates.io.
set -euo pipefail
CACHE=${JOSTLE_BENCH_CACHE:-/var/cache/jostle/bench}
missing=()
command -v wrk >/dev/null || missing+=(wrk)
command -v ab >/dev/null || missing+=(apache2-utils)
command -v nginx >/dev/null || missing+=(nginx-light)
if [ ${#missing[@]} -gt 0 ]; then
    echo "bench: installing ${missing[*]}" >&2
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" >/dev/null
fi
if [ ! -x "$CACHE/bin/oha" ]; then
    echo "bench: building oha (a few minutes)" >&2
    cargo install --quiet --locked --root "$CACHE" oha
fi
echo "$CACHE/bin"
