#!/bin/bash
# several.sh N COMMAND…: one command in N processes that listen at one port (SO_REUSEPORT). They end together.
set -u
count=$1
shift
[ "$count" -gt 1 ] || exec "$@"

trap 'kill "${started[@]}" 2> /dev/null; wait; exit' TERM INT
started=()
for _ in $(seq "$count"); do
    "$@" &
    started+=($!)
done
wait -n
status=$?
kill "${started[@]}" 2> /dev/null
wait
exit "$status"
