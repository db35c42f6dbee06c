#!/usr/bin/env bash
# Everything that the project needs beyond what the machine ships: uv, the locked Python environment, and the
# engine and reference servers built into it. Quick when nothing has changed. JOSTLE_PROFILE: Cargo's profile of both.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${JOSTLE_PROFILE:-release}
[ "$profile" != release ] || unset JOSTLE_PROFILE # uv builds anew where it changes

UV_VERSION=$(sed -n "s/^uv==\([0-9.]*\).*/\1/p" scripts/uv.txt)
export UV_PYTHON_DOWNLOADS=never

# Luau, the language of scripts, is C++.
if ! command -v g++ >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    echo "setup: g++"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends g++; } >/dev/null
fi
for command in python3 cargo make gcc g++; do
    command -v "$command" >/dev/null || { echo "setup: '$command' is missing; install it and try again" >&2; exit 1; }
done
if [ ! -x .tools/bin/uv ] && ! python3 -m pip --version >/dev/null 2>&1; then
    echo "setup: pip is missing (on Debian the package python3-pip); install it and try again" >&2
    exit 1
fi
# The engine and the reference servers are compiled while Python's packages are downloaded; building the project, below,
# finds them compiled.
cargo build-reference --profile "$profile" --quiet &
building=$!
trap 'kill "$building" 2>/dev/null || true' EXIT
if [ ! -x .tools/bin/uv ] || [ "$(.tools/bin/uv --version | cut -d' ' -f2)" != "$UV_VERSION" ]; then
    echo "setup: uv $UV_VERSION"
    python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --upgrade --target .tools \
        --require-hashes --requirement scripts/uv.txt
fi
# Bytecode is compiled now, beside the engine, and not after it: where Python may not write bytecode, every start of
# the command would compile it all again.
.tools/bin/uv sync --locked --all-extras --quiet --no-install-project --inexact --compile-bytecode
wait "$building"
trap - EXIT
.tools/bin/uv sync --locked --all-extras --quiet
.venv/bin/python -m compileall -q -x /roster/ python/jostle
