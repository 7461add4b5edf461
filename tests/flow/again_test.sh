#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The second time: reuse, resume, join, verify.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 60 --culprit 41 --levels 100,104
line=$work/line
store=$work/store
noisy="$BISECTD_SUPPORT/noise \$(cat level) 0.5"

claim "a second run on a store reuses its builds and samples"
bisect 0 "$line" --store "$store" --measure "$noisy" --metric value:worse=up --seed 1
is_culprit "$answer"
json '.cost.builds_reused == 0 and .cost.runs_reused == 0'
n_runs=$(field .cost.runs)
n_builds=$(field .cost.builds)
first=$(field .id)
bisect 0 "$line" --store "$store" --measure "$noisy" --metric value:worse=up --seed 2
is_culprit "$answer"
json '.cost.runs_reused > 0'
json '.cost.runs < ($n | tonumber) and .cost.builds < ($m | tonumber)' --arg n "$n_runs" --arg m "$n_builds"
second=$(field .id)

claim "what the first one verified costs the second nothing, and it says so"
json '.cost.runs <= 4 and .cost.builds == 0'
json '.message | endswith("verified in bisection " + $first)' --arg first "$first"

claim "--fresh ignores them, and keeps them"
bisect 0 "$line" --store "$store" --measure "$noisy" --metric value:worse=up --seed 3 --fresh
is_culprit "$answer"
json '.cost.runs_reused == 0 and .cost.builds_reused == 0'
json '.message | contains("verified in") | not'
run 0 bisectctl replay "$second" --store "$store" --json
json '.matches'

claim "another way of measuring pools no samples, and takes the builds that are there"
bisect 0 "$line" --store "$store" --measure "true; $noisy" --metric value:worse=up --seed 4
json '.cost.runs_reused == 0 and .cost.builds_reused > 0'

claim "after naming, culprit and parent are built afresh and measured again, in turn"
wait_for_store "$store"
serve --data-dir "$store" --listen none --workers 0
api "$store" GET "/api/v1/bisections/$first/tasks?limit=1000"
parent=$(git -C "$line" rev-parse "$answer^")
jq -e --arg culprit "$answer" --arg parent "$parent" '
    [.items[] | select(.spec.verification and .state == "done") | .spec] | length > 0 and
    ([.[].builds[] | select(.fresh) | .revision] | unique) == ([$culprit, $parent] | sort)' \
    "$out" >/dev/null || fail "no verification of culprit and parent with fresh builds"

claim "the same question twice is one bisection while it is not finished"
jq -n --arg repo "$line" '{project: {name: "twice", repository: $repo, submodules: "none",
    platforms: ["linux-x64"], build: {steps: []},
    metrics: {m: {kind: "exit", command: "true"}}}, metric: "m", good: "good", bad: "bad"}' >"$work/request.json"
api "$store" POST /api/v1/bisections "@$work/request.json"
[ "$http" = 201 ] || fail "status $http"
json '.joined == false'
id=$(field .id)
api "$store" POST /api/v1/bisections "@$work/request.json"
[ "$http" = 200 ] || fail "status $http"
json '.joined and .id == $id' --arg id "$id"
api "$store" POST "/api/v1/bisections/$id/cancel"
stop "$daemon"

claim "Ctrl-C exits 130 and the next run goes on from there"
slow="sleep 0.3; $noisy"
mkfifo "$work/progress"
env --default-signal=INT bisectctl run --no-explain --repo "$line" --good good --bad bad --store "$work/resumed" \
    --measure "$slow" --metric value:worse=up --seed 5 --json >"$out" 2>"$work/progress" </dev/null &
pid=$!
started+=("$pid")
exec 5<"$work/progress"
: >"$err"
while read -r -t 60 text <&5; do # until it has measured something
    echo "$text" >>"$err"
    ! grep -qE '[1-9][0-9]* runs' <<<"$text" || break
done
kill -INT "$pid"
status=0
wait "$pid" || status=$?
exec 5<&-
[ $status -eq 130 ] || fail "exit status $status, not 130"
wait_for_store "$work/resumed"
bisect 0 "$line" --store "$work/resumed" --measure "$slow" --metric value:worse=up --seed 5
is_culprit "$answer"
id=$(field .id)
run 0 bisectctl list --store "$work/resumed" --json
json '.items | length == 1'
run 0 bisectctl replay "$id" --store "$work/resumed" --json
json '.matches'

claim "two runs on one repository at once are one search; the second says that it attached"
slow="sleep 0.2; $noisy"
mkfifo "$work/first-progress"
bisectctl run --no-explain --repo "$line" --good good --bad bad --store "$work/shared" --measure "$slow" \
    --metric value:worse=up --seed 6 --json >"$work/first.json" 2>"$work/first-progress" </dev/null &
pid=$!
started+=("$pid")
exec 6<"$work/first-progress"
read -r -t 60 text <&6 || fail "no progress from the first"
(cat <&6 >/dev/null) &
bisect 0 "$line" --store "$work/shared" --measure "$slow" --metric value:worse=up --seed 6
says "attach|already|join|living|running"
is_culprit "$answer"
cp "$out" "$work/second.json"
wait "$pid" || fail "the first exited $?"
cp "$work/first.json" "$out"
is_culprit "$answer"
[ "$(jq -r .id "$work/first.json")" = "$(jq -r .id "$work/second.json")" ] || fail "two searches"

claim "a run does not get the workers of the one before it"
for crew in "2 linux-x64" "3 other" "1 linux-x64"; do # each as soon as the last one is done
    read -r n platform <<<"$crew"
    run_limit=60
    bisect 0 "$line" --store "$work/crew" --measure "$is_good_level" --metric exit --fresh \
        --workers "$n" --platform "$platform"
    json '.platform == $platform' --arg platform "$platform"
    says_not attached
done
run_limit=150

claim "and one beside a running one of another platform says what it lacks"
mkfifo "$work/crew-progress"
bisectctl run --repo "$line" --good good --bad bad --store "$work/crew" --measure "sleep 0.2; $is_good_level" \
    --metric exit --json >"$work/crew.json" 2>"$work/crew-progress" </dev/null &
pid=$!
started+=("$pid")
exec 7<"$work/crew-progress"
read -r -t 60 text <&7 || fail "no progress from the first"
(cat <&7 >/dev/null) &
mkfifo "$work/crew-second"
bisectctl run --repo "$line" --good good --bad bad --store "$work/crew" --measure true --metric exit \
    --workers 2 --platform other >"$out" 2>"$work/crew-second" </dev/null &
second_pid=$!
started+=("$second_pid")
exec 8<"$work/crew-second"
: >"$err"
while read -r -t 60 text <&8; do
    echo "$text" >>"$err"
    ! grep -q "attached" <<<"$text" || break
done
says "--workers 2 has no effect"
says "platform other waits"
kill -INT "$second_pid"
wait "$second_pid" || true
exec 8<&-
wait "$pid" || fail "the first exited $?"

claim "replay recomputes everything from events and samples, on a copy without what is derived"
sqlite3 "$work/shared/bisectd.db" ".backup $work/copy.db"
mkdir "$work/copy"
mv "$work/copy.db" "$work/copy/bisectd.db"
id=$(jq -r .id "$work/first.json")
run 0 bisectctl replay "$id" --store "$work/shared" --json
jq -S '{decisions, verdict}' "$out" >"$work/before.json"
sqlite3 "$work/copy/bisectd.db" "DELETE FROM decisions; DELETE FROM posteriors; DELETE FROM verdicts;"
run 0 bisectctl replay "$id" --store "$work/copy" --json
json '.matches'
jq -S '{decisions, verdict}' "$out" >"$work/after.json"
cmp "$work/before.json" "$work/after.json" || fail "another story"
wait_for_store "$work/copy"
run 0 bisectctl show "$id" --store "$work/copy" --json
is_culprit "$answer"

claim "and with one sample altered it says so"
wait_for_store "$work/copy"
sqlite3 "$work/copy/bisectd.db" "UPDATE samples SET value = value + 1
    WHERE rowid = (SELECT min(rowid) + 3 FROM samples);"
status=0
timeout 60 bisectctl replay "$id" --store "$work/copy" --json >"$out" 2>"$err" || status=$?
[ $status -ne 0 ] || fail "exit status 0"
json '.matches == false and (.differences | length > 0)'
