#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Accidents to our own processes, and to what they had started.
. "$(dirname "$0")/lib.sh"

run_limit=300
claim "six kills of daemon and worker lose nothing and count nothing twice"
run 0 "$source_dir/tests/bench/kill.sh" "$work/kills" 6
cat "$out"

claim "a worker killed with -9 takes its job with it"
line_repo line --commits 4 --culprit 2
serve --data-dir "$work/data" --listen none --workers 0
bisect-worker --coordinator "unix:$(socket_of "$work/data")" --work-dir "$work/worker" --name doomed \
    2>"$work/worker.log" &
worker=$!
started+=("$worker")
mkfifo "$work/alive"
run 0 bisectctl submit --coordinator "unix:$(socket_of "$work/data")" --repo "$work/line" --good good --bad bad --metric exit --json \
    --measure "(setsid sleep $nap &); echo here >$work/alive; sleep $nap"
read -r -t 60 word <"$work/alive" || fail "the job did not start"
exec 6<>"$work/alive"
pgrep -f "sleep $nap" >"$work/pids" || fail "no job is there"
stop "$worker" KILL
while read -r pid; do
    timeout 20 tail --pid="$pid" -f /dev/null || fail "process $pid of the job lives on"
done <"$work/pids"
stop "$daemon"
