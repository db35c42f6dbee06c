# shellcheck shell=bash
# The Rust that rust-toolchain.toml names.

# Installs it if rustup is there; otherwise says what is missing.
ensure_rust() {
    local channel needed found
    channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
    if command -v rustup >/dev/null && ! rustup run "$channel" cargo --version >/dev/null 2>&1; then
        echo "setup: Rust $channel"
        step "installing Rust $channel" \
            rustup --quiet toolchain install "$channel" --no-self-update --profile minimal --component rustfmt --component clippy
    fi
    command -v cargo >/dev/null ||
        fail "Rust is missing" "install it by rustup (https://rustup.rs), and try again in a new shell"
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(cargo --version 2>/dev/null | cut -d' ' -f2)
    [ "$(printf '%s\n' "$needed" "${found:-0}" | sort -V | head -1)" = "$needed" ] ||
        fail "jostle needs Rust $needed, and cargo is ${found:-not usable}" \
            "install it by rustup (https://rustup.rs), and try again in a new shell"
}
