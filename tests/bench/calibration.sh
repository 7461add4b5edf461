#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Are falsified verdicts found, and no others? 200 bisections of 200 metrics, each with a culprit of
# its own; 10 stored verdicts are made to blame another commit; then all are checked.
#
#     calibration.sh DIR [BISECTIONS] [FALSIFIED] [SEED]
#
# DIR is kept: the same command goes on where an earlier one stopped. Needs $BISECTD_BIN.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dir=$1 n=${2-200} n_false=${3-10} seed=${4-1}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/history.sh" # for its random numbers
export PATH=$BISECTD_BIN:$PATH
commits=64

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
daemon=
trap 'kill -9 $daemon 2>/dev/null || true' EXIT

fail() {
    echo "calibration: $1" >&2
    exit 1
}

start() {
    local word=
    rm -f "$dir/ready"
    mkfifo "$dir/ready"
    bisectd --config "$dir/bisectd.yml" --ready-fd 8 8>"$dir/ready" 2>>"$dir/daemon.log" &
    daemon=$!
    read -r -t 30 word <"$dir/ready" || true
    [ "$word" = ready ] || { tail -5 "$dir/daemon.log" >&2; fail "the daemon did not start"; }
}

stop() {
    kill -TERM "$daemon"
    wait "$daemon" || true
}

store() { # SQL
    sqlite3 "$dir/data/bisectd.db" "$1"
}

# Metric I is 100 before the I-th of the commits drawn and 105 from it on; some never change.
if [ ! -e "$dir/bisectd.yml" ]; then
    random_seed "$seed"
    rm -rf "$dir/repo"
    "$here/../support/make-line-repo" "$dir/repo" --commits $commits
    {
        printf 'data_dir: data\nlisten: none\nworkers: 1\nsandbox: plain\ncalibration: {share: 0}\nlimits: {active: 1000}\n'
        printf 'projects:\n  - name: line\n    repository: repo\n    submodules: none\n'
        printf '    platforms: [linux-x64]\n    build: {artifacts: [counter]}\n    metrics:\n'
        for ((i = 1; i <= n; i++)); do
            random_below $commits
            at=$((i % 10 ? random + 1 : 1000))
            printf '      m%d: {kind: value, worse: up, isolation: none, command: "echo $((100 + 5 * ($(cat counter) >= %d)))"}\n' $i $at
        done
    } >"$dir/bisectd.tmp"
    mv "$dir/bisectd.tmp" "$dir/bisectd.yml"
fi

client=(--coordinator "unix:$dir/data/socket")
start
if [ ! -e "$dir/falsified" ]; then
    echo "calibration: $n bisections"
    for ((i = 1; i <= n; i++)); do
        [ -z "$(store "SELECT 1 FROM bisections WHERE metric = 'm$i' LIMIT 1")" ] || continue
        printf '{"project": "line", "metric": "m%d", "good": "good", "bad": "bad", "seed": %d, "no_explain": true}' $i $i |
            curl -sS --fail --unix-socket "$dir/data/socket" -H 'Content-Type: application/json' --data-binary @- \
                http://localhost/api/v1/bisections >/dev/null
    done
    for id in $(store "SELECT id FROM bisections WHERE state <> 'done' ORDER BY seq"); do
        bisectctl watch "$id" "${client[@]}" --json >/dev/null 2>>"$dir/watch.log" || [ $? -eq 3 ]
    done
    stop
    [ "$(store "SELECT count(*) FROM verdicts WHERE verdict ->> '\$.verdict' IN ('culprit', 'not_reproduced')")" = "$n" ] ||
        fail "not every bisection has a verdict"

    # The commit after the culprit is blamed, or that before it where there is none after.
    git -C "$dir/repo" rev-list --reverse good..bad >"$dir/commits"
    store "SELECT bisection || ' ' || (verdict ->> '\$.culprits[0].revision') FROM verdicts
        WHERE verdict ->> '\$.verdict' = 'culprit' ORDER BY hex(bisection)" >"$dir/culprits"
    random_seed $((seed + 1))
    : >"$dir/falsified.tmp"
    while [ "$(wc -l <"$dir/falsified.tmp")" -lt "$n_false" ]; do
        random_below "$(wc -l <"$dir/culprits")"
        read -r id culprit < <(sed -n "$((random + 1))p" "$dir/culprits")
        ! grep -qx "$id" "$dir/falsified.tmp" || continue
        at=$(grep -n "$culprit" "$dir/commits" | cut -d : -f 1)
        other=$(sed -n "$((at < commits ? at + 1 : at - 1))p" "$dir/commits")
        store "UPDATE verdicts SET verdict = json_set(verdict, '\$.culprits[0].revision', '$other') WHERE bisection = '$id'"
        echo "$id" >>"$dir/falsified.tmp"
    done
    mv "$dir/falsified.tmp" "$dir/falsified"
    start
fi

begun=$(date +%s)
bisectctl calibration "${client[@]}" --check-all --json >"$dir/report.json"
echo "calibration: checked in $(($(date +%s) - begun)) s"
bisectctl calibration "${client[@]}"
stop
jq -e --argjson n "$n" '.total.stated == $n and .total.checked == $n and .total.undecided == 0' "$dir/report.json" >/dev/null ||
    fail "not all were checked"
jq -r '.wrong[].id' "$dir/report.json" | sort >"$dir/wrong"
jq -r '.differ[].id' "$dir/report.json" | sort >"$dir/differ"
sort "$dir/falsified" | cmp - "$dir/wrong" || fail "found wrong are others than were falsified"
sort "$dir/falsified" | cmp - "$dir/differ" || fail "others than were falsified differ from their samples"
echo "calibration: $n verdicts, $n_false falsified, exactly these found wrong and at odds with their samples"
