#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: dags.sh exact|flaky DIR [FIRST..LAST]

Random histories with merges, one a seed (default 1..30), searched by bisectctl and by git bisect
run with the same script. "exact" wants the same commit from both. In "flaky" a bad revision passes
one time in five: ours is to be right on at least 28 of 30, the number for git stands beside it.
Each seed adds one line to DIR/CELL.tsv as it ends; seeds that are there are not run again. Needs
$BISECTD_BIN and $BISECTD_SUPPORT.'

[ $# -ge 2 ] || { echo "$usage" >&2; exit 2; }
cell=$1 dir=$2 seeds=${3-1..30}
support=$(cd "$(dirname "$0")/../support" && pwd)
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
results=$dir/$cell.tsv
touch "$results"

exact='test "$(cat state)" = good'
# z < -0.84 has probability .2
flaky="$exact || $BISECTD_SUPPORT/noise 0 1 | awk '{ exit \$1 >= -0.8416212 }'"
case $cell in
exact) script=$exact ;;
flaky) script=$flaky ;;
*) echo "$usage" >&2; exit 2 ;;
esac

# The commit that git bisect run names; it sees new luck at each run.
git_names() { # REPO
    git -C "$1" bisect start bad good >/dev/null
    git -C "$1" bisect run sh -c \
        "BISECTD_SEED=\$(od -An -N7 -tu8 /dev/urandom | tr -d ' '); export BISECTD_SEED; $script" |
        sed -n 's/ is the first bad commit$//p'
    git -C "$1" bisect reset -q >/dev/null 2>&1 || true
}

one() { # SEED
    local seed=$1 repo=$dir/$cell-$1.repo answer ours theirs
    rm -rf "$repo" "$repo".*
    "$support/make-dag-repo" "$repo" --commits $((40 + seed * 5)) --seed "$seed" --answer "$repo.answer"
    answer=$(cat "$repo.answer")
    "$BISECTD_BIN/bisectctl" run --repo "$repo" --store "$repo.store" --good good --bad bad --seed "$seed" \
        --confidence 0.99 --measure "$script" --metric exit --no-explain --json >"$repo.json" 2>"$repo.err" </dev/null || true
    ours=$(jq -r '.culprits[0].revision // .verdict' "$repo.json")
    [ -n "$ours" ] || { echo "seed $seed: no document; see $repo.err" >&2; return 1; }
    theirs=$(git_names "$repo")
    printf '%s\t%s\t%s\t%s\n' "$seed" \
        "$([ "$ours" = "$answer" ] && echo right || { [ ${#ours} -eq 40 ] && echo wrong || echo "$ours"; })" \
        "$([ "$theirs" = "$answer" ] && echo right || echo wrong)" \
        "$(jq -r '[.cost.runs, .cost.builds, .range_size] | @tsv' "$repo.json")" >>"$results"
    flock -w 20 "$repo.store/lock" true
    rm -rf "$repo" "$repo".*
}

for ((seed = ${seeds%..*}; seed <= ${seeds#*..}; seed++)); do
    grep -q "^$seed	" "$results" || one $seed
done

awk -F '\t' -v cell="$cell" -v first="${seeds%..*}" -v last="${seeds#*..}" '
    $1 >= first && $1 <= last { n++; count[$2]++; git += $3 == "right"; same += $2 == $3; runs += $4; builds += $5 }
    END {
        printf "%s: %d histories:", cell, n
        for (kind in count) printf " %d %s", count[kind], kind
        printf "; git bisect run: %d right; runs %.1f, builds %.1f on average\n", git, runs / n, builds / n
        exit !(cell == "exact" ? count["right"] == n && git == n : count["right"] >= n - int((2 * n + 29) / 30))
    }' "$results"
