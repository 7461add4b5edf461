#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Start-up time: each way of being ready, and how the program is ended then.
needs_disk=1
. "$(dirname "$0")/lib.sh"

# A start of 40 ms becomes one of 140.
line_repo line --commits 6 --culprit 4 --levels 40,140
port=$((20000 + RANDOM % 12000)) # below those that the system hands out
starter="exec $BISECTD_SUPPORT/starter"

compare() { # STATUS METRIC COMMAND [ARGUMENT...]
    local want=$1 metric=$2 command=$3
    shift 3
    run "$want" bisectctl compare --repo "$work/line" --base good --head bad --metric "$metric" \
        --measure "$command" --store "$work/store" --json "$@"
}

# Each run first sees to it that the program of the one before was asked to end, and did.
clean_end='test ! -e "$HOME/begun" || test -e "$HOME/ended" || { echo "the last one was killed"; exit 9; }
touch "$HOME/begun"; rm -f "$HOME/ended"'
while IFS='|' read -r ready way; do
    claim "start-up time until ready=$ready, and a clean end"
    compare 0 "ts:ready=$ready" "$clean_end; $starter $way \$(cat level) \$HOME/ended"
    json '.verdict == "regressed" and .base.mean >= 40 and .delta > 50 and .delta < 200 and .metric.unit == "ms"'
    json '.metric.lower_is_better'
done <<END
line:up and running|'line:now up and running'
port:$port|port:$port
http:http://localhost:$port/health|http:$port
file:run.pid|file:run.pid
END

claim "start-up time until the program exits"
compare 0 ts "$starter exit \$(cat level)"
json '.verdict == "regressed" and .base.mean >= 40 and .delta > 50 and .delta < 200'

claim "HTTP counts from the first good answer: 503 is none"
compare 0 "ts:ready=http:http://127.0.0.1:$port" "$starter slow-http:$port \$(cat level)"
json '.verdict == "regressed" and .base.mean >= 80 and .head.mean >= 280'

claim "a daemon in a session of its own is asked to end as well"
compare 0 ts:ready=line:up "test ! -e begun || test -e daemon-ended || { echo 'the last one was killed'; exit 9; }
    touch begun; rm -f daemon-ended; $starter line:up \$(cat level) daemon"
json '.verdict == "regressed"'

claim "a port that something else has open says nothing about the program, and is no number"
serve --data-dir "$work/other" --listen "127.0.0.1:$port" --workers 0
compare 1 "ts:ready=port:$port" "$starter line:up \$(cat level)"
json '.message | test("port \($port) is open before the command was started")' --argjson port "$port"
stop "$daemon"

claim "a program that ends before it is ready cannot be measured, and it is said why"
compare 1 ts:ready=line:up "echo no display; exit 3"
json '.message | test("ended before it was ready: exited 3: no display")'

if bwrap --unshare-user --unshare-all --ro-bind / / --proc /proc --dev /dev true 2>/dev/null; then
    claim "within walls and without a network a port and HTTP are still reached"
    # The starter is ours and not to be seen from in there, so it comes with the repository.
    git init -q "$work/walls"
    cp "$BISECTD_SUPPORT/starter" "$work/walls/"
    for end in good:40 bad:140; do
        echo "${end#*:}" >"$work/walls/level"
        git -C "$work/walls" add .
        git -C "$work/walls" commit -qm "Start in ${end#*:} ms"
        git -C "$work/walls" tag "${end%:*}"
    done
    for way in port http; do
        value=$port
        [ $way = port ] || value=http://localhost:$port/
        run 0 bisectctl compare --repo "$work/walls" --base good --head bad --metric "ts:ready=$way:$value" \
            --measure "exec ./starter $way:$port \$(cat level)" --sandbox bubblewrap --store "$work/in-walls" --json
        json '.verdict == "regressed" and .base.mean >= 40 and .delta > 50 and .delta < 200'
    done
fi

claim "the culprit of a slower start is found"
bisect 0 "$work/line" --metric ts:ready=line:up --measure "$starter line:up \$(cat level)" --store "$work/found"
is_culprit "$answer"

claim "cold: the artifact is not in memory when the program starts; else it is"
# Each run warms the file for the next one.
in_memory='test "$(fincore -nbo RES data)" -lt 100000 || { echo "data is in memory"; exit 9; }; cat data >/dev/null'
compare 0 ts:cold=yes "$in_memory; $starter exit \$(cat level)" --build 'yes | head -c 3000000 >data'
json '.verdict == "regressed"'
compare 1 ts "$in_memory; $starter exit \$(cat level)" --build 'yes | head -c 3000000 >data'
json '.message | test("data is in memory")'
