# shellcheck shell=bash
# The uv that scripts/uv.txt names.

export UV_PYTHON_DOWNLOADS=never

# Installs it into .tools, by its hash.
ensure_uv() {
    local version
    version=$(sed -n "s/^uv==\([0-9.]*\).*/\1/p" scripts/uv.txt)
    [ ! -x .tools/bin/uv ] || [ "$(.tools/bin/uv --version 2>/dev/null | cut -d' ' -f2)" != "$version" ] || return 0
    python3 -m pip --version >/dev/null 2>&1 || fail "pip is missing" "on Debian, as root: apt-get install python3-pip"
    echo "setup: uv $version"
    step "installing uv" python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check \
        --upgrade --target .tools --require-hashes --requirement scripts/uv.txt
}
