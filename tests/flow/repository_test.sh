#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Repositories and ranges that cannot be searched, or not in the plain way.
. "$(dirname "$0")/lib.sh"

ask() { # STATUS REPO GOOD BAD [ARGUMENT...]
    local want=$1 repo=$2 good=$3 bad=$4
    shift 4
    run "$want" bisectctl run --repo "$repo" --good "$good" --bad "$bad" --json \
        --measure "$is_good_level" --metric exit --store "$work/store-$((++n_stores))" "$@"
}
n_stores=0
line_repo line --commits 20 --culprit 13
line=$work/line

claim "a folder that is no repository is refused"
mkdir "$work/empty"
ask 2 "$work/empty" good bad
says "not a (git )?repository"
ask 2 "$work/nowhere" good bad
says "nowhere"

claim "an unknown revision is refused, with near names"
ask 2 "$line" goood bad
says "goood"
says "good"
ask 2 "$line" good 0123456789012345678901234567890123456789
says "0123456789"

claim "any way of naming a revision that git takes is taken"
ask 0 "$line" bad~20 'bad^{/Count to 15}'
is_culprit "$answer"

claim "equal ends are refused in words"
ask 2 "$line" good good
says "same|equal|empty|no commits"

claim "ends in the wrong order are refused in words"
ask 2 "$line" bad good
says "swap|order|reverse|descend|ancestor"

claim "adjacent ends are answered"
ask 0 "$line" bad~8 bad~7
is_culprit "$answer"
json '.range_size == 1'

claim "ends that look swapped are said to be, and the search for the fix is offered"
line_repo fixed --commits 12 --culprit 5 --levels 110,100
run 3 bisectctl run --repo "$work/fixed" --good good --bad bad --json --measure 'cat level' --metric value:worse=up
json '.finding == "reversed" and (.message | test("swap|revers|improve|fix|better"; "i"))'

claim "a good end that measures bad is no reason to blame a commit"
line_repo flat --commits 12
run 3 bisectctl run --repo "$work/flat" --good good --bad bad --json --measure false --metric exit
json '.verdict == "not_reproduced" and .culprits == [] and (.message | length > 10)'

claim "a bad end that measures good: not reproduced, with what was measured"
run 3 bisectctl run --repo "$work/flat" --good good --bad bad --json --measure 'cat level' \
    --metric value:worse=up --store "$work/flat-value"
json '.verdict == "not_reproduced" and .p_no_change >= 0.99 and .culprits == [] and .min_effect.value > 0'

claim "a shallow clone is refused, with how to unshallow"
git clone -q --depth 5 "file://$line" "$work/shallow"
ask 2 "$work/shallow" "$(git -C "$line" rev-parse good)" HEAD
says "unshallow"
git init -q "$work/cut" # both ends are there, but not all that lies between them
cd "$work/cut"
git commit -q --allow-empty -m base
git checkout -q -b side
for i in 1 2 3 4 5 6 7 8; do git commit -q --allow-empty -m "side $i"; done
git checkout -q main
git commit -q --allow-empty -m "good"
git commit -q --allow-empty -m "main"
git merge -q --no-edit side
cd "$work"
git clone -q --depth 4 "file://$work/cut" "$work/cut-clone"
ask 2 "$work/cut-clone" "$(git -C "$work/cut" rev-parse 'main^{/good}')" HEAD
says "unshallow"

claim "missing objects are refused"
cp -r "$line" "$work/holes"
for pack in "$work"/holes/.git/objects/pack/*.pack; do
    [ -e "$pack" ] || continue # a small history is loose already
    mv "$pack" "$work/pack"
    git -C "$work/holes" unpack-objects -q <"$work/pack"
done
hole=$(commit_at "$line" 9)
rm -f "$work/holes/.git/objects/${hole:0:2}/${hole:2}"
ask 2 "$work/holes" good bad
says "missing|not found|incomplete|corrupt"

claim "histories that share nothing are refused"
git clone -q "$line" "$work/unrelated"
git -C "$work/unrelated" fetch -q --tags "$line"
git -C "$work/unrelated" checkout -q --orphan other
git -C "$work/unrelated" commit -qm "another beginning"
ask 2 "$work/unrelated" good other
says "unrelated|no common|share"

# base - g1 - good          level and broken as of `git log`
#     \- b1 - b2 - bad
fork() { # NAME LEVEL-AT-BASE LEVEL-AT-GOOD LEVEL-AT-BAD
    local dir=$work/$1
    git init -q "$dir"
    cd "$dir"
    echo "$2" >level
    git add . && git commit -qm base && git tag base
    git checkout -qb side && echo "$3" >level && echo side >side
    git add . && git commit -qm "on the good side" && git tag good
    git checkout -q main
    for i in 1 2 3 4 5; do
        [ $i -ne 3 ] || echo "$4" >level
        echo $i >counter
        git add . && git commit -qm "on the bad side: $i"
        [ $i -ne 3 ] || git tag step
    done
    git tag bad
    cd "$work"
}

claim "where good is no ancestor of bad, the merge base is measured and the search goes on"
fork beside 100 100 110
ask 0 "$work/beside" good bad
is_culprit "$(git -C "$work/beside" rev-parse step)"
json '.merge_base == $base' --arg base "$(git -C "$work/beside" rev-parse base)"

claim "a merge base that is bad itself is a finding, with words"
fork mended 110 100 110
run_limit=150
status=0
timeout 100 bisectctl run --repo "$work/mended" --good good --bad bad --json --measure "$is_good_level" \
    --metric exit >"$out" 2>"$err" </dev/null || status=$?
[ $status -ne 0 ] && [ $status -ne 2 ] || fail "exit status $status"
json '.finding == "bad_merge_base" and .culprits == [] and (.message | test("merge base"; "i"))'

claim "the budget of runs ends a search with what is known, never a guess"
line_repo budget --commits 200 --culprit 77 --levels 100,104
bisect 4 "$work/budget" --measure "$BISECTD_SUPPORT/noise \$(cat level) 2" --metric value:worse=up --seed 1 --budget-runs 12
json '.verdict == "inconclusive" and .culprits == [] and (.candidates | length) > 1 and .cost.runs <= 12'
run 4 bisectctl run --repo "$work/budget" --good good --bad bad --measure "$BISECTD_SUPPORT/noise \$(cat level) 2" \
    --metric value:worse=up --seed 1 --fresh --budget-runs 12
says "larger --budget-runs"

claim "usage faults exit 2 and say what is known"
run 2 bisectctl run --repo "$line" --good good --bad bad --metric exit
says "measure"
run 2 bisectctl run --repo "$line" --good good --bad bad --measure true --metric exti
says "exit"
run 2 bisectctl run --repo "$line" --good good --bad bad --measure true --metric value:regexp=x
says "regex"
run 2 bisectctl run --repo "$line" --good good --bad bad --measure true --metric exit --confidence 2
says "confidence"
run 2 bisectctl run --repo "$line" --good good --bad bad --measure true --metric exit --sandbox cardboard
says "plain, bubblewrap"
for store in "" / "$work/.."/../../..; do
    run 2 bisectctl run --repo "$line" --good good --bad bad --measure true --metric exit --store "$store"
    says "store"
    run 2 bisectctl list --store "$store"
done
[ ! -e /bisectd.db ] && [ ! -e /bisectd.log ] && [ ! -e /socket ] || fail "something is in the root folder"
run 2 bisectctl run --repo "$line" --no-such-flag
says "no-such-flag"
run 2 bisectctl rum
says "run"
run 0 bisectctl --help
run 0 bisectctl run --help
says "bisectctl run"
