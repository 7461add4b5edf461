#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a search without noise may cost.
. "$(dirname "$0")/lib.sh"

line_repo long --commits 1000 --culprit 618

claim "1,000 commits in a line take at most 12 builds besides the ends' and verification's"
bisect 0 "$work/long" --store "$work/store" --build 'sh build.sh' --measure 'cat level' --metric value:worse=up
is_culprit "$answer"
cp "$out" "$work/verdict"
id=$(field .id)
wait_for_store "$work/store"
serve --data-dir "$work/store" --listen none --workers 0
api "$work/store" GET "/api/v1/bisections/$id/tasks?limit=1000"
jq '[.items[].spec | . as $task | .builds[] | select($task.verification | not) | .revision] | unique |
    length' "$out" >"$work/n_searched"
[ "$(cat "$work/n_searched")" -le 14 ] || fail "$(cat "$work/n_searched") revisions built, ends included"

claim "and at most 2 runs a revision besides verification's"
jq -e '[.items[].spec | select(.verification | not) | . as $task | .runs[] |
        $task.builds[.build].revision] | group_by(.) | all(length <= 2)' "$out" >/dev/null ||
    fail "a revision has more than 2 runs"

claim "the stated cost counts every build and run"
n_builds=$(jq '[.items[].builds[]? | select(.status != "reused")] | length' "$out")
[ "$(jq .cost.builds "$work/verdict")" -eq "$n_builds" ] || fail "cost.builds is not $n_builds"
