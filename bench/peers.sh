#!/usr/bin/env bash
# Installs what jostle is measured against: wrk, h2load, ab, dnsperf, nginx, Redis, dnsmasq and tcpdump from Debian, oha
# from crates.io, k6 and ghz from the Go proxy. Prints the folder of those that it built. Quick when nothing is missing.
set -euo pipefail
CACHE=${JOSTLE_BENCH_CACHE:-/var/cache/jostle/bench}
OHA=1.16.0
K6=v1.8.1
GHZ=v0.120.0
missing=()
command -v wrk >/dev/null || missing+=(wrk)
command -v h2load >/dev/null || missing+=(nghttp2-client)
command -v ab >/dev/null || missing+=(apache2-utils)
command -v nginx >/dev/null || missing+=(nginx-light)
command -v tcpdump >/dev/null || missing+=(tcpdump)
command -v redis-server >/dev/null || missing+=(redis-server)
command -v redis-benchmark >/dev/null || missing+=(redis-tools)
[ -x /usr/sbin/dnsmasq ] || missing+=(dnsmasq-base)
command -v dnsperf >/dev/null || missing+=(dnsperf)
if [ ${#missing[@]} -gt 0 ]; then
    echo "bench: installing ${missing[*]}" >&2
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" >/dev/null
fi
if [ ! -x "$CACHE/bin/oha" ]; then
    echo "bench: building oha (a few minutes)" >&2
    cargo install --quiet --locked --root "$CACHE" "oha@$OHA"
fi
if [ ! -x "$CACHE/bin/k6" ]; then
    echo "bench: building k6 (a few minutes)" >&2
    GOBIN="$CACHE/bin" go install "go.k6.io/k6@$K6"
fi
if [ ! -x "$CACHE/bin/ghz" ]; then
    echo "bench: building ghz" >&2
    GOBIN="$CACHE/bin" go install "github.com/bojand/ghz/cmd/ghz@$GHZ"
fi
# The server of calls, which the tests have, too; Go keeps what it has built.
(cd "$(dirname "$0")/../tests/support/grpc/go" && go build -o "$CACHE/bin/grpc-go-server" .)
echo "$CACHE/bin"
