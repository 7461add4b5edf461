#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The plain case: a line of commits, a metric without noise, one culprit.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 20 --culprit 13
line=$work/line

claim "a pass-or-fail metric names the first bad commit"
echo "not committed" >>"$line/counter"
before=$(git -C "$line" status --porcelain; git -C "$line" rev-parse HEAD; cat "$line/counter")
bisect 0 "$line" --measure "$is_good_level" --metric exit --seed 7
is_culprit "$answer"

claim "the document has what the contract says"
json '.range_size == 20 and .seed == 7 and .confidence == 0.99 and .platform == "linux-x64"'
json '.id and (.message | length > 10) and .finding == null and .merge_base == null'
json '.good == $good and .bad == $bad' --arg good "$(git -C "$line" rev-parse good)" \
    --arg bad "$(git -C "$line" rev-parse bad)"
json '.culprits[0] | .probability >= 0.99 and .subject == "Count to 13" and (.author | test("Ada Line")) and
      .good.mean == 0 and .bad.mean == 1 and .delta == 1 and .ratio == null and .share == 1 and
      (.interval | length) == 2'
json '.p_no_change < 0.01 and .untestable == [] and .metric.name == "exit" and .metric.lower_is_better'
json '.cost | .builds >= 2 and .builds_reused == 0 and .runs >= 4 and .runs_reused == 0 and .seconds > 0'
json '.candidates | all(.probability >= 0.001) and all(.revision != $hash)' --arg hash "$answer"
first=$(field .id)

claim "the user's tree is not touched, dirty or not"
after=$(git -C "$line" status --porcelain; git -C "$line" rev-parse HEAD; cat "$line/counter")
[ "$before" = "$after" ] || fail "the tree changed"

claim "show, list, log, replay and export find the repository's own store"
cd "$line"
run 0 bisectctl show "$first" --json
is_culprit "$answer"
run 0 bisectctl show "$first"
says "${answer:0:10}"
run 0 bisectctl list --json
json '.items | length == 1'
run 0 bisectctl log "$first" "$answer"
says "${answer:0:7}"
run 0 bisectctl replay "$first" --json
json '.matches and .differences == []'
run 0 bisectctl history --json
json '.items | length > 4'
run 0 bisectctl history --csv
says "$answer"
says "^revision,metric,value,run,status,host,at,"
run 0 bisectctl history --revision "${answer:0:6}" --json
json '(.items | length) > 0 and (.items | all(.revision == $hash)) and .next == null' --arg hash "$answer"
run 0 bisectctl history --revision bad --json
json '(.items | length) > 0 and (.items | all(.revision == $hash))' --arg hash "$(git rev-parse bad)"
run 2 bisectctl history --revision no-such-revision
says "at least 4"
run 2 bisectctl show no-such-bisection
says "no-such-bisection"
run 0 bisectctl show "${first:0:4}" --json
run 2 bisectctl show "${first:0:3}"
says "at least 4 characters"

claim "git bisect reads the exported log and comes to the same commit"
run 0 bisectctl export "$first" --format git-bisect-log
cp "$out" "$work/bisect.log"
git clone -q "$line" "$work/clone"
run 0 git -C "$work/clone" bisect replay "$work/bisect.log"
says "$answer is the first bad commit"
cd "$work"

claim "a number from stdout shows the step and its size"
bisect 0 "$line" --store "$work/value" --measure 'cat level' --metric value:worse=up,unit=ms
is_culprit "$answer"
json '.culprits[0] | .good.mean == 100 and .bad.mean == 110 and .delta == 10 and (.ratio - 1.1 | fabs) < 1e-6 and
      .interval[0] <= 10 and .interval[1] >= 10'
json '.metric == {"name": "value", "unit": "ms", "lower_is_better": true} and .min_effect.percent > 0'

claim "the same seed asks for the same tasks"
for store in one two; do
    bisect 0 "$line" --store "$work/$store" --measure 'cat level' --metric value:worse=up --seed 99
    run 0 bisectctl replay "$(field .id)" --store "$work/$store" --json
    jq -S .decisions "$out" >"$work/$store.decisions"
done
cmp "$work/one.decisions" "$work/two.decisions" || fail "decisions differ"

claim "text for people goes to stdout, progress to stderr"
run 0 bisectctl run --repo "$line" --good good --bad bad --measure 'cat level' --metric value:worse=up \
    --no-explain --store "$work/text"
grep -q "${answer:0:10}" "$out" || fail "no culprit on stdout"
grep -q "Count to 13" "$out" || fail "no subject on stdout"

claim "smaller is worse when the metric says so"
line_repo down --commits 12 --culprit 4 --levels 60,40
bisect 0 "$work/down" --measure 'cat level' --metric value:worse=down
is_culprit "$answer"
json '.culprits[0].delta == -20 and .metric.lower_is_better == false'

claim "either direction is found when nothing is said to be worse"
bisect 0 "$work/down" --store "$work/either" --measure 'cat level' --metric value:worse=either
is_culprit "$answer"
json '.metric.lower_is_better == null'

claim "elapsed time, processor time and memory are metrics"
for metric in wall cpu rss; do
    bisect 0 "$work/down" --store "$work/$metric" --metric "$metric" --measure \
        'test "$(cat level)" = 60 || awk "BEGIN { for (i = 0; i < 900000; i++) x[i] = i }"'
    is_culprit "$answer"
done
