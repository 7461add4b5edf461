#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Verdicts put to the test again: those that were falsified in the store are found, and no others.
. "$(dirname "$0")/lib.sh"

n=10 # bisections, of one metric each
data=$work/data
line_repo line --commits $((2 * n + 2))

# Metric I rises at commit 2 I; the last one never does.
{
    printf 'data_dir: %s\nlisten: none\ncalibration: {share: 100%%, idle: 1h}\n' "$data"
    printf 'projects:\n  - name: line\n    repository: %s\n    submodules: none\n' "$work/line"
    printf '    platforms: [linux-x64]\n    metrics:\n'
    for ((i = 1; i <= n; i++)); do
        at=$((i < n ? 2 * i : 1000))
        printf '      m%d: {kind: value, worse: up, command: "echo $((100 + 5 * ($(cat counter) >= %d)))"}\n' $i $at
    done
} >"$work/bisectd.yml"

start() {
    serve --config "$work/bisectd.yml" --workers 1
}
client=(--coordinator "unix:$(socket_of "$data")")

claim "a service without verdicts has nothing to report, and says so"
start
run 0 bisectctl calibration "${client[@]}" --json
json '.verdicts == 0 and .total.stated == 0 and .total.interval == null and .wrong == []'
run 0 bisectctl calibration "${client[@]}"

ids=()
for ((i = 1; i <= n; i++)); do
    jq -n --arg metric m$i '{project: "line", metric: $metric, good: "good", bad: "bad", seed: 1,
        no_explain: true}' >"$work/request.json"
    api "$data" POST /api/v1/bisections "@$work/request.json"
    [ "$http" = 201 ] || fail "status $http"
    ids+=("$(field .id)")
done
for id in "${ids[@]}"; do
    timeout 60 bisectctl watch "$id" "${client[@]}" --json >"$out" 2>"$err" || [ $? -eq 3 ] || fail "watch $id"
done

claim "the report counts them by their stated confidence, and nothing was checked yet"
run 0 bisectctl calibration "${client[@]}" --json
json '.verdicts == 10 and .total.stated == 10 and .total.checked == 0 and .total.mean > .95'
json '([.bins[].stated] | add) == 10 and .checks == {waiting: 0, measuring: 0}'
run 0 bisectctl calibration "${client[@]}"
says "None was checked yet"

claim "so many as are asked for are checked, and are right"
run 0 bisectctl calibration "${client[@]}" --check 3 --json
json '.total.checked == 3 and .total.right == 3 and .total.fraction == 1 and .total.differ == 0'
json '.total.interval[0] > .29 and .total.interval[0] < .3 and .total.interval[1] == 1'
json '.total.replayed == 3'

claim "checks are comparisons of fresh builds, on fresh samples"
api "$data" GET /api/v1/comparisons
json '(.items | length) == 3'
id=$(field '.items[0].id')
api "$data" GET "/api/v1/bisections/$id"
json '.cost.builds == 2 and .cost.builds_reused == 0 and .cost.runs_reused == 0 and .confidence == .999'

claim "a check does not delay other work: its tasks wait until there is no other"
stop "$daemon"
serve --config "$work/bisectd.yml" --workers 0
api "$data" POST /api/v1/calibration/checks '{"count": 2}'
[ "$http" = 202 ] || fail "status $http"
json '.opened == 2'
take() { # WORKER HOST [PLATFORM]
    api "$data" POST /api/v1/leases "$(jq -nc --arg worker "$1" --arg host "$2" --arg platform "${3-linux-x64}" \
        '{worker: $worker, host: $host, platform: $platform, tags: []}')"
}
until [ "$(sqlite3 "$data/bisectd.db" "SELECT count(*) FROM tasks WHERE state = 'queued' AND when_idle")" = 2 ]; do
    api "$data" GET /healthz
done
jq -n '{project: "line", metric: "m1", good: "good", bad: "bad", seed: 9, fresh: true, no_explain: true}' >"$work/request.json"
api "$data" POST /api/v1/bisections "@$work/request.json"
wanted=$(field .id)
until [ "$(sqlite3 "$data/bisectd.db" "SELECT count(*) FROM tasks WHERE state = 'queued' AND NOT when_idle")" = 1 ]; do
    api "$data" GET /healthz
done
take w1 here
json '.bisection == $wanted' --arg wanted "$wanted"
take w2 here
[ "$http" = 204 ] || fail "status $http: a check was given where somebody measures"
take w3 elsewhere
[ "$http" = 200 ] || fail "status $http"
json '.bisection != $wanted' --arg wanted "$wanted"
api "$data" POST "/api/v1/bisections/$wanted/cancel"
take w3 elsewhere none # who asks has nothing: its task goes back
[ "$http" = 204 ] || fail "status $http"

claim "kill -9 in the middle of it loses nothing, and falsified verdicts are not what was checked before"
stop "$daemon" KILL
# Two that were checked already and two that were not now blame another commit; one was confirmed
# by nobody and now denies its culprit.
sqlite3 "$data/bisectd.db" "SELECT bisection FROM checks WHERE outcome = 'right' AND claim LIKE 'culprit%'" | head -n 2 >"$work/falsified"
sqlite3 "$data/bisectd.db" "SELECT bisection FROM verdicts WHERE verdict ->> '\$.verdict' = 'culprit'
    AND bisection NOT IN (SELECT bisection FROM checks) ORDER BY bisection" | head -n 2 >>"$work/falsified"
other=$(git -C "$work/line" rev-list --reverse good..bad | sed -n 21p)
while read -r id; do
    sqlite3 "$data/bisectd.db" "UPDATE verdicts SET verdict = json_set(verdict, '\$.culprits[0].revision', '$other') WHERE bisection = '$id'"
done <"$work/falsified"
[ "$(wc -l <"$work/falsified")" = 4 ] || fail "not 4 verdicts to falsify"
denier=$(sqlite3 "$data/bisectd.db" "SELECT bisection FROM verdicts WHERE verdict ->> '\$.verdict' = 'culprit'
    AND bisection NOT IN (SELECT bisection FROM checks) AND verdict ->> '\$.culprits[0].revision' <> '$other' LIMIT 1")
sqlite3 "$data/bisectd.db" "UPDATE verdicts SET verdict = json_set(verdict, '\$.verdict', 'not_reproduced',
    '\$.p_no_change', .995) WHERE bisection = '$denier'"
echo "$denier" >>"$work/falsified"
start
run 0 bisectctl calibration "${client[@]}" --check-all --json
says "to check"
json '.total.stated == 10 and .total.checked == 10 and .total.wrong == 5 and .total.right == 5'
json '([.wrong[].id] | sort) == ($want | sort)' --argjson want "$(jq -R . "$work/falsified" | jq -sc .)"
json '.total.differ == 5 and ([.differ[].id] | sort) == ([.wrong[].id] | sort) and all(.wrong[]; .differs)'
json 'all(.wrong[]; .comparison and .probability and (.reason | length > 0))'
json '.checks == {waiting: 0, measuring: 0} and .total.replayed == 10'

claim "people are told which, what was measured, and what to type next"
run 0 bisectctl calibration "${client[@]}"
says "^5 verdicts found wrong"
says "no change of at least"
says "bisectctl show $denier --coordinator"
says "^5 verdicts that do not follow from their own samples"
run 0 bisectctl show "$(sqlite3 "$data/bisectd.db" 'SELECT comparison FROM check_parts LIMIT 1')" "${client[@]}" --json

claim "nothing is checked twice"
run 0 bisectctl calibration "${client[@]}" --check-all --json
says "0 statements to check"
json '.total.checked == 10'

claim "mistakes are told"
run 2 bisectctl calibration "${client[@]}" --check 0
run 2 bisectctl calibration "${client[@]}" --check 1 --check-all
api "$data" POST /api/v1/calibration/checks '{"count": 0}'
[ "$http" = 400 ] || fail "status $http"
api "$data" POST /api/v1/calibration/checks '{}'
[ "$http" = 400 ] || fail "status $http"

claim "an idle service checks a share of its verdicts by itself"
stop "$daemon"
sqlite3 "$data/bisectd.db" "DELETE FROM check_parts; DELETE FROM checks; DELETE FROM replays"
sed -i 's/idle: 1h/idle: 0s/' "$work/bisectd.yml"
start
until [ "$(sqlite3 "$data/bisectd.db" "SELECT count(*) FROM checks WHERE outcome IS NOT NULL")" = 10 ]; do
    api "$data" GET /healthz
done
run 0 bisectctl calibration "${client[@]}" --json
json '.total.right == 5 and .total.wrong == 5 and .total.differ == 5'
stop "$daemon"

claim "a private store checks nothing unless asked, and then it does"
bisect 0 "$work/line" --measure 'echo $(($(cat counter) >= 7))' --metric value:worse=up --store "$work/store"
run 0 bisectctl calibration --store "$work/store" --json
json '.total.stated == 1 and .total.checked == 0 and .total.replayed == 0'
run 0 bisectctl calibration --store "$work/store" --check-all --json
json '.total.right == 1 and .total.wrong == 0 and .total.replayed == 1 and .total.differ == 0'

claim "a merge is compared with each of its parents"
(
    . "$make_repo/history.sh"
    commit() { # SUBJECT A B [PARENT [MERGED]]
        history_commit main "Ada Merge <ada@example.org>" "$1" "${4-}" "${5-}"
        history_file a "$2"
        history_file b "$3"
    }
    history_begin "$work/merges"
    commit "first" 100 100
    history_tag good 1
    commit "on the main line" 100 100
    commit "on the side: b rises" 100 120 1
    commit "more on the side" 100 120
    commit "merge, in which a rises too" 120 120 2 4
    commit "last" 120 120
    history_tag bad 6
    history_end
)
merge=$(git -C "$work/merges" rev-parse bad~1)
for metric in a b; do
    bisect 0 "$work/merges" --measure "cat $metric" --metric value:worse=up --store "$work/merges.store"
    json '(.culprits[0].revision == $merge) == ($metric == "a")' --arg merge "$merge" --arg metric $metric
done
innocent=$(field .id)
wait_for_store "$work/merges.store"
sqlite3 "$work/merges.store/bisectd.db" "UPDATE verdicts SET
    verdict = json_set(verdict, '\$.culprits[0].revision', '$merge') WHERE bisection = '$innocent'"
run 0 bisectctl calibration --store "$work/merges.store" --check-all --json
json '.total.right == 1 and .total.wrong == 1 and .wrong[0].id == $id' --arg id "$innocent"
json '.wrong[0].base == $side' --arg side "$(git -C "$work/merges" rev-parse "$merge^2")"
wait_for_store "$work/merges.store"
[ "$(sqlite3 "$work/merges.store/bisectd.db" "SELECT count(*) FROM check_parts")" = 4 ] || fail "not 4 comparisons"
