#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Time series into the run history: read, stored once, searched for changes, and used by bisections.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 120 --culprit 71 --levels 100,106
cd "$work"
line=$work/line
data=$work/data
project line <<YAML
metrics: {startup: {kind: value, command: "$BISECTD_SUPPORT/noise \$(cat level) 1", unit: ms, worse: up}}
revision_map: hg.tsv
sandbox: {kind: plain}
YAML
printf 'listen: none\ndata_dir: %s\nworkers: 1\nprojects: [line.yml]\n' "$data" >"$work/bisectd.yml"
serve --config "$work/bisectd.yml"
there=(--coordinator "unix:$(socket_of "$data")")

# Every second commit as CI measured it, on a machine of its own that is slower by 40 ms.
series() { # FIRST LAST: lines "commit number value" of commits FIRST to LAST
    local number hash
    for ((number = $1; number <= $2; number += 2)); do
        hash=$(commit_at "$line" "$number")
        echo "$hash $number $(BISECTD_SEED=$number "$BISECTD_SUPPORT/noise" $((140 + (number >= 71 ? 6 : 0))) 1)"
    done
}
series 1 119 >"$work/points"
{
    echo "Revision,Time,Value,Metric,Machine,Colour"
    awk '{printf "%s,2026-11-%02dT%02d:00:00Z,%s,startup,m1,red\n", $1, 1 + $2 / 24, $2 % 24, $3}' "$work/points"
    echo "$answer,2026-11-04T00:00:00Z,fast,startup,m1,red"
    echo "$answer,tomorrow,146,startup,m1,red"
    echo "0123,2026-11-04T00:00:00Z,146,startup,m1,red"
    echo "$answer,2026-11-04T00:00:00Z,9,size,m1,red"
} >"$work/ci.csv"

claim "a dry run says what there is, and stores nothing"
run 2 bisectctl import "$work/ci.csv" --project line --metric startup --dry-run
says 'several: "startup", "size"'
says "where metric="
run 0 bisectctl import "$work/ci.csv" --project line --where metric=startup --dry-run --json
json '.rows == 64 and .points == 60 and .passed_over == 1 and .added == 0 and .dry_run'
json '.rejects | length == 3 and ([.[]] == [1, 1, 1])'
run 0 bisectctl history "${there[@]}" --json
json '.items == []'

claim "a file that names no metric can be looked at, and is stored under a name that is given"
{
    echo revision,time,value
    awk '{printf "%s,2026-11-%02dT%02d:00:00Z,%s\n", $1, 1 + $2 / 24, $2 % 24, $2 < 71 ? 100 : 200}' "$work/points"
} >"$work/plain.csv"
run 0 bisectctl import "$work/plain.csv" --project line --dry-run
says 'is called value here: *$|metric NAME is needed to store it'
says 't 1000.0, alerts'
run 0 bisectctl import "$work/plain.csv" --project line --dry-run --json
json '.series[0].metric == "value" and .series[0].changes[0].perfherder.t == 1000'
run 2 bisectctl import "$work/plain.csv" --project line "${there[@]}"
says 'does not say which metric'

claim "values that nothing can be computed with are rejected, and posted they are refused"
{ cat "$work/plain.csv"; echo "$answer,2026-11-09T00:00:00Z,1e308"; echo "$answer,2026-11-09T00:00:00Z,-1.7e308"; } >"$work/huge.csv"
run 0 bisectctl import "$work/huge.csv" --project line --dry-run
says 'rejected 2: the value is over the limit of 1e100 .first in row 62'
jq -n --arg r "$answer" '{project: "line", metric: "startup", platform: "linux-x64", host: "h",
    points: [{revision: $r, at: "2026-11-09T00:00:00.000Z", value: 1e308}]}' >"$work/huge.json"
curl -sS --unix-socket "$(socket_of "$data")" -H 'Content-Type: application/json' --data @"$work/huge.json" \
    http://localhost/api/v1/points >"$out"
says 'points\[0\].value: 1e308 is over the limit of 1e100'

claim "both detectors see the change, and the range suggested has the culprit"
run 0 bisectctl import "$work/ci.csv" --project line --where metric=startup "${there[@]}" --json
json '.added == 60 and .known == 0 and (.series | length) == 1'
json '.series[0] | .metric == "startup" and .platform == "linux-x64" and .host == "m1" and .revisions == 60'
json '.series[0].changes | length == 1 and .[0].change_point and .[0].perfherder.alert and .[0].confidence > .999'
json '.series[0].changes[0] | .before > 138 and .before < 142 and .after > 144 and .after < 148 and .percent > 2'
good=$(field .series[0].changes[0].good) bad=$(field .series[0].changes[0].bad)
command=$(field .series[0].changes[0].command)
git -C "$line" merge-base --is-ancestor "$good" "$answer~1" || fail "good is too late"
git -C "$line" merge-base --is-ancestor "$answer" "$bad" || fail "bad is too early"

claim "the same file again adds nothing, and says so"
run 0 bisectctl import "$work/ci.csv" --project line --where metric=startup "${there[@]}"
says "60 points, 1 passed over"
says "rejected 1: the value is not a number .first in row 62"
says "nothing stored: the run history has them all already"
says "t [0-9.]+, alerts"
says "bisectctl submit --project line --metric startup --platform linux-x64 --good $good --bad $bad --coordinator"
head -n 41 "$work/ci.csv" | gzip | bisectctl import - --project line "${there[@]}" --json >"$out"
json '.points == 40 and .added == 0 and .known == 40'

claim "the history has the points among its samples"
run 0 bisectctl history "${there[@]}" --json
json '(.items | length) == 60 and ([.items[].seq] == [range(1; 61)])'
json 'all(.items[]; .bisection == null and .task == null and .environment.host == "import:m1" and .status == "ok")'
run 0 bisectctl history "${there[@]}" --revision "$good" --csv
says "^$good,startup,.*,import:m1,2026-11-"
bisectctl history "${there[@]}" --csv >"$work/again.csv"
run 0 bisectctl import "$work/again.csv" --project line "${there[@]}" --json
json '.points == 60 and .added == 0 and .known == 60'

claim "a bisection uses what lies in and beside its range, and pays for less"
run 0 bash -c "$command --seed 1 --confidence .95 --no-explain --json"
id=$(field .id)
run 0 bisectctl watch "$id" "${there[@]}" --json
is_culprit "$answer"
json '.cost.runs_reused >= 20'
used=$(field .cost.runs)
run 0 bisectctl replay "$id" "${there[@]}" --json
json '.matches'
run 0 bash -c "$command --seed 1 --confidence .95 --fresh --no-explain --json"
id=$(field .id)
run 0 bisectctl watch "$id" "${there[@]}" --json
is_culprit "$answer"
json '.cost.runs_reused == 0 and .cost.runs > ($used | tonumber)' --arg used "$used"

claim "a series of another platform or project is none of its business, and a metric must be the project's"
sed 's/startup/other/' "$work/ci.csv" >"$work/other.csv"
run 2 bisectctl import "$work/other.csv" --project line --where metric=other "${there[@]}"
says "project line has none called .other."
run 0 bisectctl import "$work/other.csv" --project elsewhere --where metric=other "${there[@]}"
says "no project called elsewhere"
run 0 bisectctl import "$work/ci.csv" --project line --where metric=startup --platform windows --host w "${there[@]}" --json
json '.added == 60'
run 0 bisectctl submit --project line --metric startup --good good --bad "$(commit_at "$line" 40)" "${there[@]}" --json
id=$(field .id)
run 3 bisectctl watch "$id" "${there[@]}" --json
json '.cost.runs_reused >= 20'
sqlite3 "$data/bisectd.db" "SELECT payload FROM events WHERE bisection = '$id' AND kind = 'started'" >"$out"
says "import:m1"
says_not "import:w"

claim "foreign revisions are mapped, JSON lines and what Treeherder answers are read"
awk '{printf "hg%04d\t%s\n", $2, $1}' "$work/points" >"$work/hg.tsv"
awk '{printf "{\"revision\":\"hg%04d\",\"push_timestamp\":%d,\"value\":%s}\n", $2, 1790000000 + 3600 * $2, $3}' "$work/points" >"$work/hg.jsonl"
run 0 bisectctl import "$work/hg.jsonl" --project "$work/line.yml" --metric startup --host hg "${there[@]}" --json
json '.added == 60 and .series[0].changes[0].bad == $bad' --arg bad "$bad"
jq -sc '{"680e934794762e3665ccdf416327c1c0c62bfa84": .}' "$work/hg.jsonl" >"$work/data.json"
run 2 bisectctl import "$work/data.json" --project line "${there[@]}"
says "no git commit"
run 0 bisectctl import "$work/data.json" --project line --metric startup --host th --revision-map "$work/hg.tsv" "${there[@]}" --json
json '.added == 60 and .series[0].host == "th"'
run 2 bisectctl import "$work/data.json" --project line --dry-run --revision-map "$work/hg.tsv" --metric x --where signature=680e
says "passed over"

claim "what a benchmark wrote is a point of the revision given, at the commit's time"
echo '{"results":[{"command":"demo --quit","mean":0.15,"times":[0.149,0.15,0.16],"exit_codes":[0,0,0]}]}' >"$work/hyperfine.json"
run 0 bisectctl import "$work/hyperfine.json" --project line --metric startup --host bench --repo "$line" --revision bad "${there[@]}" --json
json '.added == 1 and .points == 1'
run 0 bisectctl history "${there[@]}" --revision "$(git -C "$line" rev-parse bad)" --json
json '.items[-1] | .value == .15 and .environment.host == "import:bench"'
json '.items[-1].at[:19] == $at' --arg at "$(TZ=UTC git -C "$line" log -1 --date=format-local:%Y-%m-%dT%H:%M:%S --format=%cd bad)"

claim "mistakes are told apart"
head -n 1 "$work/ci.csv" >"$work/head.csv"
run 2 bisectctl import "$work/head.csv" --project line --dry-run
says 'head.csv has no rows'
says_not 'where'
run 2 bisectctl import "$work/ci.csv" --project line --dry-run --where nocol=x
says 'there is no column nocol. Columns: Revision, Time'
run 2 bisectctl import "$work/nowhere.csv" --project line
says "nowhere.csv"
run 2 bisectctl import "$work/ci.csv" --project line --where metric "${there[@]}"
says "COLUMN=TEXT"
run 2 bisectctl import "$work/ci.csv" --project line --where metric=startup --repo "$work" "${there[@]}"
says "not a git repository|no repository|repository"
run 2 bisectctl import "$work/hyperfine.json" --project line --metric startup "${there[@]}"
says "no revision"
echo "Once upon a time" >"$work/story"
run 2 bisectctl import "$work/story" --project line --metric startup "${there[@]}"
run 2 bisectctl import "$work/ci.csv" --project "li ne" --where metric=startup --dry-run
says "project"
stop "$daemon"

claim "a store that is named is made, and a folder is no file to import"
run 0 bisectctl import "$work/ci.csv" --project line --where metric=startup --store "$work/new"
says "60 stored"
run 0 bisectctl history --store "$work/new" --json
json '.items | length > 0'
run 2 bisectctl import "$work" --project line
says "is a folder"

claim "a store of runs takes points too, and what to type next is a run"
run 0 bisectctl run --project "$work/line.yml" --metric startup --good "$good" --bad "$bad" --store "$work/store" --no-explain --json
is_culprit "$answer"
paid=$(field .cost.runs)
wait_for_store "$work/store"
run 0 bisectctl import "$work/ci.csv" --project "$work/line.yml" --where metric=startup --store "$work/store"
says "60 stored"
says "bisectctl run --project $work/line.yml --metric startup .* --store $work/store"
run 0 bisectctl run --project "$work/line.yml" --metric startup --good good --bad bad --store "$work/store" --no-explain --json
is_culprit "$answer"
json '.cost.runs_reused >= ($paid | tonumber) + 20' --arg paid "$paid"

claim "a slip among stored points, a million times what the others are, is not used"
slip=$(commit_at "$line" 31)
{ head -n 61 "$work/plain.csv"; echo "$slip,2026-10-01T00:00:00Z,1e30"; } >"$work/slip.csv"
run 0 bisectctl import "$work/slip.csv" --project "$work/line.yml" --metric startup --store "$work/slips" --json
json '.added == 61'
run 0 bisectctl run --project "$work/line.yml" --metric startup --good good --bad bad --store "$work/slips" --no-explain --json
is_culprit "$answer"
json '.cost.runs_reused >= 20'
run 0 bisectctl history --store "$work/slips" --revision "$slip" --json
json '[.items[] | select(.value == 1e30)] | length == 1'
