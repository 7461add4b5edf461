#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a build finds on disk: exactly its commit, nothing of another.
. "$(dirname "$0")/lib.sh"

claim "no file of another revision's build is there, tracked, ignored or in a folder of its own"
line_repo clean --commits 20 --culprit 11
bisect 0 "$work/clean" --metric exit --build '
    test ! -e left && test ! -e deep/left && test "$(git status --porcelain 2>/dev/null | wc -l)" -eq 0 || exit 1
    echo stale >left; mkdir -p deep; echo stale >deep/left; echo scribble >>level; chmod 0 deep; mkdir -m 0 locked' \
    --artifact counter --artifact level --measure 'head -1 level | grep -qx 100'
is_culprit "$answer"
json '.untestable == []'

claim "files that come, go, turn into folders, links or programs are as the commit has them"
repo=$work/kinds
git init -q "$repo"
cd "$repo"
for i in $(seq 0 15); do
    rm -rf thing
    case $((i % 4)) in
    0) echo file >thing ;;
    1) mkdir thing && echo inner >thing/inner ;;
    2) ln -s counter thing ;;
    3) echo 'echo ran' >thing && chmod +x thing ;;
    esac
    echo $i >counter
    [ $i -ge 10 ] && echo 110 >level || echo 100 >level
    git add -A && git commit -qm "commit $i"
    [ $i -ne 0 ] || git tag good
    [ $i -ne 10 ] || git tag step
done
git tag bad
cd "$work"
bisect 0 "$repo" --metric exit --build '
    case $(($(cat counter) % 4)) in
    0) test -f thing && test ! -L thing && test ! -x thing ;;
    1) test -d thing && test "$(cat thing/inner)" = inner ;;
    2) test -L thing && test "$(readlink thing)" = counter ;;
    3) test -x thing && test "$(./thing)" = ran ;;
    esac' --measure "$is_good_level"
is_culprit "$(git -C "$repo" rev-parse step)"
json '.untestable == []'

claim "submodules are at the recorded commit of each revision"
line_repo library --commits 8 --culprit 4
git init -q "$work/super"
cd "$work/super"
for i in $(seq 1 8); do
    [ $i -ne 1 ] || git submodule --quiet add "$work/library" lib 2>/dev/null
    git -C lib checkout -q "$(commit_at "$work/library" $i)"
    echo $i >own
    git add -A && git commit -qm "library at $i"
    [ $i -ne 1 ] || git tag good
    [ $i -ne 4 ] || git tag step
done
git tag bad
cd "$work"
bisect 0 "$work/super" --metric exit --build 'test "$(cat own)" = "$(cat lib/counter)"' --measure 'test "$(cat lib/level)" = 100'
is_culprit "$(git -C "$work/super" rev-parse step)"
json '.untestable == []'

claim "messages and names from a repository are shown as harmless text"
git init -q "$work/hostile"
cd "$work/hostile"
for i in 0 1 2 3; do
    echo $i >counter
    [ $i -lt 2 ] && echo 100 >level || echo 110 >level
    git add -A
    printf 'Clear \033[2J\033]0;owned\007 <script>alert(%d)</script> \377\376 %s' $i "$(printf '\342\200\256')" |
        git commit -q --author "$(printf 'E\033[31mvil <e@example.org>')" -F - 2>/dev/null
    [ $i -ne 0 ] || git tag good
done
git tag bad
cd "$work"
run 0 bisectctl run --repo "$work/hostile" --good good --bad bad --metric exit --measure "$is_good_level"
! grep -q "$(printf '\033')" "$out" "$err" || fail "an escape sequence came through"
bisect 0 "$work/hostile" --metric exit --measure "$is_good_level" --store "$work/hostile.json"
json '.culprits[0].subject | test("Clear")'

claim "a culprit that touches nothing the project builds is named with a warning"
line_repo elsewhere --commits 12 --culprit 6
project elsewhere <<'YAML'
paths: [src/]
build: {steps: []}
metrics:
  m: {kind: exit, command: "test $(cat level) = 100"}
YAML
status=0
timeout 100 bisectctl run --project "$work/elsewhere.yml" --metric m --good good --bad bad \
    --store "$work/elsewhere.store" --json >"$out" 2>"$err" </dev/null || status=$?
[ $status -eq 0 ] || [ $status -eq 4 ] || fail "exit status $status"
json '.verdict == "inconclusive" or .finding == "culprit_not_built"'
json '.message | test("build|path|touch"; "i")'
