#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Jobs that try what they are not to do, within walls and without: what is stopped, what is told, and
# that the worker takes no harm. One worker does it all.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 4 --culprit 2
data=$work/data
serve --data-dir "$data" --listen none --workers 0
socket=unix:$(socket_of "$data")
echo "no token of ours, but a secret" >"$work/worker.token"
bisect-worker --coordinator "$socket" --token-file "$work/worker.token" --work-dir "$work/worker" \
    --name guarded 2>"$work/worker.log" &
worker=$!
started+=("$worker")

# A bisection with one metric, value; its document is in $out. It fails where the job does.
attempt() { # KIND LIMITS COMMAND [TIMEOUT]
    jq -n --arg repo "$work/line" --arg command "$3" --argjson limits "{$2}" --arg kind "$1" \
        --arg timeout "${4-20s}" \
        '{project: {name: "p", repository: $repo, submodules: "none", build: {steps: []},
          isolation: "none", sandbox: ($limits + {kind: $kind}),
          metrics: {m: {kind: "value", worse: "up", command: $command, timeout: $timeout}}},
          metric: "m", good: "good", bad: "bad", fresh: true}' >"$work/request.json"
    api "$data" POST /api/v1/bisections "@$work/request.json"
    [ "$http" = 201 ] || fail "status $http"
    id=$(field .id)
    timeout 100 bisectctl watch "$id" --coordinator "$socket" --json >"$out" 2>"$err" </dev/null || true
    json '.state == "done"'
}

got_through() { # the job did what it wanted
    json '.verdict == "not_reproduced"'
}

was_stopped() { # REGEX: and that is why
    json '.verdict == "failed" and (.message | test($why; "i"))' --arg why "$1"
}

log_says() { # REGEX: in the log of one of the last bisection's tasks
    bisectctl log "$id" "$(git -C "$work/line" rev-parse good)" --coordinator "$socket" >"$work/log" 2>"$err" || fail "no log"
    grep -qE -- "$1" "$work/log" || { cp "$work/log" "$out"; fail "the log does not say: $1"; }
}

is_unharmed() {
    kill -0 "$worker" 2>/dev/null || fail "the worker is gone"
}

if ! walls_stand; then
    claim "where the kernel refuses namespaces a job is not run, and the answer says why and what else"
    attempt bubblewrap "" "echo ran >$work/ran; echo 1"
    was_stopped 'sandbox kind bubblewrap does not work here: .*"sandbox: plain"'
    [ ! -e "$work/ran" ] || fail "it was run"
    attempt plain "" "echo 1"
    got_through
    exit 0
fi

# What only somebody outside has: a file to read, one to write, a port, a process.
echo secret >"$work/secret"
sleep "$nap" &
sleeper=$!
started+=("$sleeper")
port=$((20000 + RANDOM % 20000))
serve --data-dir "$work/other" --listen 127.0.0.1:$port --workers 1

all=
# what it tries | command | what stops it within walls
while IFS='|' read -r what command why; do
    command=${command//WORK/$work}
    command=${command//PORT/$port}
    command=${command//PID/$sleeper}
    claim "within walls, a job that tries to $what is stopped, and it is told"
    attempt bubblewrap "" "$command; echo 1"
    was_stopped "$why"
    is_unharmed
    [ ! -e "$work/written" ] || fail "something was written outside"
    all+="$command; "
done <<'END'
read the token file|cat WORK/worker.token >/dev/null|worker.token: No such file
read the store|head -c 1 WORK/data/bisectd.db >/dev/null|bisectd.db.*No such file
read the user's files|cat WORK/secret >/dev/null|secret: No such file
read the worker's folder|ls WORK/worker/cache >/dev/null|cache.*No such file
write outside|touch WORK/written|written.*No such file
reach the network|curl -sS http://127.0.0.1:PORT/healthz >/dev/null|(Failed|Couldn.t) .*connect
see other processes|test -d /proc/PID|exited 1
signal other processes|kill -CONT PID|No such process
END
claim "without walls all of that gets through: that is what plain gives up"
attempt plain "" "$all echo 1"
got_through
[ -e "$work/written" ] || fail "nothing was written"
is_unharmed

daemon_nap=$((nap + 1))
for kind in bubblewrap plain; do
    # what it tries | limits | command | time limit | what stops it
    while IFS='|' read -r what limits command limit why; do
        command=${command//NAP/$daemon_nap}
        claim "$kind: a job that tries to $what is stopped, and it is told"
        attempt "$kind" "$limits" "$command; echo 1" "$limit"
        was_stopped "$why"
        is_unharmed
        ! pgrep -f "sleep $daemon_nap" >"$out" || fail "a process of it lives on"
    done <<'END'
fork 10,000 times|"processes": 64|i=0; while [ $i -lt 10000 ]; do sleep NAP & i=$((i + 1)); done|20s|more processes than its limit of 64
allocate 100 GB|"memory": "64M"|awk 'BEGIN { s = "x"; while (length(s) < 1e11) s = s s }'|20s|more memory than its limit of 64 MiB
write 100 GB|"disk": "16M"|head -c 100000000000 /dev/zero >big|20s|more to disk than its limit of 16384 KiB
outlive its time||(sleep NAP &); sleep NAP|500ms|time limit of 500ms
END
    claim "$kind: a daemon left behind is ended, and it is told"
    attempt "$kind" "" "setsid sleep $daemon_nap >/dev/null 2>&1 & echo 1"
    got_through
    ! pgrep -f "sleep $daemon_nap" >"$out" || fail "it lives on"
    log_says '^\[ended 1 process that the command left behind\]'
    log_says "^sandbox: $kind: "
done

claim "the worker that all this happened to is as good as before"
is_unharmed
run 0 bisectctl submit --coordinator "$socket" --repo "$work/line" --good good --bad bad --metric exit \
    --measure "$is_good_level" --sandbox bubblewrap --json
run 0 bisectctl watch "$(field .id)" --coordinator "$socket" --json
is_culprit "$answer"
stop "$worker"
! grep -E 'fault|error' "$work/worker.log" >"$out" || fail "it complained"

claim "within walls the place is the same on every worker, and so are the bytes"
for store in one two; do
    bisect 3 "$work/line" --metric value:worse=up --build 'pwd >built; env | sort >>built' --artifact built \
        --measure 'grep -q ^HOME=/job/home built; echo 1' --sandbox bubblewrap --store "$work/$store"
    run 0 bisectctl log "$(field .id)" "$(git -C "$work/line" rev-parse good)" --store "$work/$store"
    grep -m 1 -o '^artifact [0-9a-f]*$' "$out" >"$work/$store.artifact" || fail "no artifact"
done
cmp "$work/one.artifact" "$work/two.artifact" || fail "the bytes differ"

claim "a service has walls around jobs whose project names none, except for what its user sends in person"
while IFS='|' read -r flags words; do
    # shellcheck disable=SC2086
    run 0 bisectctl submit $flags --repo "$work/line" --good good --bad bad --metric value:worse=up --measure 'echo 1' --json
    id=$(field .id)
    # shellcheck disable=SC2086
    run 3 bisectctl watch "$id" $flags
    # shellcheck disable=SC2086
    run 0 bisectctl log "$id" "$(git -C "$work/line" rev-parse good)" $flags
    says "^sandbox: $words: "
done <<END
--coordinator http://127.0.0.1:$port --token-file $work/other/admin.token|bubblewrap
--coordinator unix:$(socket_of "$work/other")|plain \(the project names none\)
END
stop "$daemon"

claim "where namespaces are refused nothing is run, and the answer names the cause and the other kind"
n_refused=0
refused() { # CAUSE COMMAND...: a run that is refused, started by that command
    local cause=$1
    shift
    run 1 "$@" bisectctl run --repo "$work/line" --good good --bad bad --metric exit --json --fresh \
        --measure "echo ran >>$work/ran" --sandbox bubblewrap --store "$work/refused-$((++n_refused))"
    json '.verdict == "failed" and (.message | test("bubblewrap does not work here: .*" + $why + ".*\"sandbox: plain\""))' \
        --arg why "$cause"
    [ ! -e "$work/ran" ] || fail "it was run"
}
mkdir "$work/tools"
for tool in /usr/bin/* /bin/*; do
    [ "${tool##*/}" = bwrap ] || ln -sf "$tool" "$work/tools/"
done
refused 'bwrap is not installed' env PATH="$BISECTD_BIN:$work/tools"
refused 'user.max_user_namespaces is 0' unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' sh
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$work/root$work"
    for folder in "$BISECTD_BIN" "$work" /usr /etc /dev /proc; do
        mkdir -p "$work/root$folder"
        echo "mount --rbind $folder $work/root$folder"
    done >"$work/mount.sh"
    cp -P /bin /lib* /sbin "$work/root" 2>/dev/null || true
    refused 'this is a chroot' unshare -m sh -ec ". $work/mount.sh; exec chroot $work/root \"\$@\"" sh
fi
