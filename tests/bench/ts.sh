#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: ts.sh DIR [BLOCKS [RUNS]]

Start-up time by kind ts with sandbox: plain beside `hyperfine -N`, on a program that is ready after
200 ms: BLOCKS (default 10) blocks of RUNS (default 20) runs each, in turn, once until the program
exits and once until it prints a line. Prints the ratio of the medians of each block; the median of
these is to be within 2 % of 1. DIR is left for a look. Needs hyperfine, $BISECTD_BIN and
$BISECTD_SUPPORT.'

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
dir=$1 blocks=${2-10} runs=${3-20}
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$BISECTD_BIN:$PATH
rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
"$here/../support/make-line-repo" "$dir/repo" --commits 1

median() {
    jq -s 'sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end'
}

# The two revisions are alike, so that only the budget ends the comparison; its last task may be a run
# short. Milliseconds of each run.
ours() { # READY WAY STORE
    bisectctl compare --repo "$dir/repo" --base good --head bad --min-effect 0.001 --budget-runs "$runs" \
        --sandbox plain --metric "ts:ready=$1" --measure "exec $BISECTD_SUPPORT/starter $2 200" \
        --store "$3" --json >"$3.json" 2>"$3.log" || true
    bisectctl history --store "$3" --json | jq '.items[].value'
}

theirs() {
    hyperfine -N --style none --warmup 0 --runs "$runs" --export-json "$dir/h.json" \
        "$BISECTD_SUPPORT/starter exit 200" >/dev/null 2>&1
}

for way in exit line:up; do
    : >"$dir/ratios-$way"
    for ((block = 1; block <= blocks; block++)); do
        # Who goes first takes turns too, against load that comes and goes.
        [ $((block % 2)) -eq 0 ] || theirs
        ours "$way" "$way" "$dir/store-$way-$block" >"$dir/values"
        [ $((block % 2)) -eq 1 ] || theirs
        [ "$(wc -l <"$dir/values")" -ge $((runs - 2)) ] || { echo "ts: $(wc -l <"$dir/values") values, not $runs" >&2; exit 1; }
        mine=$(median <"$dir/values") other=$(jq '.results[0].median * 1000' "$dir/h.json")
        jq -n "$mine / $other" >>"$dir/ratios-$way"
        printf '%-8s block %2d: ts %.2f ms, hyperfine %.2f ms, ratio %.4f\n' "$way" "$block" "$mine" "$other" \
            "$(tail -1 "$dir/ratios-$way")"
    done
    ratio=$(median <"$dir/ratios-$way")
    printf '%-8s median of %d ratios: %.4f\n' "$way" "$blocks" "$ratio"
    jq -ne "$ratio > 0.98 and $ratio < 1.02" >/dev/null || { echo "ts: more than 2 % apart" >&2; exit 1; }
done
