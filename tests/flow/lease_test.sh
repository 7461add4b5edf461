#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The protocol of workers, spoken by hand: leases, fences, repeats, expiry, infrastructure faults.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 8 --culprit 5
data=$work/data
serve --data-dir "$data" --listen none --workers 0

submit() { # NAME
    jq -n --arg repo "$work/line" --arg name "$1" '{project: {name: $name, repository: $repo, submodules: "none",
        platforms: ["linux-x64"], build: {steps: []}, metrics: {m: {kind: "exit", command: "true"}}},
        metric: "m", good: "good", bad: "bad"}' >"$work/request.json"
    api "$data" POST /api/v1/bisections "@$work/request.json"
    [ "$http" = 201 ] || fail "status $http"
    bisection=$(field .id)
}

lease() { # WORKER: the lease is in $work/lease.json
    api "$data" POST '/api/v1/leases?wait=30' \
        "{\"worker\": \"$1\", \"host\": \"h-$1\", \"platform\": \"linux-x64\", \"tags\": []}"
    [ "$http" = 200 ] || fail "no lease: status $http"
    cp "$out" "$work/lease.json"
    lease_id=$(field .id)
    fence=$(field .fence)
    task=$(field .task)
}

# A full result: every build passed, every run has the value given.
result() { # FENCE VALUE
    jq --argjson fence "$1" --argjson value "$2" '{fence: $fence,
        environment: {host: "h", worker: "w", platform: "linux-x64", kernel: "k", cpu: "c", n_cpus: 1, load: 0,
            sandbox: "plain", isolation: "none"},
        builds: [.spec.builds[] | {revision, status: "ok", reason: null,
            artifact: "0000000000000000000000000000000000000000000000000000000000000000", seconds: 1}],
        runs: [range(.spec.runs | length) | {run: ., attempt: 0, status: "ok", reason: null, values: [$value],
            value: $value, at: "2026-01-01T00:00:00.000Z", seconds: 1}],
        fault: null}' "$work/lease.json"
}

claim "a worker of another platform gets nothing"
submit one
api "$data" POST '/api/v1/leases?wait=0' '{"worker": "w", "host": "h", "platform": "mac-arm64", "tags": []}'
[ "$http" = 204 ] || fail "status $http"

claim "a lease can be renewed with its fence, and with no other"
lease w1
api "$data" PUT "/api/v1/leases/$lease_id" "{\"fence\": $fence, \"activity\": \"building\"}"
[ "$http" = 200 ] || fail "status $http"
api "$data" PUT "/api/v1/leases/$lease_id" "{\"fence\": $((fence + 1000)), \"activity\": \"building\"}"
[ "$http" = 409 ] || fail "status $http"

claim "a result with a stale fence is refused"
api "$data" POST "/api/v1/leases/$lease_id/result" "$(result $((fence + 1000)) 0)"
[ "$http" = 409 ] || fail "status $http"

claim "a result that is no result is refused and harms nothing"
for body in '{' '[]' '{}' "{\"fence\": $fence}" "$(result "$fence" '"x"')"; do
    api "$data" POST "/api/v1/leases/$lease_id/result" "$body"
    [ "$http" = 400 ] || fail "status $http for $body"
done

claim "a result is accepted once; a repeat gets the first answer"
body=$(result "$fence" 0)
api "$data" POST "/api/v1/leases/$lease_id/result" "$body"
[ "$http" = 200 ] || fail "status $http"
cp "$out" "$work/answer"
json '.task == $task and .accepted > 0' --arg task "$task"
api "$data" POST "/api/v1/leases/$lease_id/result" "$body"
[ "$http" = 200 ] || fail "status $http"
cmp "$out" "$work/answer" || fail "another answer"
api "$data" GET "/api/v1/bisections/$bisection/samples?limit=1000"
jq -e '[.items[] | [.task, .run, .attempt]] | length == (unique | length)' "$out" >/dev/null || fail "a sample twice"

claim "a task whose worker stops mid-way is done by another, and the first one's result is fenced off"
submit two
lease w1
old_lease=$lease_id old_fence=$fence old_task=$task
stop "$daemon" KILL
serve --data-dir "$data" --listen none --workers 0
api "$data" POST "/api/v1/leases/$old_lease/result" "$(result "$old_fence" 0)"
[ "$http" = 200 ] || [ "$http" = 409 ] || fail "status $http"

claim "fences grow across restarts"
submit three
lease w2
[ "$fence" -gt "$old_fence" ] || fail "$fence after $old_fence"

claim "an infrastructure fault is tried again, at most three times, and blames no commit"
submit four
n_tries=0
while [ $n_tries -lt 12 ]; do
    api "$data" GET "/api/v1/bisections/$bisection"
    [ "$(field .state)" != done ] || break
    lease "w$((n_tries % 3))"
    if [ "$(jq -r .bisection "$work/lease.json")" = "$bisection" ]; then n_tries=$((n_tries + 1)); fi
    api "$data" POST "/api/v1/leases/$lease_id/result" "$(jq --argjson fence "$fence" -n '{fence: $fence,
        environment: {host: "h", worker: "w", platform: "linux-x64", kernel: "k", cpu: "c", n_cpus: 1, load: 0,
            sandbox: "plain", isolation: "none"}, builds: [], runs: [], fault: "disk full"}')"
done
api "$data" GET "/api/v1/bisections/$bisection"
json '.state == "done" and .verdict == "failed" and .culprits == [] and (.message | length > 0)'
[ $n_tries -ge 3 ] || fail "$n_tries tries"
stop "$daemon"
