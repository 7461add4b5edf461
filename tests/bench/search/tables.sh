#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: tables.sh DIR [TABLE...] [TRIALS]

How near to the floor the search is, how often it is right, and what others need: whole searches
played by bisectctl simulate, 2,000 to a cell, seed 1. TABLE is any of

    peers     git, Pinpoint, git-bayesect and a search told everything, against what was measured
              before: within 10 % of runs and .04 of exact
    normal    ours on normal noise, 256 commits, with the limits on runs, cost, builds, exact, and on
              CPU: .3 ms a decision on average
    sizes     ours for 64 and 1,024 commits: runs within the same ratio to the floor; with "normal"
              within an hour
    none      no change at all, on every family
    families  every family of noise, effects 1, 2 and 4, confidence .95 and .99
    workers   one, four and eight workers
    side      cost at effect 1 and 10 runs a build, side by side with the others
    steps     two steps of 2 and 4 standard deviations, in either order, at least 16 commits apart;
              "share off" is how far the shares are from the truth on average
    broken    a fifth of the range cannot be built; the commits next to the stretch (the last that
              can be tested before it, the first after it) are named wrongly no more often than
              1 - confidence of how often one of them is the culprit

(default: all). Each cell is written to DIR/cells.tsv as it ends, and a cell that is there is not
played again: begin a new DIR for a new build. A row that breaks a limit says so, and then the exit
status is 1. Needs $BISECTD_BIN and jq.'

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
dir=$1
shift
trials=2000 tables=()
for word in "$@"; do
    case $word in
    peers | normal | sizes | none | families | workers | side | steps | broken) tables+=("$word") ;;
    [0-9]*) trials=$word ;;
    *) echo "$usage" >&2; exit 2 ;;
    esac
done
[ ${#tables[@]} -gt 0 ] || tables=(peers normal sizes none families workers side steps broken)
mkdir -p "$dir"
cells=$dir/cells.tsv
touch "$cells"
failures=0

# Plays a cell and prints its numbers, in the order in which they are read below. CPU is user time,
# a decision, in ms.
play() { # FLAGS...
    local TIMEFORMAT='%U %R' cpu_s seconds
    { time "$BISECTD_BIN/bisectctl" simulate "$@" --seed 1 --json >"$dir/cell.json" 2>"$dir/cell.err"; } 2>"$dir/cell.time" ||
        { cat "$dir/cell.err" >&2; return 1; }
    read -r cpu_s seconds <"$dir/cell.time"
    jq -r --argjson cpu "$cpu_s" --argjson seconds "$seconds" '
        [.exact, .wrong, .undecided, .runs_mean, .builds_mean, .cost_mean, .rounds_mean, .floor_runs // "-",
         1000 * $cpu / .trials / .decisions_mean, $seconds, .share_error // "-", .beside_culprit, .beside_wrong] |
        map(tostring) | join(" ")' "$dir/cell.json"
}

# Plays a cell unless it is there, and sets its numbers.
declare -A taken_s # by each cell that was asked for
cell() { # FLAGS...
    local key="$* --trials $trials" line seconds
    case $key in *--trials*--trials*) key=$* ;; esac
    line=$(awk -F '\t' -v key="$key" '$1 == key { print $2 }' "$cells" | tail -1)
    if [ -z "$line" ]; then
        # shellcheck disable=SC2086
        line=$(play $key)
        printf '%s\t%s\n' "$key" "$line" >>"$cells"
    fi
    read -r exact wrong undecided runs builds cost rounds floor cpu seconds share_error beside_culprit \
        beside_wrong <<<"$line"
    taken_s[$key]=$seconds
}

is() { # AWK CONDITION
    awk "BEGIN { exit !($1) }"
}

of() { # AWK EXPRESSION
    awk "BEGIN { printf \"%.2f\", $1 }"
}

of_4() {
    awk "BEGIN { printf \"%.4f\", $1 }"
}

# How many of $trials may be so by luck at the .1 % level, if each is with probability P.
most() { # P
    awk -v n="$trials" -v p="$1" 'BEGIN {
        log_p = n * log(1 - p); sum = exp(log_p)
        for (k = 0; sum < .999; ) { k++; log_p += log(n - k + 1) - log(k) + log(p / (1 - p)); sum += exp(log_p) }
        print k }'
}

# A row of a table: its words, and what breaks a limit, each as "CONDITION;WHAT".
row() { # TEXT LIMIT...
    local text=$1 limit said=
    shift
    for limit in "$@"; do
        is "${limit%%;*}" || said="$said  ${limit#*;}"
    done
    echo "$text${said:+   OVER:$said}"
    [ -z "$said" ] || failures=$((failures + 1))
}

numbers() {
    printf '%8.1f %7.1f %8.1f   %.4f  %.4f  %.4f  %6.3f' "$runs" "$builds" "$cost" "$exact" "$wrong" \
        "$undecided" "$cpu"
}
heading='    runs  builds     cost    exact   wrong   undec.  ms CPU'

is_right() { # LEAST EXACT, MOST WRONG (fractions)
    echo "$trials * (1 - $exact) <= $(most "$(of_4 "1 - $1")") + 1e-6;exact under $1"
    echo "$trials * $wrong <= $(most "$2") + 1e-6;wrong over $2"
}

table_peers() {
    local policy flags effect want_runs want_exact
    printf '\nPeers, 256 commits, normal noise, .95; "before" is what was measured then\n'
    printf '%-34s%s   before: runs, exact\n' "" "$heading"
    while read -r policy effect want_runs want_exact flags; do
        cell --policy "$policy" --effect "$effect" --confidence .95 $flags
        row "$(printf '%-26s d=%-5s%s   %6s %5s' "$policy $flags" "$effect" "$(numbers)" "$want_runs" "$want_exact")" \
            "$runs >= .9 * $want_runs && $runs <= 1.1 * $want_runs;runs" \
            "$exact >= $want_exact - .04 && $exact <= $want_exact + .04;exact"
    done <<'END'
git 1 8 .05
git 2 8 .26
git 4 8 .83
git 1 72 .58 --repeats 9
git 2 72 .99 --repeats 9
git 4 72 1 --repeats 9
pinpoint 1 368 .83
pinpoint 2 129 .91
pinpoint 4 103 .95
bayesect 1 171 .91
bayesect 2 44 .98
bayesect 4 18 1
known 1 53 .96
known 2 17.3 .97
known 4 8.8 .99
known 1 67 .96 --build-cost 10
known 2 24 .98 --build-cost 10
known 4 9.8 .99 --build-cost 10
END
}

# effect, least exact, most runs and builds at build cost 0, most cost at 10, most runs with 50 stored
limits='1 .95 115 12 210 70
2 .97 37 10 126 26
4 .99 17 9 103 12
10 .99 14 9 97 10'

table_normal() {
    local effect least most_runs most_builds most_cost most_stored
    taken_s=()
    printf '\nOurs, 256 commits, normal noise, .95\n%-34s%s   limit, floor\n' "" "$heading"
    while read -r effect least most_runs most_builds most_cost most_stored; do
        cell --effect "$effect" --confidence .95
        mapfile -t right < <(is_right "$least" .05)
        row "$(printf 'd=%-3s builds free               %s   %6s %6.1f' "$effect" "$(numbers)" "$most_runs" "$floor")" \
            "${right[@]}" "$runs <= $most_runs;runs" "$builds <= $most_builds;builds" "$cpu <= .3;CPU"
        cell --effect "$effect" --confidence .95 --build-cost 10
        mapfile -t right < <(is_right "$least" .05)
        row "$(printf 'd=%-3s a build is 10 runs         %s   %6s' "$effect" "$(numbers)" "$most_cost")" \
            "${right[@]}" "$cost <= $most_cost;cost" "$cpu <= .3;CPU"
        cell --effect "$effect" --confidence .95 --stored 50
        mapfile -t right < <(is_right "$least" .05)
        row "$(printf 'd=%-3s 50 stored runs each end    %s   %6s' "$effect" "$(numbers)" "$most_stored")" \
            "${right[@]}" "$runs <= $most_stored;runs" "$cpu <= .3;CPU"
    done <<<"$limits"
}

table_sizes() {
    local n effect least most_runs ratio minutes
    printf '\nOurs, normal noise, .95, builds free\n%-34s%s   limit, floor\n' "" "$heading"
    for n in 64 1024; do
        while read -r effect least most_runs _; do
            cell --effect "$effect" --confidence .95
            ratio=$(of_4 "$most_runs / $floor")
            cell --commits $n --effect "$effect" --confidence .95
            mapfile -t right < <(is_right "$least" .05)
            row "$(printf 'n=%-5s d=%-3s                  %s   %6.1f %6.1f' $n "$effect" "$(numbers)" \
                "$(of "$ratio * $floor")" "$floor")" "${right[@]}" "$runs <= $ratio * $floor;runs"
        done <<<"$limits"
    done
    minutes=$(printf '%s\n' "${taken_s[@]}" | awk '{ s += $1 } END { printf "%.1f", s / 60 }')
    row "these, and those of 256 commits, took $minutes minutes" "$minutes <= 60;an hour"
}

families='gaussian lognormal bimodal outliers count drift workers'

table_none() {
    local noise confidence most_runs
    printf '\nOurs without a change; the limit on runs is for normal noise\n%-34s%s   limit\n' "" "$heading"
    for confidence in .95 .99; do
        most_runs=150
        [ $confidence = .95 ] || most_runs=230
        for noise in $families; do
            cell --noise "$noise" --effect 0 --confidence $confidence
            mapfile -t right < <(is_right .95 .01)
            [ "$noise" != gaussian ] || right+=("$runs <= $most_runs;runs")
            row "$(printf '%-10s %-4s                   %s   %6s' "$noise" $confidence "$(numbers)" \
                "$([ "$noise" = gaussian ] && echo $most_runs)")" "${right[@]}"
        done
    done
}

table_families() {
    local noise confidence effect least factor normal_runs sum n
    printf '\nOurs on every family, builds free; runs beside those of normal noise\n%-34s%s   ratio\n' "" "$heading"
    for confidence in .95 .99; do
        sum=0 n=0
        while read -r effect least _; do
            [ "$effect" != 10 ] || continue
            for noise in $families; do
                cell --effect "$effect" --confidence $confidence
                normal_runs=$runs
                [ "$noise" = gaussian ] || cell --noise "$noise" --effect "$effect" --confidence $confidence
                factor=$(of "$runs / $normal_runs")
                mapfile -t right < <(is_right "$least" "$(of_4 "1 - $confidence")")
                [ "$noise" != outliers ] || right+=("$factor <= 1.25;runs")
                row "$(printf '%-10s %-4s d=%-3s              %s   %6s' "$noise" $confidence "$effect" \
                    "$(numbers)" "$factor")" "${right[@]}"
                sum=$(of_4 "$sum + $wrong") n=$((n + 1))
            done
        done <<<"$limits"
        row "$(printf 'pooled     %-4s wrong %s' $confidence "$(of_4 "$sum / $n")")" \
            "$sum / $n <= 1 - $confidence;wrong over $(of "1 - $confidence")"
    done
}

table_workers() {
    local n limit alone=1
    printf '\nOurs at d=2, a build is 10 runs, .95\n%-34s%s   rounds, part of one\n' "" "$heading"
    for n in 1 4 8; do
        cell --effect 2 --confidence .95 --build-cost 10 --workers $n
        [ $n != 1 ] || alone=$rounds
        limit=1
        [ $n != 4 ] || limit=.5
        [ $n != 8 ] || limit=.4
        mapfile -t right < <(is_right .97 .05)
        row "$(printf '%s at work                         %s   %6.1f %6s' $n "$(numbers)" "$rounds" \
            "$(of "$rounds / $alone")")" "${right[@]}" "$rounds <= $limit * $alone;rounds"
    done
}

table_side() {
    local ours policy repeats best=
    printf '\nCost at d=1, a build is 10 runs, .95, 256 commits\n%-34s%s   ours is\n' "" "$heading"
    cell --effect 1 --confidence .95 --build-cost 10
    ours=$cost
    row "$(printf '%-34s%s' bisectd "$(numbers)")"
    cell --policy known --effect 1 --confidence .95 --build-cost 10
    row "$(printf '%-34s%s   %s of it' known "$(numbers)" "$(of "$ours / $cost")")" "$ours <= 1.45 * $cost;1.45"
    for policy in pinpoint bayesect; do
        cell --policy $policy --effect 1 --confidence .95 --build-cost 10
        row "$(printf '%-34s%s   %s of it' $policy "$(numbers)" "$(of "$ours / $cost")")" "$ours <= .5 * $cost;.5"
    done
    for repeats in 21 23 25 27 29 31 33; do # the fewest that are right often enough
        cell --policy git --repeats $repeats --effect 1 --confidence .95 --build-cost 10
        best=$repeats
        ! is "$exact >= .95" || break
    done
    row "$(printf '%-34s%s   %s of it' "git, mean of $best" "$(numbers)" "$(of "$ours / $cost")")" \
        "$ours <= .8 * $cost;.8"
}

table_steps() {
    printf '\nTwo steps, of 2 and 4 standard deviations, .95, 200 searches\n%-34s%s   share off\n' "" "$heading"
    cell --effect 2,4 --confidence .95 --trials 200
    row "$(printf '%-34s%s   %s' "both and only both" "$(numbers)" "$share_error")" \
        "$exact >= .9;exact" "$wrong <= .05;a third commit named" "${share_error/#-/1} <= .1;shares"
    cell --effect 2,4 --confidence .95 --verify --trials 200
    row "$(printf '%-34s%s   %s' "the same, verified" "$(numbers)" "$share_error")" \
        "$exact >= .9;exact" "$wrong <= .05;a third commit named" "${share_error/#-/1} <= .1;shares"
}

table_broken() {
    local whole
    printf '\nA fifth of the range cannot be built, d=2, .95\n%-34s%s   part of whole; next to it: culprit, named wrongly\n' \
        "" "$heading"
    for price in 0 10; do
        cell --effect 2 --confidence .95 --build-cost $price
        whole=$cost
        cell --effect 2 --confidence .95 --build-cost $price --broken .2
        row "$(printf 'a build is %-2s runs               %s   %6s   %s, %s' $price "$(numbers)" \
            "$(of "$cost / $whole")" "$beside_culprit" "$beside_wrong")" \
            "$trials * $wrong <= $(most .05) + 1e-6;wrong over .05" "$cost <= 1.25 * $whole;cost" \
            "$trials * $beside_wrong <= $(most "$(awk "BEGIN { print .05 * $beside_culprit }")") + 1e-6;blamed for the stretch"
    done
}

echo "$trials searches a cell, seed 1"
for table in "${tables[@]}"; do
    "table_$table"
done
[ $failures -eq 0 ] || printf '\n%d rows are over a limit\n' $failures
[ $failures -eq 0 ]
