#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Histories with merges: a few seeds of tests/bench/dags.sh, and what only merges bring.
. "$(dirname "$0")/lib.sh"

run_limit=300
claim "on random histories with merges, the same culprit as git bisect run"
run 0 "$source_dir/tests/bench/dags.sh" exact "$work/cells" 1..5
cat "$out"

claim "the same with a script that passes one bad revision in five"
run 0 "$source_dir/tests/bench/dags.sh" flaky "$work/cells" 1..3
cat "$out"

# main: base - m1 - m2 - merge - m3 ; side: s1 - s2(culprit) - s3
repo=$work/merged
git init -q "$repo"
cd "$repo"
step() { # MESSAGE
    echo "$1" >"file-$1"
    git add -A && git commit -qm "$1"
}
echo 100 >level
step base
git tag good
git checkout -qb side
step s1
echo 110 >level
step s2
step s3
git checkout -q main
step m1
step m2
git merge -q --no-edit side
step m3
git tag bad
cd "$work"

claim "--first-parent finds the merge, then the commit inside it"
bisect 0 "$repo" --first-parent --measure "$is_good_level" --metric exit
is_culprit "$(git -C "$repo" rev-parse side~1)"

claim "identical trees are one measurement"
git init -q "$work/trees"
cd "$work/trees"
echo 100 >level
step base
git tag good
for i in 1 2 3 4 5 6; do git commit -q --allow-empty -m "nothing $i"; done
echo 110 >level
step culprit
git tag step
for i in 1 2 3 4 5 6; do git commit -q --allow-empty -m "nothing more $i"; done
git tag bad
cd "$work"
bisect 0 "$work/trees" --measure "$is_good_level" --metric exit
is_culprit "$(git -C "$work/trees" rev-parse step)"
json '.cost.builds <= 6'
