#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A against B: verdicts, exit statuses, the document, and the same over HTTP.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 12 --culprit 7 --levels 100,104
line=$work/line
store=$work/store
noisy="$BISECTD_SUPPORT/noise \$(cat level) 1"
keys='["verdict","base","head","delta","ratio","interval","p_changed","metric","platform","cost","message"]'

compare() { # STATUS BASE HEAD ARGUMENT...
    local want=$1 base=$2 head=$3
    shift 3
    run "$want" bisectctl compare --repo "$line" --base "$base" --head "$head" --store "$store" --json "$@"
}

claim "a step is regressed, with levels and interval; the document has just the keys it should"
compare 0 good bad --measure "$noisy" --metric value:worse=up,unit=ms --seed 1
json '.verdict == "regressed" and .p_changed > .99 and .base.revision == $good and .head.revision == $bad' \
    --arg good "$(git -C "$line" rev-parse good)" --arg bad "$(git -C "$line" rev-parse bad)"
json 'keys_unsorted == $keys' --argjson keys "$keys"
json '(.delta - 4 | fabs) < 2 and .interval[0] < .delta and .delta < .interval[1]'
json '.ratio > 1.02 and .base.runs >= 4 and .base.runs == .head.runs and .cost.builds == 2'
json '.cost.runs == .base.runs + .head.runs'
json '.metric == {name: "value", unit: "ms", lower_is_better: true} and (.message | test("worse"))'

claim "base need not be an ancestor: the other way round it is improved, on the same builds"
compare 0 bad good --measure "$noisy" --metric value:worse=up --seed 2
json '.verdict == "improved" and .delta < 0 and .cost.builds == 0 and .cost.builds_reused == 2'
json '.cost.runs_reused == 0'

claim "higher may be better, and then a rise is no regression"
compare 0 good bad --measure "$noisy" --metric value:worse=down --seed 3
json '.verdict == "improved" and .metric.lower_is_better == false'

claim "a revision against itself is a question that is wrong"
run 2 bisectctl compare --repo "$line" --base good --head good --store "$store" --measure "$noisy" --metric wall
says "same commit"

claim "commits on one side of the step are the same, and say how large a change was looked for"
compare 0 good "$(commit_at "$line" 3)" --measure "$noisy" --metric value:worse=up --seed 5 --confidence .95
json '.verdict == "same" and .p_changed < .05 and (.message | test("no change of at least"))'

claim "--fail-on is for CI: 6 when so, 0 when not"
compare 6 good bad --measure "$noisy" --metric value:worse=up --seed 6 --fail-on regressed
compare 0 bad good --measure "$noisy" --metric value:worse=up --seed 7 --fail-on regressed
compare 6 bad good --measure "$noisy" --metric value:worse=up --seed 7 --fail-on changed
json '.verdict == "improved"'
compare 0 good "$(commit_at "$line" 3)" --measure 'cat level' --metric value:worse=up --fail-on changed
json '.verdict == "same" and .cost.runs == 4'

claim "a budget that ends first is inconclusive: 4"
compare 4 good "$(commit_at "$line" 3)" --measure "$noisy" --metric value:worse=up --seed 8 --budget-runs 6
json '.verdict == "inconclusive" and .cost.runs == 6 and (.message | test("budget"))'

claim "pass and fail are compared as rates"
compare 0 good bad --measure "$is_good_level" --metric exit
json '.verdict == "regressed" and .base.mean == 0 and .head.mean == 1 and .ratio == null'

claim "an end that does not build fails, and says which"
compare 1 good bad --build "$is_good_level" --measure true --metric exit
json '.verdict == "failed" and (.message | test("head revision"))'

claim "mistakes in the question are 2"
run 2 bisectctl compare --repo "$line" --base good --measure true --metric exit --store "$store"
says "--head is missing"
run 2 bisectctl compare --repo "$line" --base nope --head bad --measure true --metric exit --store "$store"
says "base: no revision"
run 2 bisectctl compare --repo "$line" --good good --head bad --measure true --metric exit
run 2 bisectctl compare --repo "$line" --base good --head bad --measure true --metric exit --fail-on nothing

claim "people read a table of base and head"
run 0 bisectctl compare --repo "$line" --base good --head bad --store "$store" --measure "$noisy" \
    --metric value:worse=up,unit=ms --seed 9
says "^regressed: head [0-9a-f]{10} against base [0-9a-f]{10}"
says "^  base +[0-9.]+ ms"
says "^  head +[0-9.]+ ms"
id=$(grep -oE 'bisectctl replay [a-z0-9]+' "$out" | head -n 1 | cut -d ' ' -f 3)

claim "show and replay know a comparison"
run 0 bisectctl show "$id" --store "$store" --json
json '.verdict == "regressed" and has("base")'
run 0 bisectctl replay "$id" --store "$store" --json
json '.matches and (.decisions | length >= 2)'
json '[.decisions[0].spec.runs[].build] == [0, 1, 1, 0]'

claim "lists keep bisections and comparisons apart"
bisect 0 "$line" --store "$store" --measure 'cat level' --metric value:worse=up
wait_for_store "$store"
serve --data-dir "$store" --listen none --workers 1
api "$store" GET "/api/v1/comparisons?limit=100"
json '[.items[].id] | index($id)' --arg id "$id"
json '[.items[].verdict] | index("culprit") | not'
api "$store" GET "/api/v1/bisections?limit=100"
json '[.items[].verdict] == ["culprit"]'
bisection=$(field '.items[0].id')

claim "the API compares too"
jq -n --arg repo "$line" '{project: {name: "api", repository: $repo, submodules: "none",
    platforms: ["linux-x64"], build: {steps: []},
    metrics: {m: {kind: "value", command: "cat level", worse: "up"}}},
    metric: "m", base: "good", head: "bad"}' >"$work/request.json"
api "$store" POST /api/v1/comparisons "@$work/request.json"
[ "$http" = 201 ] || fail "status $http"
id=$(field .id)
run 0 bisectctl watch "$id" --store "$store" --json
api "$store" GET "/api/v1/comparisons/$id"
[ "$http" = 200 ] || fail "status $http"
json '.id == $id and .state == "done" and .verdict == "regressed" and .delta == 4' --arg id "$id"
json '(.min_effect.value > 0) and ($keys - keys == [])' --argjson keys "$keys"
api "$store" GET "/api/v1/comparisons/$bisection"
[ "$http" = 404 ] || fail "status $http"

claim "a wrong request is refused in its own words"
jq 'del(.head)' "$work/request.json" >"$work/bad.json"
api "$store" POST /api/v1/comparisons "@$work/bad.json"
[ "$http" = 400 ] || fail "status $http"
json '.error.message | test("head: missing")'
api "$store" POST /api/v1/bisections "@$work/request.json"
[ "$http" = 400 ] || fail "status $http"
jq '.comparison = true' "$work/request.json" >"$work/bad.json"
api "$store" POST /api/v1/bisections "@$work/bad.json"
[ "$http" = 400 ] || fail "status $http"
stop "$daemon"
