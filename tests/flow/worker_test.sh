#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A worker by itself: what it says of its flags, its token and its waits.
. "$(dirname "$0")/lib.sh"

token=$work/token
echo secret >"$token"
: >"$work/empty"
worker() { # STATUS ARGUMENT...
    local want=$1
    shift
    run "$want" bisect-worker --work-dir "$work/worker" "$@"
}

# what it is; its arguments; what is said
while IFS='|' read -r what arguments words; do
    claim "$what is wrong usage, said before anything else"
    # shellcheck disable=SC2086
    eval "worker 2 $arguments"
    says "$words"
    [ ! -e "$work/worker" ] || fail "a folder was made"
done <<'END'
a URL of another kind|--coordinator ftp://a|--coordinator: "ftp://a" is not a coordinator
a platform with a space|--platform 'a b'|--platform: expected a name
a token file that is not there|--token-file "$work/none"|--token-file: .*No such file
an empty token file|--token-file "$work/empty"|--token-file: .*holds no token
END

claim "a variable that is wrong is named"
BISECTD_TOKEN_FILE=$work/empty worker 2
says '\$BISECTD_TOKEN_FILE: '
BISECTD_URL=ftp://a worker 2
says '\$BISECTD_URL: '

claim "a coordinator that asks for a token gets the worker to say how it is given"
line_repo line --commits 12 --culprit 7
port=$((20000 + RANDOM % 20000))
serve --data-dir "$work/data" --listen 127.0.0.1:$port --workers 1
for arguments in "" "--token-file $token"; do
    # shellcheck disable=SC2086
    worker 1 --coordinator http://127.0.0.1:$port $arguments
    says '--token-file or \$BISECTD_TOKEN_FILE'
    says_not 'Authorization'
done
stop "$daemon"

claim "a run that removes its folder cannot be measured; a build that does has failed"
bisect 1 "$work/line" --metric exit --measure 'rm -rf "$PWD"' --store "$work/removed"
json '.verdict == "failed" and (.message | test("cannot measure: the command removed the folder"))'
bisect 1 "$work/line" --metric exit --build 'rm -rf "$PWD"' --measure true --store "$work/removed"
json '.verdict == "failed" and (.message | test("removed the folder that it ran in"))'

claim "where only some do so, they are untestable and the rest is bisected"
bisect 0 "$work/line" --metric exit --store "$work/removed" --measure "$is_good_level" \
    --build 'test $(cat counter) != 4 || rm -rf "$PWD"'
is_culprit "$answer"

claim "a measure that cannot says what it printed last"
bisect 1 "$work/line" --metric value --measure 'echo out; echo "no such table: notes" >&2; exit 3' --store "$work/said"
json '.message | test("exited 3: no such table: notes")'
bisect 1 "$work/line" --metric value --measure './no-such-program' --store "$work/said"
json '.message | test("127 \\(command not found\\?\\): .*no-such-program")'

claim "the log says what the sandbox gives up"
run 0 bisectctl log "$(field .id)" "$(git -C "$work/line" rev-parse bad)" --store "$work/said"
says "sandbox: plain.*no walls.*network"

claim "a worker that waits for the machine says so, and says no such thing when it does not"
lock=/tmp/bisectd-$(id -u)
mkdir -p -m 700 "$lock"
exec 9>>"$lock/host.lock"
flock -w 60 -x 9 || fail "no lock to be had"
bisectctl run --repo "$work/line" --good good --bad bad --metric exit --measure "$is_good_level" \
    --store "$work/waits" >"$out" 2>"$err" </dev/null 9>&- &
runner=$!
started+=("$runner")
grep -qm 1 "waiting for this machine (something else is measured)" \
    < <(timeout 60 tail -n +1 -F --pid=$runner "$err" 2>/dev/null 9>&-) || fail "nobody said so"
exec 9>&-
wait "$runner" || fail "the bisection failed"
says_not "waiting to build"
