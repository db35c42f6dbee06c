# shellcheck shell=bash
# How the scripts that set up fail: what did, in one sentence, and what to do about it.

# fail SENTENCE [REMEDY…]: ends the script.
fail() {
    printf 'setup: %s\n' "$1" >&2
    [ $# = 1 ] || printf '  %s\n' "${@:2}" >&2
    exit 1
}

# As cargo, rustup, pip and uv say it.
NO_NETWORK='[Ff]ailed to (download|fetch)|[Cc]ould not (download|connect|resolve)|Could not find a version|network failure'
NOT_WRITABLE='Permission denied|Read-only file system'
HALF_BUILT='found invalid metadata files|file truncated|file too short'

# failed WHAT SAID: ends the script, with the reason if it is a known one instead of all that was said.
failed() {
    local what=$1 said=$2 why
    if why=$(grep -m1 -E "$NOT_WRITABLE" <<<"$said"); then
        # cargo names the file some lines before
        [[ $why = */* ]] || why="$(grep -m1 -B4 -E "$NOT_WRITABLE" <<<"$said" | grep -m1 /): ${why#"${why%%[! ]*}"}"
        fail "$what failed, because a file may not be written: ${why#"${why%%[! ]*}"}" \
            "let $(id -un) write there, or name other folders: CARGO_HOME, UV_CACHE_DIR, RUSTUP_HOME, TMPDIR"
    fi
    if why=$(grep -m1 -E "$NO_NETWORK" <<<"$said"); then
        fail "$what failed, because nothing could be downloaded: ${why#"${why%%[! ]*}"}" \
            "is there a network? https_proxy names a proxy, the settings of cargo, pip and uv a mirror"
    fi
    if why=$(grep -m1 -E "$HALF_BUILT" <<<"$said"); then
        fail "$what failed, because an earlier build left broken files: $why" "make clean, and try again"
    fi
    printf '%s\n' "$said" >&2
    fail "$what failed; the lines above say why" \
        "if it was interrupted before, what is left may be broken: make clean, and try again"
}

# step WHAT COMMAND…: runs it.
step() {
    local said
    { said=$("${@:2}" 2>&1 >&3) || failed "$1" "$said"; } 3>&1
    [ -z "$said" ] || printf '%s\n' "$said" >&2
}
