#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: noise.sh CELL DIR [FIRST..LAST]

Real runs of bisectctl against noise that is known, one a seed (default 1..40), each with its own
store: 200 commits, confidence .99, normal noise of 2 % from $BISECTD_SEED. CELL:

    changed      an effect of 2 standard deviations: at least 37 of 40 right, at most 2 wrong
    same         no change: at least 37 say not_reproduced, at most 1 names a culprit
    correlated   no change, 20 numbers a run that share its luck: at most 2 name a culprit
    fifth        no change, a count that is one higher in every fifth run: none names a culprit

Each seed adds one line to DIR/CELL.tsv as it ends; seeds that are there are not run again. Exits 0
if the limits hold, scaled to the number of seeds. Needs $BISECTD_BIN and $BISECTD_SUPPORT.'

export BISECTD_QUIET_WAIT=0 # values are made up: load does not change them

[ $# -ge 2 ] || { echo "$usage" >&2; exit 2; }
cell=$1 dir=$2 seeds=${3-1..40}
support=$(cd "$(dirname "$0")/../support" && pwd)
noise=$BISECTD_SUPPORT/noise
mkdir -p "$dir"
results=$dir/$cell.tsv
touch "$results"

metric=value:worse=up
levels=100,104
case $cell in
changed) measure="$noise \$(cat level) 2" ;;
same) measure="$noise 100 2" ;;
correlated) measure="$noise 100 2 20 0.2" metric=value:worse=up,reduce=median ;;
fifth) measure='echo $((1000 + (BISECTD_RUN % 5 == 4)))' ;;
*) echo "$usage" >&2; exit 2 ;;
esac

one() { # SEED
    local seed=$1 repo=$dir/$cell-$1.repo culprit=0 status=0 answer=none
    rm -rf "$repo" "$repo.answer"
    if [ "$cell" = changed ]; then culprit=$((1 + seed * 7919 % 200)); fi
    "$support/make-line-repo" "$repo" --commits 200 --culprit $culprit --levels $levels --answer "$repo.answer"
    [ ! -e "$repo.answer" ] || answer=$(cat "$repo.answer")
    # "every fifth" is taken from the run's number for odd seeds and from its luck for even ones
    local command=$measure
    if [ "$cell" = fifth ] && [ $((seed % 2)) -eq 0 ]; then
        command="$noise 0 1 | awk '{ print 1000 + (\$1 > 0.8416212) }'"
    fi
    "$BISECTD_BIN/bisectctl" run --repo "$repo" --store "$repo.store" --good good --bad bad --seed "$seed" \
        --confidence 0.99 --measure "$command" --metric "$metric" --no-explain --json >"$repo.json" 2>"$repo.err" </dev/null ||
        status=$?
    jq -r --arg seed "$seed" --arg status "$status" --arg answer "$answer" '
        (if .verdict == "culprit" then (if .culprits[0].revision == $answer then "right" else "wrong" end)
         else .verdict // "none" end) as $kind |
        [$seed, $kind, $status, .cost.runs, .cost.builds, .cost.seconds] | @tsv' "$repo.json" >"$repo.line" ||
        { echo "seed $seed: no document; see $repo.err" >&2; return 1; }
    [ -s "$repo.line" ] || { echo "seed $seed: no document; see $repo.err" >&2; return 1; }
    cat "$repo.line" >>"$results"
    flock -w 20 "$repo.store/lock" true
    rm -rf "$repo" "$repo".*
}

for ((seed = ${seeds%..*}; seed <= ${seeds#*..}; seed++)); do
    grep -q "^$seed	" "$results" || one $seed
done

awk -F '\t' -v cell="$cell" -v first="${seeds%..*}" -v last="${seeds#*..}" '
    $1 >= first && $1 <= last { n++; count[$2]++; runs += $4; builds += $5; seconds += $6 }
    END {
        wrong = count["wrong"] + 0
        want = cell == "changed" ? "right" : cell == "same" ? "not_reproduced" : ""
        allowed = cell == "changed" || cell == "correlated" ? 2 : cell == "same" ? 1 : 0
        # 37 of 40, and as large a part of fewer seeds, rounded in favour of the product
        least = want == "" ? 0 : n - int((3 * n + 39) / 40)
        printf "%s: %d seeds:", cell, n
        for (kind in count) printf " %d %s", count[kind], kind
        printf "; runs %.1f, builds %.1f, seconds %.1f on average\n", runs / n, builds / n, seconds / n
        exit !(wrong <= allowed && (want == "" || count[want] >= least))
    }' "$results"
