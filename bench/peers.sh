#!/usr/bin/env bash
# Installs what jostle is measured against: wrk, h2load, ab, dnsperf, nginx, Redis, dnsmasq and tcpdump from Debian, and of
# oha (crates.io), k6, ghz, hey, vegeta (the Go proxy) and Locust (PyPI) those that are named. Prints the folders of what it
# built, as in PATH. Quick when nothing is missing.
#
#     peers.sh [oha] [k6] [ghz] [hey] [vegeta] [locust]
set -euo pipefail
CACHE=${JOSTLE_BENCH_CACHE:-${XDG_CACHE_HOME:-/var/cache}/jostle/bench}
OHA=1.16.0
K6=v1.8.1
GHZ=v0.120.0
HEY=v0.1.5
VEGETA=v12.13.0
LOCUST=2.47.0
BUILT=$CACHE/oha-$OHA-k6-$K6-ghz-$GHZ # other versions are built anew
OTHERS=$CACHE/hey-$HEY-vegeta-$VEGETA-locust-$LOCUST
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
for peer in "$@"; do
    case $peer in
    oha)
        [ -x "$BUILT/bin/oha" ] && continue
        echo "bench: building oha (a few minutes)" >&2
        cargo install --quiet --locked --root "$BUILT" "oha@$OHA"
        ;;
    k6)
        [ -x "$BUILT/bin/k6" ] && continue
        echo "bench: building k6 (a few minutes)" >&2
        GOBIN="$BUILT/bin" go install "go.k6.io/k6@$K6"
        ;;
    ghz)
        # And the server of calls, which the tests have, too; Go keeps what it has built.
        (cd "$(dirname "$0")/../tests/support/grpc/go" && go build -o "$BUILT/bin/grpc-go-server" .)
        [ -x "$BUILT/bin/ghz" ] && continue
        echo "bench: building ghz" >&2
        GOBIN="$BUILT/bin" go install "github.com/bojand/ghz/cmd/ghz@$GHZ"
        ;;
    hey)
        [ -x "$OTHERS/bin/hey" ] && continue
        GOBIN="$OTHERS/bin" go install "github.com/rakyll/hey@$HEY"
        ;;
    vegeta)
        [ -x "$OTHERS/bin/vegeta" ] && continue
        GOBIN="$OTHERS/bin" go install "github.com/tsenart/vegeta/v12@$VEGETA"
        ;;
    locust)
        [ -x "$OTHERS/bin/locust" ] && continue
        python3 -m venv "$OTHERS/locust"
        "$OTHERS/locust/bin/pip" install --quiet "locust==$LOCUST"
        mkdir -p "$OTHERS/bin" && ln -s ../locust/bin/locust "$OTHERS/bin/locust"
        ;;
    *)
        echo "bench: $peer is not among what can be built: oha, k6, ghz, hey, vegeta, locust" >&2
        exit 2
        ;;
    esac
done
echo "$BUILT/bin:$OTHERS/bin"
