#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Culprits reverted on top of the bad revision: what brings the metric back, and what does not.
. "$(dirname "$0")/lib.sh"

# $work/NAME: 12 commits after "good"; the commands given are carried out for commits 5 and 9.
make_repo() { # NAME AT_5 AT_9
    local i
    git init -q "$work/$1"
    cd "$work/$1"
    seq 5 >lines
    echo 100 >level
    for ((i = 0; i <= 12; i++)); do
        echo $i >"count$i"
        [ $i -ne 5 ] || eval "$2"
        [ $i -ne 9 ] || eval "$3"
        git add -A
        git commit -q -m "Count to $i"
        [ $i -ne 0 ] || git tag good
        [ $i -ne 5 ] || answer=$(git rev-parse HEAD)
    done
    git tag bad
    cd "$work"
}


claim "a culprit whose revert brings the metric back is confirmed, and the verdict says from where to where"
make_repo back 'echo 110 >level' 'echo more >>lines'
cd "$work/back" && git checkout -q bad
bisect 0 "$work/back" --measure 'cat level' --metric value:worse=up,unit=ms --confirm revert
is_culprit "$answer"
json '.confirmations | length == 1'
json '.confirmations[0] | .revision == $h and .outcome == "confirmed" and .head.mean == 110 and
      .reverted.mean == 100 and .head.runs >= 4 and .reverted.runs >= 4' --arg h "$answer"
json '.message | test("reverting it on head brings back value from 110 ms to 100 ms")'
id=$(field .id)
builds=$(field .cost.builds)
run 0 bisectctl show "$id" --store "$work/back/.git/bisectd"
says "on head +reverting it on head brings back"
run 0 bisectctl replay "$id" --store "$work/back/.git/bisectd"

claim "the log tells of the build without the culprit, and the history of its samples apart"
bad=$(git -C "$work/back" rev-parse bad)
run 0 bisectctl log "$id" "$bad" --store "$work/back/.git/bisectd"
says "== build $bad without $answer"
run 0 bisectctl log "$id" --store "$work/back/.git/bisectd"
says "${bad:0:10} without ${answer:0:10}"
says "${bad:0:7} without ${answer:0:7} 100"
run 0 bisectctl history --json --revision "$bad" --store "$work/back/.git/bisectd"
json '[.items[] | select(.reverted == $h).value] | length >= 4 and all(. == 100)' --arg h "$answer"
json '[.items[] | select(.reverted == null).value] | length >= 4 and all(. == 110)'

claim "none of them is taken for the bad revision's by the next bisection or by an export"
bisect 0 "$work/back" --measure 'cat level' --metric value:worse=up,unit=ms
is_culprit "$answer"
json '.confirmations == null and .cost.runs_reused > 0'
json '.culprits[0] | .bad.mean == 110 and .good.mean == 100'
run 0 bisectctl export "$id" --format git-bisect-log --store "$work/back/.git/bisectd" --repo "$work/back"
says "git bisect bad $bad|# bad: \[$bad\]"

claim "a revert that conflicts leaves the culprit, and is said"
make_repo clash 'echo 110 >level; sed -i s/3/drei/ lines' 'sed -i s/drei/trois/ lines'
bisect 0 "$work/clash" --measure 'cat level' --metric value:worse=up --confirm revert
is_culprit "$answer"
json '.confirmations[0].outcome == "undecided"'
json '.message | test("not confirmed by reverting it on head: reverting " + $h + " conflicts in lines")' --arg h "${answer:0:10}"

claim "one that does not build likewise, with the reason"
make_repo needed 'echo 110 >level; echo 1 >part' 'echo part >needs'
bisect 0 "$work/needed" --build 'test ! -e needs || cat $(cat needs)' --measure 'cat level' --metric value:worse=up --confirm revert
is_culprit "$answer"
json '.message | test("not confirmed by reverting it on head: head without it cannot be tested: step 1 of 1 exited 1")'

claim "a commit that only brought out what is there does not come back, and is no culprit"
# From commit 5 on the slow path is taken; commit 9 takes it without asking.
make_repo brought 'echo 1 >slow' 'echo 1 >always'
bisect 4 "$work/brought" --measure 'if [ -e slow ] || [ -e always ]; then echo 110; else echo 100; fi' --metric value:worse=up --confirm revert
json '.verdict == "inconclusive" and .culprits == [] and .confirmations[0].outcome == "refuted"'
json '.message | test("^" + $h + ".*changed value from 100 to 110 .*but reverting it on head does not bring back value \\(110 to 110.*brought out")' --arg h "${answer:0:10}"
id=$(field .id)
run 0 bisectctl replay "$id" --store "$work/brought/.git/bisectd"
run 4 bisectctl show "$id" --store "$work/brought/.git/bisectd"
says "does not bring back"

claim "a merge that is the answer is reverted as what it brought"
git init -q "$work/merged"
cd "$work/merged"
echo 100 >level && git add level && git commit -q -m "Begin" && git tag good
git checkout -q -b side
echo 1 >a && git add a && git commit -q -m "One half of it"
git checkout -q main
echo 1 >b && git add b && git commit -q -m "The other half"
git merge -q --no-ff -m "Merge side" side
answer=$(git rev-parse HEAD)
echo 1 >c && git add c && git commit -q -m "Go on" && git tag bad
cd "$work"
bisect 0 "$work/merged" --measure 'if [ -e a ] && [ -e b ]; then echo 110; else echo 100; fi' \
    --metric value:worse=up --confirm revert
is_culprit "$answer"
json '.confirmations[0].outcome == "confirmed"'

claim "a project file asks for it too, and one that asks for nonsense is told"
{
    echo "confirm: revert"
    echo 'metrics: {m: {kind: value, command: cat level, worse: up}}'
} | project back
bisect_project 0 back
json '.confirmations[0].outcome == "confirmed"'
bisect_project 0 back --confirm none --fresh
json '.confirmations == null'
run 2 bisectctl run --repo "$work/back" --good good --bad bad --measure true --metric exit --confirm reverse
says "none, revert|none\|revert"
