#!/usr/bin/env bash
# Fuzzes the engine, then what Python reads (scripts/fuzz_python.py): every target for some seconds (60), or those of
# the engine that are named. What they hold, how long they were run so far, and how to keep what they found:
# crates/engine/fuzz/README.md
#
#     scripts/fuzz.sh [SECONDS [TARGET…]]
#
# The compiler's coverage instrumentation is in every toolchain, so that this needs neither nightly nor cargo-fuzz;
# cargo-fuzz itself calls it in the same way. Sanitizers would need nightly: the engine's codec has no unsafe code.
set -euo pipefail
cd "$(dirname "$0")/../crates/engine/fuzz"
seconds=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks \
-Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-trace-compares \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
cargo build --quiet --locked --release --target "$host"
for target in "${targets[@]}"; do
    corpus=target/corpus/$target
    mkdir -p "$corpus"
    log=target/$target.log
    # A failing input is written beside the log, and its path said.
    if ! "target/$host/release/$target" "$corpus" "corpus/$target" -max_total_time="$seconds" -dict=http.dict -timeout=10 \
        -artifact_prefix=target/ >"$log" 2>&1; then
        cat "$log" >&2
        echo "fuzz: $target failed; try again with crates/engine/fuzz/target/$host/release/$target FILE" >&2
        exit 1
    fi
    echo "fuzz $target: $(tail -n 1 "$log"), nothing found"
done
[ $# -gt 0 ] || exec ../../../.venv/bin/python ../../../scripts/fuzz_python.py "$seconds"
