#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: import.sh DIR [COMMITS [POINTS]]

What a long series costs: a line of COMMITS (default 10,000) with a step of 1.5 standard deviations,
and a value of every second one, at most POINTS (default 5,000), imported into a daemon of its own.
Prints how long the import took, how long from the question to the first task, and what the search
paid. Exits 0 if the series is stored whole and once, the first task is there within 5 s, and the
commit is right. Needs $BISECTD_BIN and $BISECTD_SUPPORT.'

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
n=${2-10000} most=${3-5000}
support=$(cd "$(dirname "$0")/../support" && pwd)
mkdir -p "$1"
cd "$1"
rm -rf repo data
culprit=$((n * 61 / 100))
"$support/make-line-repo" repo --commits "$n" --culprit $culprit --levels 100,103 --answer answer
git -C repo rev-list --reverse bad | awk -v most="$most" -v culprit=$culprit '
    BEGIN { srand(5); print "revision,time,value,metric" }
    NR % 2 && n < most {
        n++
        noise = sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
        printf "%s,%d,%.3f,value\n", $1, 1790000000 + 600 * NR, (NR > culprit ? 103 : 100) + 2 * noise
    }' >series.csv

rm -f ready
mkfifo ready
"$BISECTD_BIN/bisectd" --data-dir "$PWD/data" --listen none --workers 1 --ready-fd 8 8>ready 2>log &
daemon=$!
trap 'kill $daemon; wait $daemon || true' EXIT
there=(--coordinator "unix:$PWD/data/socket")
read -r _ <ready
begin=$EPOCHREALTIME
"$BISECTD_BIN/bisectctl" import series.csv --project repo "${there[@]}" --json >import.json
end=$EPOCHREALTIME
"$BISECTD_BIN/bisectctl" import series.csv --project repo "${there[@]}" --json >again.json
id=$("$BISECTD_BIN/bisectctl" submit --repo repo --good good --bad bad --metric value:worse=up --seed 1 \
    --measure "$BISECTD_SUPPORT/noise \$(cat level) 2" --confidence .95 --sandbox plain --no-explain "${there[@]}" --json | jq -r .id)
"$BISECTD_BIN/bisectctl" watch "$id" "${there[@]}" --json >verdict.json 2>progress || true
first=$(grep -m 1 -E 'task queued|bisection over' log | cut -d ' ' -f 1)
asked=$(grep -m 1 'bisection created' log | cut -d ' ' -f 1)
waited=$(awk -v a="$(date -d "$asked" +%s.%N)" -v b="$(date -d "$first" +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
rows=$(($(wc -l <series.csv) - 1))
echo "$rows points imported in $(awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.2f", b - a }') s; first task after $waited s"
jq -r '"\(.verdict) of \(.range_size) commits: \(.cost.runs) runs (\(.cost.runs_reused) of the series), \(.cost.builds) builds"' verdict.json
jq -e --argjson n "$rows" '.added == $n' import.json >/dev/null
jq -e '.added == 0' again.json >/dev/null
jq -e --arg answer "$(cat answer)" '.culprits[0].revision == $answer' verdict.json >/dev/null
awk -v waited="$waited" 'BEGIN { exit !(waited <= 5) }'
