#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds that fail, hang, leave things behind or ask for too much.
. "$(dirname "$0")/lib.sh"

claim "a bad end that does not build fails at once and says which end and why"
line_repo bad-end --commits 20 --culprit 13 --broken 20..20
bisect 1 "$work/bad-end" --build 'sh build.sh' --measure "$is_good_level" --metric exit
json '.verdict == "failed" and .culprits == [] and .cost.builds <= 3 and (.message | test("bad"))'
json '.message | test("exit|build")'

claim "a good end that does not build likewise"
line_repo good-end --commits 20 --culprit 13 --broken 0..0
bisect 1 "$work/good-end" --build 'sh build.sh' --measure "$is_good_level" --metric exit
json '.verdict == "failed" and .cost.builds <= 3 and (.message | test("good"))'

claim "commits that do not build are passed over and never blamed"
line_repo beside --commits 20 --culprit 13 --broken 8..11
bisect 0 "$work/beside" --build 'sh build.sh' --measure "$is_good_level" --metric exit
is_culprit "$answer"
json '.untestable - $broken == []' --argjson broken "$(commits_at "$work/beside" 8 11)"

claim "the first commit that builds again after a stretch is not blamed for it"
line_repo inside --commits 40 --culprit 18 --broken 15..22
bisect 4 "$work/inside" --build 'sh build.sh' --measure "$is_good_level" --metric exit
json '.verdict == "range" and .culprits == []'
json '[.candidates[].revision] == $stretch' --argjson stretch "$(commits_at "$work/inside" 15 23)"
json '.untestable | length > 0'
json '.message | test("build|untest|test")'

claim "the same with a number as the metric"
bisect 4 "$work/inside" --build 'sh build.sh' --measure 'cat level' --metric value:worse=up --store "$work/inside.value"
json '[.candidates[].revision] == $stretch' --argjson stretch "$(commits_at "$work/inside" 15 23)"

claim "the last commit of a stretch is not told from the stretch"
line_repo edge --commits 40 --culprit 22 --broken 15..22
bisect 4 "$work/edge" --build 'sh build.sh' --measure "$is_good_level" --metric exit
json '[.candidates[].revision] == $stretch' --argjson stretch "$(commits_at "$work/edge" 15 23)"

claim "long stretches are learnt, not paid for commit by commit"
line_repo stretches --commits 502 --culprit 333 --broken 60..100 --broken 230..268 --broken 420..448
bisect 0 "$work/stretches" --build 'sh build.sh' --measure "$is_good_level" --metric exit
is_culprit "$answer"
json '.cost.builds <= 30'

line_repo line --commits 14 --culprit 9

claim "a build that hangs is ended with all its children, and the commit is untestable"
project line <<'YAML'
build:
  steps: ["test $(cat counter) != 7 || { sleep NAP & sleep NAP; }"]
  timeout: 1s
metrics:
  m: {kind: exit, command: "test $(cat counter) != 7 && test $(cat level) = 100"}
YAML
bisect_project 0 line
is_culprit "$answer"
nobody_naps

claim "a build that always hangs fails the bisection, with the reason"
project line <<'YAML'
build: {steps: ["sleep NAP"], timeout: 1s}
metrics:
  m: {kind: exit, command: "true"}
YAML
bisect_project 1 line
json '.verdict == "failed" and (.message | test("time|1s"; "i"))'

claim "a build that leaves daemons behind is a build; nothing of it survives"
project line <<'YAML'
build:
  steps:
    - "setsid sh -c 'exec sleep NAP' >/dev/null 2>&1 </dev/null & (setsid setsid sleep NAP &) >/dev/null 2>&1; true"
metrics:
  m: {kind: exit, command: "(setsid sleep NAP >/dev/null 2>&1 &); test $(cat level) = 100"}
YAML
bisect_project 0 line
is_culprit "$answer"
nobody_naps

claim "a build over its disk limit is untestable, and the reason is said"
project line <<'YAML'
build: {steps: ["head -c 80000000 /dev/zero >big"]}
sandbox: {disk: 20M}
metrics:
  m: {kind: exit, command: "true"}
YAML
bisect_project 1 line
json '.verdict == "failed" and (.message | test("disk|20M|limit|space|large"; "i"))'

claim "a build that prints 100 MB passes; its log is cut in the middle, and the cut is marked"
project line <<'YAML'
build:
  steps:
    - "echo the very first line; head -c 100000000 /dev/zero | tr '\\0' x | fold -w 100; echo; echo the very last line"
  artifacts: [level, counter]
metrics:
  m: {kind: exit, command: "test $(cat level) = 100"}
YAML
bisect_project 0 line
is_culprit "$answer"
run 0 bisectctl log "$(field .id)" "$answer" --store "$work/line.store"
size=$(stat -c %s "$out")
n_tasks=$(grep -c '^==> task' "$out")
[ "$size" -lt $((n_tasks * 17 * 1024 * 1024)) ] || fail "$n_tasks logs have $size bytes"
grep -q "the very first line" "$out" || fail "no first line"
grep -q "the very last line" "$out" || fail "no last line"
grep -qiE "cut|omitted|left out|bytes" "$out" || fail "no mark of the cut"

claim "the log of a failed build is kept, with its last words"
bisect 0 "$work/beside" --fresh --build 'sh build.sh' --measure "$is_good_level" --metric exit
broken=$(field '.untestable[0]')
id=$(field .id)
if [ "$broken" != null ]; then
    run 0 bisectctl log "$id" "$broken" --store "$work/beside/.git/bisectd"
    says "this commit does not build"
fi
