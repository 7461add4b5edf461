#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where things lie: folders with odd names, and a user's repository around the folders of jobs.
. "$(dirname "$0")/lib.sh"

claim "a repository and a store with spaces, quotes, dollars and letters of any script will do"
odd="it's a \"new\" \$HOME dir; ü 語"
mkdir "$work/$odd"
line_repo "$odd/a repo" --commits 12 --culprit 7
repo="$work/$odd/a repo"
bisect 0 "$repo" --build 'cp level built' --measure 'test "$(cat built)" = 100' --metric exit
is_culprit "$answer"
[ -e "$repo/.git/bisectd/bisectd.db" ] || fail "the store lies elsewhere"
run 0 bisectctl show "$(field .id)" --store "$repo/.git/bisectd" --json
is_culprit "$answer"

claim "likewise a short path, whose socket lies in the store"
short=$(mktemp -d "/tmp/b d'é.XXXX")
bisect 0 "$repo" --measure "$is_good_level" --metric exit --store "$short"
is_culprit "$answer"
serve --data-dir "$short" --listen none --workers 1
[ -S "$short/socket" ] || fail "no socket in the store"
run 0 bisectctl list --coordinator "unix:$short/socket" --json
run 0 bisectctl submit --coordinator "unix:$short/socket" --repo "$repo" --good good --bad bad --metric exit \
    --measure "$is_good_level" --platform other
run 0 bisect-worker --coordinator "unix:$short/socket" --work-dir "$work/$odd/worker" --platform other --once
stop "$daemon"
wait_for_store "$short"
rm -rf "$short"

claim "git in a job does not find the user's repository around the store"
inside='
    ! git rev-parse HEAD && ! git config user.name Job && ! git tag job && ! git stash &&
    ! git status && git status 2>&1 | grep -q "not a git repository"'
colon="$work/x:y"
cp -r "$repo" "$colon"
for repo in "$repo" "$colon"; do
    git -C "$repo" config user.name "The User"
    state() { git -C "$repo" for-each-ref; git -C "$repo" config --list --local; git -C "$repo" status; }
    state >"$work/before"
    bisect 0 "$repo" --fresh --build "mkdir -p in/side; cd in/side; $inside" --metric exit \
        --measure "{ $inside; } && { cd \"\$HOME\"; $inside; } || exit 200; cd \"\$BISECTD_SOURCE\"; $is_good_level"
    is_culprit "$answer"
    json '.untestable == []'
    state >"$work/after"
    diff "$work/before" "$work/after" >"$out" || fail "the user's repository has changed"
done

claim "a job may still make a repository of its own"
bisect 0 "$repo" --fresh --metric exit --build 'git init -q && git add . && git -c user.name=J -c user.email=j@x commit -qm all' \
    --measure "$is_good_level"
is_culprit "$answer"
