#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A machine that works for others: times wait for it, but not for ever; counts and tests do not.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 2
serve --data-dir "$work/data" --listen none --workers 0
bisect-worker --coordinator "unix:$work/data/socket" --work-dir "$work/worker" --quiet-wait 1s \
    2>"$work/worker.log" &
started+=($!)
for ((i = 0; i < $(getconf _NPROCESSORS_ONLN); i++)); do
    sh -c 'while :; do :; done' &
    started+=($!)
done

measure() { # METRIC: the logs of its tasks are in $work/logs
    run 0 bisectctl submit --coordinator "unix:$work/data/socket" --repo "$work/line" --good good --bad bad \
        --metric "$1" --measure 'cat level' --budget-runs 12 --json
    id=$(field .id)
    bisectctl watch "$id" --coordinator "unix:$work/data/socket" --json >"$out" 2>"$err" || true
    api "$work/data" GET "/api/v1/bisections/$id/samples?limit=1000"
    : >"$work/logs"
    for task in $(field '[.items[].task] | unique | .[]'); do
        curl -sS --max-time 20 --unix-socket "$(socket_of "$work/data")" "http://localhost/api/v1/tasks/$task/log" >>"$work/logs"
    done
    [ -s "$work/logs" ] || fail "no task has a log"
}

claim "a time is measured all the same after the wait, and the log says on what"
measure wall
grep -qE 'this machine is not quiet: [0-9]+ % of it is at work for others \(25 % would do\); waited [0-9.]+m?s, measuring all the same' "$work/logs" ||
    fail "no log tells of a busy machine: $(head -c 2000 "$work/logs")"

claim "pass or fail does not wait"
measure exit
! grep -q quiet "$work/logs" || fail "it was waited for"

claim "a wait that is no duration is wrong usage"
run 2 env BISECTD_QUIET_WAIT=2h bisect-worker
says '\$BISECTD_QUIET_WAIT: at most 1h'
run 2 bisect-worker --quiet-wait soon
says '--quiet-wait: '
