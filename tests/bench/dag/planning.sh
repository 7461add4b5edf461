#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: planning.sh DIR [COMMITS...]

How long it takes to say where a search begins, on histories of which half the commits are merges:
bisectctl plan, loading included, beside git rev-list --bisect on the same repository, with a
commit-graph. COMMITS are any of 50000, 200000 and 1000000 (default: all three; git needs minutes
for the second and is left out of the third). Limits: at least 5 times faster than git at 50,000
commits and 50 times at 200,000, a first choice within 1 % of the best split, a step (one result
taken in, and the next choice) within 50 ms up to 200,000, memory within 4 GiB. A row that breaks a
limit says so, and then the exit status is 1.

Times are of the processor (user and system), the best of three for plan; wall time stands beside
them. DIR/cells.tsv gets each measurement as it ends, and one that is there is not taken again:
begin a new DIR for a new build. Histories are kept there too, up to 600 MiB. Needs $BISECTD_BIN,
$BISECTD_SUPPORT and jq.'

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
dir=$1
shift
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(50000 200000 1000000)
for size in "${sizes[@]}"; do
    case $size in 50000 | 200000 | 1000000) ;; *) echo "$usage" >&2; exit 2 ;; esac
done
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cells=$dir/cells.tsv
touch "$cells"
failures=0
four_gib_kib=$((4 * 1024 * 1024))

# Sets $cell to what was measured under KEY, or to what COMMAND prints now.
measure() { # KEY COMMAND...
    local key=$1
    shift
    cell=$(awk -F '\t' -v key="$key" '$1 == key { print $2 }' "$cells")
    [ -z "$cell" ] || return 0
    cell=$("$@")
    printf '%s\t%s\n' "$key" "$cell" >>"$cells"
}

history() { # COMMITS: how many of them are merges
    local repo=$dir/$1.git
    rm -rf "$repo"
    git init -q -b main --bare "$repo"
    "$BISECTD_SUPPORT/merge_history" "$1" | git -C "$repo" fast-import --quiet
    git -C "$repo" commit-graph write --reachable 2>/dev/null
    git -C "$repo" rev-list --count --merges first..last
}

# Runs a command and prints: processor seconds, wall seconds. Its output goes to DIR/output.
timed() {
    local TIMEFORMAT='%U %S %R'
    { time "$@" >"$dir/output"; } 2>"$dir/times"
    awk 'END { print $1 + $2, $3 }' "$dir/times"
}

# The best of three, with all memory it may touch limited: processor and wall seconds, first choice,
# commits in the range, milliseconds a step.
plan() { # COMMITS
    ulimit -v "$four_gib_kib"
    for _ in 1 2 3; do
        echo "$(timed "$BISECTD_BIN/bisectctl" plan --repo "$dir/$1.git" --good first --bad last --json)" \
            "$(jq -r '[.next[0], .range_size, .step_cpu_seconds * 1000] | map(tostring) | join(" ")' "$dir/output")"
    done | sort -g | head -1
}

git_bisect() { # COMMITS: processor and wall seconds, choice
    echo "$(timed git -C "$dir/$1.git" rev-list --bisect first..last) $(cat "$dir/output")"
}

# The smaller half that the best commit leaves, and each of the commits named.
splits() { # COMMITS HASH...
    local repo=$dir/$1.git
    shift
    git -C "$repo" rev-list --topo-order --reverse --parents first..last | "$BISECTD_SUPPORT/best_split" "$@"
}

must() { # CONDITION FOR AWK, WHAT IT SAYS
    awk "BEGIN { exit !($1) }" && return
    echo "    LIMIT BROKEN: $2"
    failures=$((failures + 1))
}

row() { # COMMITS
    local merges cpu wall choice size step theirs=- git_wall=- git_choice='' best split git_split=''
    measure "$1 history" history "$1"
    merges=$cell
    measure "$1 plan" plan "$1"
    read -r cpu wall choice size step <<<"$cell"
    if [ "$1" -lt 1000000 ]; then
        measure "$1 git" git_bisect "$1"
        read -r theirs git_wall git_choice <<<"$cell"
    fi
    # shellcheck disable=SC2086
    measure "$1 splits" splits "$1" "$choice" $git_choice
    read -r best split git_split <<<"$cell"
    awk -v n="$1" -v m="$merges" -v cpu="$cpu" -v wall="$wall" -v git="$theirs" -v git_wall="$git_wall" \
        -v best="$best" -v ours="$split" -v git_split="${git_split:--}" -v step="$step" 'BEGIN {
        printf "%8d %5.1f %% %8.2f %8.2f %9s %9s %8s %9d %9d %9s %9.2f\n", n, 100 * m / n, cpu, wall,
            git, git_wall, git == "-" ? "-" : sprintf("%.1f", git / cpu), best, ours, git_split, step }'
    must "$size == $1" "the range has $size commits"
    must "$split >= .99 * $best" "the first choice is within 1 % of the best split"
    case $1 in
    50000) must "$theirs >= 5 * $cpu" "at least 5 times faster than git" ;;
    200000)
        must "$theirs >= 50 * $cpu" "at least 50 times faster than git"
        must "$step < 50" "a step takes less than 50 ms"
        ;;
    esac
}

echo ' commits  merges  plan: s     wall    git: s      wall    ratio      best      ours     git'"'"'s   step: ms'
for size in "${sizes[@]}"; do
    row "$size"
done
exit $((failures > 0))
