#!/usr/bin/env bash
# `make demo`: sets up the command, and races two real servers. What these need is looked for before anything is
# compiled, for which a newcomer would wait in vain.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/failing.sh

# needs COMMAND CONTESTANT: it is on the PATH, or where contestant.toml looks for it.
needs() {
    local file=python/jostle/roster/$2/contestant.toml place
    of() { sed -n "/^command = \"$1\"/,/^install = /s/^$2 = //p" "$file" | tr -d '[]",'; }
    command -v "$1" >/dev/null && return
    for place in $(of "$1" paths); do
        [ ! -x "$place" ] || return 0
    done
    fail "the demo measures the contestant $2, which needs $1, and that is missing" "$(of "$1" install)"
}

needs node node
needs npm node
needs go go
scripts/setup.sh command
measured=0
.venv/bin/jostle race starvation --quick --contestants node,go || measured=$?
if [ "$(cat python/jostle/bin/profile)" != release ]; then
    echo "build       compiled quickly and hardly optimised: figures of jostle's own cost need make wheel"
fi
[ "$measured" = 3 ] || exit "$measured" # 3: measured, and judged invalid
