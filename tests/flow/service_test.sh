#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The daemon as a service: one at a time, over TCP with a token, stopped and started.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 20 --culprit 13
data=$work/data

claim "it starts on a port, writes an admin token only its owner can read, and answers"
port=$((20000 + RANDOM % 20000))
serve --data-dir "$data" --listen 127.0.0.1:$port --workers 1
url=http://127.0.0.1:$port
[ "$(stat -c %a "$data/admin.token")" = 600 ] || fail "mode of the token"
[ "$(stat -c %a "$data")" = 700 ] || fail "mode of the data folder"
run 0 curl -sSf "$url/healthz"
run 0 curl -sSf "$url/metrics"
says "^# TYPE bisectd_"

claim "without its token nothing is told"
run 0 curl -sS -o /dev/null -w '%{http_code}' "$url/api/v1/bisections"
says "^401$"
run 0 curl -sS -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer wrong' "$url/api/v1/bisections"
says "^401$"
token="Authorization: Bearer $(cat "$data/admin.token")"
run 0 curl -sSf -H "$token" "$url/api/v1/bisections"
json '.items == []'

claim "the routes describe themselves"
run 0 curl -sSf -H "$token" "$url/api/v1/openapi.json"
json '.openapi and (.paths | has("/api/v1/bisections") or has("/bisections"))'

claim "a port in use is an error that says so"
run 1 bisectd --data-dir "$work/other" --listen 127.0.0.1:$port
says "$port"
says "in use"

claim "a data folder in use is an error that says whose"
run 1 bisectd --data-dir "$data" --listen none
says "$daemon"

claim "bad requests are answered with what is wrong"
post() { # STATUS PATH BODY
    run 0 curl -sS -o "$work/body" -w '%{http_code}' -H "$token" --data-binary "$3" "$url/api/v1$2"
    [ "$(cat "$out")" = "$1" ] || { cp "$work/body" "$out"; fail "not status $1: $2 $3"; }
    cp "$work/body" "$out"
}
post 400 /bisections '{'
json '.error.code and (.error.message | length > 0)'
post 400 /bisections '[]'
post 400 /bisections '{"metric": "m"}'
json '.error.message | test("project|good|bad")'
run 0 curl -sS -o /dev/null -w '%{http_code}' -H "$token" "$url/api/v1/bisections/none"
says "^404$"
run 0 curl -sS -o /dev/null -w '%{http_code}' -H "$token" "$url/api/v1/nothing"
says "^404$"
run 0 curl -sS -o /dev/null -w '%{http_code}' -X DELETE -H "$token" "$url/api/v1/bisections"
says "^405$"
head -c 3000000 /dev/zero >"$work/big"
run 0 curl -sS -o /dev/null -w '%{http_code}' -H "$token" -H 'Expect:' --data-binary "@$work/big" "$url/api/v1/bisections"
says "^413$"

claim "submit, watch and show work over TCP with the token file"
client=(--coordinator "$url" --token-file "$data/admin.token")
run 0 bisectctl submit "${client[@]}" --repo "$work/line" --good good --bad bad --measure "$is_good_level" \
    --metric exit --json
id=$(field .id)
run 0 bisectctl watch "$id" "${client[@]}" --json
is_culprit "$answer"
run 0 bisectctl show "$id" "${client[@]}" --json
is_culprit "$answer"
run 0 bisectctl list "${client[@]}" --json
json '.items[0].id == $id' --arg id "$id"

claim "submit joins by what the names stand for"
quick=("${client[@]}" --repo "$work/line" --measure 'sleep 600; cat level' --metric value:worse=up --json)
run 0 bisectctl submit "${quick[@]}" --good good --bad bad
first=$(field .id)
run 0 bisectctl submit "${quick[@]}" --good good^0 --bad "$(git -C "$work/line" rev-parse bad)"
json '.joined and .id == $first' --arg first "$first"
git -C "$work/line" tag moving bad
run 0 bisectctl submit "${quick[@]}" --good good --bad moving
json '.joined and .id == $first' --arg first "$first"
git -C "$work/line" tag -f moving bad~1 >/dev/null
run 0 bisectctl submit "${quick[@]}" --good good --bad moving
json '.joined == false and .id != $first' --arg first "$first"
second=$(field .id)
run 2 bisectctl submit "${quick[@]}" --good good --bad mvoing
says "moving"
for slow in "$first" "$second"; do run 0 bisectctl cancel "$slow" "${client[@]}"; done

claim "what submit says to type next goes where the question went, though a store is nearer"
printf 'listen: "127.0.0.1:%s"\ndata_dir: %s\n' "$port" "$data" >"$work/service.yml"
cd "$work/line"
mkdir .git/bisectd
touch .git/bisectd/bisectd.db
for flags in "--coordinator $url --token-file $data/admin.token" "--config $work/service.yml"; do
    # shellcheck disable=SC2086
    run 0 bisectctl submit $flags --good good --bad bad --measure "$is_good_level" --metric exit
    says "bisectctl watch .* ${flags%% *}"
    hint=$(grep -o 'bisectctl watch.*' "$out")
    # shellcheck disable=SC2086
    run 0 $hint --json
    is_culprit "$answer"
done
cd "$work"

claim "who has no token, or a wrong one, is told how a shell user gives it"
run 1 bisectctl list --coordinator "$url"
says "--token-file FILE or in .BISECTD_TOKEN_FILE"
echo wrong >"$work/wrong.token"
run 1 bisectctl list --coordinator "$url" --token-file "$work/wrong.token"
says "--token-file FILE or in .BISECTD_TOKEN_FILE"

claim "a list is a page with a cursor, and nothing hides behind a NUL"
run 0 bisectctl list "${client[@]}" --json --limit 1
json '(.items | length) == 1 and (.next | type) == "string"'
next=$(field .next)
run 0 bisectctl list "${client[@]}" --json --after "$next"
json '(.items | length) >= 1 and .next == null'
run 0 curl -sS -o /dev/null -w '%{http_code}' -H "$token" "$url/api/v1/bisections/$id%00foo"
says "^404$"

claim "the event stream ends with the verdict"
run 0 curl -sSN --max-time 20 -H "$token" "$url/api/v1/bisections/$id/events"
says "^event: done"

claim "cancel stops a search, and show says that it is not finished work"
run 0 bisectctl submit "${client[@]}" --repo "$work/line" --good good --bad bad --measure 'sleep 600; cat level' \
    --metric value:worse=up --json
slow=$(field .id)
run 5 bisectctl show "$slow" "${client[@]}" --json
json '.state != "done" and .verdict == null'
run 0 bisectctl cancel "$slow" "${client[@]}"
run_limit=60
status=0
timeout 60 bisectctl watch "$slow" "${client[@]}" --json >"$out" 2>"$err" || status=$?
json '.state == "canceled"'

claim "a stop by SIGTERM is clean, and a new start has everything"
kill -TERM "$daemon"
status=0
wait "$daemon" || status=$?
[ $status -eq 0 ] || fail "exit status $status"
serve --data-dir "$data" --listen none --workers 1
run 0 bisectctl show "$id" --store "$data" --json
is_culprit "$answer"
stop "$daemon"

claim "a store that is corrupt or from the future is an error that says what to do"
cp -r "$data" "$work/future"
sqlite3 "$work/future/bisectd.db" "PRAGMA user_version = 999999"
run 1 bisectd --data-dir "$work/future" --listen none
says "newer|schema|version"
cp -r "$data" "$work/corrupt"
rm -f "$work"/corrupt/bisectd.db-*
head -c 4000 /dev/urandom >"$work/corrupt/bisectd.db"
run 1 bisectd --data-dir "$work/corrupt" --listen none
says "not a database|corrupt|damaged"

claim "in a repository without a store, and with no service, there is nothing to list yet"
line_repo fresh --commits 3 --culprit 2
cd "$work/fresh"
export XDG_STATE_HOME=$work/state
if ! curl -s -o /dev/null http://127.0.0.1:8641/healthz; then # else somebody has a service here
    run 0 bisectctl list
    says "no bisections here yet"
    says "bisectctl run --help"
    run 0 bisectctl list --json
    json '. == {"items": [], "next": null}'
fi
unset XDG_STATE_HOME
cd "$work"

claim "with nobody there, the commands say where they looked"
run 1 bisectctl list --coordinator "http://127.0.0.1:1"
says "127.0.0.1:1"
