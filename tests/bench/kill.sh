#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: kill.sh DIR [KILLS [SEED]]

One bisection during which daemon and worker are killed with -9 at KILLS random moments (default 30),
in turn or together, and started again each time. The culprit must be the right one; every result
the worker was told is accepted must be stored, once; replay must agree. DIR is left for a look.
Needs $BISECTD_BIN and $BISECTD_SUPPORT.'

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
dir=$1 n_kills=${2-30} seed=${3-1}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/history.sh" # for its random numbers
export PATH=$BISECTD_BIN:$PATH
random_seed "$seed"

rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
"$here/../support/make-line-repo" "$dir/repo" --commits 200 --culprit 137 --levels 100,102 --answer "$dir/answer"
mkfifo "$dir/ready"
mkfifo "$dir/never"
exec 5<>"$dir/never" # nothing is ever written: reading with a limit is a pause
daemon= worker=
trap 'kill -9 $daemon $worker 2>/dev/null || true' EXIT

start_daemon() {
    local word=
    bisectd --data-dir "$dir/data" --listen none --workers 0 --ready-fd 8 8>"$dir/ready" 2>>"$dir/daemon.log" &
    daemon=$!
    read -r -t 30 word <"$dir/ready" || true
    [ "$word" = ready ] || { echo "kill: the daemon did not start" >&2; tail -5 "$dir/daemon.log" >&2; exit 1; }
}

start_worker() {
    bisect-worker --coordinator "unix:$dir/data/socket" --work-dir "$dir/worker" --name killed \
        2>>"$dir/worker.log" &
    worker=$!
}

end() { # PID
    kill -9 "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

start_daemon
start_worker
bisectctl submit --coordinator "unix:$dir/data/socket" --repo "$dir/repo" --good good --bad bad --seed "$seed" \
    --measure "sleep 0.1; $BISECTD_SUPPORT/noise \$(cat level) 2" --metric value:worse=up --json >"$dir/submitted.json"
id=$(jq -r .id "$dir/submitted.json")

state() {
    curl -sS --max-time 20 --unix-socket "$dir/data/socket" "http://localhost/api/v1/bisections/$id" | jq -r .state
}

n_done=0
while [ $n_done -lt "$n_kills" ] && [ "$(state)" != done ]; do
    random_below 700
    read -r -t "$(printf '0.%03d' $((random + 50)))" _ <&5 || true
    n_done=$((n_done + 1))
    random_below 3
    case $random in
    0) end "$daemon"; start_daemon ;;
    1) end "$worker"; start_worker ;;
    2) end "$daemon"; end "$worker"; start_daemon; start_worker ;;
    esac
done
bisectctl watch "$id" --coordinator "unix:$dir/data/socket" --json >"$dir/verdict.json" 2>"$dir/watch.log"

fail() {
    echo "kill: $1" >&2
    exit 1
}

[ "$(jq -r '.culprits[0].revision' "$dir/verdict.json")" = "$(cat "$dir/answer")" ] || fail "another culprit"
curl -sS --unix-socket "$dir/data/socket" "http://localhost/api/v1/bisections/$id/samples?limit=100000" >"$dir/samples.json"
jq -e '[.items[] | [.task, .run, .attempt]] | length == (unique | length)' "$dir/samples.json" >/dev/null ||
    fail "a sample is stored twice"

# What the worker was told: task=… accepted=N, one line a result.
grep -oE 'task=[^ ]+.* accepted=[0-9]+' "$dir/worker.log" |
    sed -E 's/task=([^ ]+).* accepted=([0-9]+)/\1 \2/' | sort -u >"$dir/told"
[ -s "$dir/told" ] || fail "the worker logged no accepted result"
jq -r '.items[].task' "$dir/samples.json" | sort | uniq -c | awk '{print $2, $1}' | sort >"$dir/stored"
while read -r task n; do
    [ "$n" -eq 0 ] || grep -qx "$task $n" "$dir/stored" || fail "task $task: told $n, stored otherwise"
done <"$dir/told"
bisectctl replay "$id" --coordinator "unix:$dir/data/socket" --json >"$dir/replay.json" || fail "replay differs"
jq -e .matches "$dir/replay.json" >/dev/null || fail "replay differs"
echo "kill: $n_done kills; $(wc -l <"$dir/told") results told accepted, $(jq '.items | length' "$dir/samples.json") samples stored, none twice, none lost; replay agrees"
kill -TERM "$worker" "$daemon"
wait "$worker" "$daemon" 2>/dev/null || true
