#!/usr/bin/env bash
# Everything that the project needs beyond what the machine ships: uv, the locked Python environment, and the
# engine and reference servers built into it. Quick when nothing has changed.
#   scripts/setup.sh           for all that there is, tests too
#   scripts/setup.sh command   for the command alone: neither extras nor the developers' tools
# JOSTLE_PROFILE: Cargo's profile of engine and servers.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/failing.sh
. scripts/rust.sh
. scripts/uv.sh
profile=${JOSTLE_PROFILE:-release}
[ "$profile" != release ] || unset JOSTLE_PROFILE # uv builds anew where it changes
case "${1:-all}" in
    all) chosen=(--all-extras) bytecode=(--compile-bytecode) ;;
    command) chosen=(--no-dev) bytecode=() ;; # what it imports is compiled when it is
    *) fail "there is no setup for '$1'" "scripts/setup.sh, or scripts/setup.sh command" ;;
esac

[ -w . ] || fail "$PWD belongs to another user, and everything is built in it" "clone it as $(id -un), and try again"
# Luau, the language of scripts, is C++.
if ! command -v g++ >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "setup: g++"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++; } >/dev/null || true
fi
for command in python3 make gcc g++; do
    command -v "$command" >/dev/null ||
        fail "$command is missing" "on Debian, as root: apt-get install python3 python3-pip make gcc g++"
done
ensure_rust

# The engine and the reference servers are compiled while Python's packages are downloaded; building the project, below,
# finds them compiled.
compiled=$(mktemp 2>&1) || failed "making a temporary file" "$compiled"
cargo "build-$profile" --quiet 2>"$compiled" &
building=$!
trap 'kill "$building" 2>/dev/null || true; rm -f "$compiled"' EXIT
ensure_uv
found=$(.tools/bin/uv python find 2>&1) || case $found in
    *"No interpreter found"*)
        fail "jostle needs Python $(sed -n 's/^requires-python = ">=\(.*\)"/\1/p' pyproject.toml) or later, and python3 is $(
            python3 --version 2>&1 | cut -d' ' -f2
        )" "install a later one beside it, and try again"
        ;;
    *) failed "looking for Python" "$found" ;;
esac
sync() { .tools/bin/uv sync --locked --quiet "${chosen[@]}" "$@"; }
# Bytecode is compiled now, beside the engine, and not after it: where Python may not write bytecode, every start of
# the command would compile it all again.
step "installing Python's packages" sync --no-install-project --inexact "${bytecode[@]}"
wait "$building" || failed "compiling" "$(cat "$compiled")"
trap 'rm -f "$compiled"' EXIT
cat "$compiled" >&2
exact=()
[ "${1:-all}" = all ] || exact=(--inexact) # the developers' tools may be there, and stay
step "building the engine" sync "${exact[@]}"
# What was removed since, or left half-built, is not built anew by itself.
if ! .venv/bin/python -c 'import jostle._engine' 2>/dev/null || [ ! -x python/jostle/bin/jostle-reference ]; then
    step "building the engine again" sync "${exact[@]}" --reinstall-package jostle
fi
[ -z "${bytecode[*]}" ] || .venv/bin/python -m compileall -q -x /roster/ python/jostle
