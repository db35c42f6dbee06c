#!/usr/bin/env bash
# What the tests need from Debian beside the contestants' runtimes: Chromium, in which they open the report's page,
# wrk and h2load, whose figures they hold beside those of jostle, servers of HTTP/2, a JDK, which builds one of gRPC,
# httpbin and Django, on which journeys go, FastAPI and nginx, of which faulty applications are made, Redis and
# dnsmasq, which answer raw bytes and datagrams, curl, with whose requests those of jostle are compared, and g++,
# which builds the fuzzer. Quick when nothing is missing.
set -euo pipefail
packages=()
command -v chromium >/dev/null || packages+=(chromium)
command -v wrk >/dev/null || packages+=(wrk)
command -v h2load >/dev/null || packages+=(nghttp2-client)
[ -x /usr/sbin/apache2 ] || packages+=(apache2-bin)
command -v h2o >/dev/null || packages+=(h2o)
[ -x /usr/sbin/haproxy ] || packages+=(haproxy)
[ -x /usr/sbin/nghttpd ] || packages+=(nghttp2-server)
command -v mvn >/dev/null || packages+=(maven)
command -v javac >/dev/null || packages+=(openjdk-17-jdk-headless)
command -v puma >/dev/null || packages+=(puma)
[ -x /usr/bin/rails ] || packages+=(ruby-rails)
command -v curl >/dev/null || packages+=(curl)
command -v g++ >/dev/null || packages+=(g++)
/usr/bin/python3 -c 'import httpbin' 2>/dev/null || packages+=(python3-httpbin)
/usr/bin/python3 -c 'import django' 2>/dev/null || packages+=(python3-django)
/usr/bin/python3 -c 'import fastapi' 2>/dev/null || packages+=(python3-fastapi)     # tests/faults
[ -x /usr/sbin/nginx ] || packages+=(nginx-light)
command -v javac >/dev/null || packages+=(default-jdk-headless)     # grpc-java
command -v redis-server >/dev/null || packages+=(redis-server)
[ -x /usr/sbin/dnsmasq ] || packages+=(dnsmasq-base)
command -v ip >/dev/null || packages+=(iproute2)     # hosts of the cluster tests are network namespaces
command -v pgrep >/dev/null || packages+=(procps)
[ ${#packages[@]} -gt 0 ] || exit 0
privileged=()
[ "$(id -u)" = 0 ] || privileged=(sudo)
apt() { "${privileged[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }
echo "install-test-tools: apt-get install ${packages[*]}"
apt update -qq
apt install -qq -y --no-install-recommends "${packages[@]}" >/dev/null
