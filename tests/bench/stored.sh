#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: stored.sh DIR [FIRST..LAST]

What a store with an earlier bisection saves, with real runs of bisectctl, for each seed (default
1..50): a line of 400 commits, normal noise of 2 % from $BISECTD_SEED, a step of 2 standard
deviations, confidence .99. In one store

    inner      good is commit 100, bad is commit 350; the step is between them
    same       the same ends once more
    extended   good 100 commits earlier and bad 50 later

and in a store of its own

    fresh      the question of "extended"

All runs count, those of verification too. Each seed adds one line to DIR/stored.tsv as it ends;
seeds that are there are not run again. Exits 0 if every "same" costs at most 4 runs, "extended" at
most half of "fresh" on average, and at most one in 25 of each names another commit. Needs
$BISECTD_BIN and $BISECTD_SUPPORT.'

export BISECTD_QUIET_WAIT=0 # values are made up: load does not change them

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
dir=$1 seeds=${2-1..50}
support=$(cd "$(dirname "$0")/../support" && pwd)
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
results=$dir/stored.tsv
touch "$results"

measure() { # SEED NAME STORE GOOD BAD: adds verdict and runs to the line
    local repo=$dir/$1.repo file=$dir/$1.$2 status=0
    "$BISECTD_BIN/bisectctl" run --repo "$repo" --store "$dir/$1.$3" --good "$4" --bad "$5" --seed "$1" \
        --confidence 0.99 --measure "$BISECTD_SUPPORT/noise \$(cat level) 2" --metric value:worse=up --no-explain \
        --json >"$file.json" 2>"$file.err" </dev/null || status=$?
    jq -r --arg answer "$(cat "$repo.answer")" '
        (if .verdict == "culprit" then (if .culprits[0].revision == $answer then "right" else "wrong" end)
         else .verdict // "none" end) as $kind | "\t\($kind)\t\(.cost.runs)\t\(.cost.builds)"' \
        "$file.json" >"$file.cell" || true
    [ -s "$file.cell" ] || { echo "seed $1, $2: no document (exit status $status); see $file.err" >&2; return 1; }
    printf %s "$(cat "$file.cell")" >>"$dir/$1.line"
}

one() { # SEED
    local seed=$1 repo=$dir/$1.repo good bad store
    rm -rf "$dir/$seed".*
    "$support/make-line-repo" "$repo" --commits 400 --culprit $((101 + seed * 7919 % 250)) --levels 100,104 \
        --answer "$repo.answer"
    good=$(git -C "$repo" rev-list --reverse good..bad | sed -n 100p)
    bad=$(git -C "$repo" rev-list --reverse good..bad | sed -n 350p)
    printf %s "$seed" >"$dir/$seed.line"
    measure "$seed" inner store "$good" "$bad"
    measure "$seed" same store "$good" "$bad"
    measure "$seed" extended store good bad
    measure "$seed" fresh empty good bad
    echo >>"$dir/$seed.line"
    cat "$dir/$seed.line" >>"$results"
    for store in store empty; do
        flock -w 20 "$dir/$seed.$store/lock" true
    done
    rm -rf "$dir/$seed".*
}

for ((seed = ${seeds%..*}; seed <= ${seeds#*..}; seed++)); do
    grep -q "^$seed	" "$results" || one $seed
done

awk -F '\t' -v first="${seeds%..*}" -v last="${seeds#*..}" '
    BEGIN { split("inner same extended fresh", name, " ") }
    $1 >= first && $1 <= last {
        n++
        for (i = 1; i <= 4; i++) {
            right[i] += $(3 * i - 1) == "right"
            wrong[i] += $(3 * i - 1) == "wrong"
            runs[i] += $(3 * i)
            builds[i] += $(3 * i + 1)
            if ($(3 * i) > most[i]) most[i] = $(3 * i)
        }
    }
    END {
        for (i = 1; i <= 4; i++) {
            printf "%-8s %d right, %d wrong of %d; runs %.1f (at most %d), builds %.1f\n", name[i], right[i],
                wrong[i], n, runs[i] / n, most[i], builds[i] / n
            is_bad += wrong[i] > int((n + 24) / 25)
        }
        printf "extended costs %.3f of fresh (limit 0.5)\n", runs[3] / runs[4]
        exit is_bad || most[2] > 4 || runs[3] > runs[4] / 2
    }' "$results"
