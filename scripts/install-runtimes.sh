#!/usr/bin/env bash
# The Debian packages that the roster's contestants need and that are not there. Quick when nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tab-separated: the contestants' missing needs, as Debian package (may be empty) and the command that brings it.
missing() {
    .venv/bin/python - <<'PYTHON'
from jostle import roster
from jostle.contestant import find

needs = {(need.package, need.install) for name in roster.names() for need in find(name).missing()}
print("\n".join(f"{package}\t{install}" for package, install in sorted(needs)))
PYTHON
}

needs=$(missing)
[ -n "$needs" ] || exit 0

privileged=()
[ "$(id -u)" = 0 ] || privileged=(sudo)
apt() { "${privileged[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }

echo "install-runtimes: apt-get update"
apt update -qq
# Only what apt-get is said to bring, and knows: some runtimes come from elsewhere.
packages=()
while IFS=$'\t' read -r package install; do
    if [ -n "$package" ] && [[ $install == apt-get\ install* ]] && apt-cache show "$package" >/dev/null 2>&1; then
        packages+=("$package")
    fi
done <<<"$needs"
if [ ${#packages[@]} -gt 0 ]; then
    echo "install-runtimes: apt-get install ${packages[*]}"
    apt install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
fi

needs=$(missing)
[ -n "$needs" ] || exit 0
echo "install-runtimes: still missing; to be installed by hand:" >&2
cut -f2 <<<"$needs" | sort -u | sed 's/^/  /' >&2
exit 1
