#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Metrics that mislead: flaky symptoms, biased workers, changes that vanish.
. "$(dirname "$0")/lib.sh"

noise=$BISECTD_SUPPORT/noise
line_repo line --commits 60 --culprit 37
line=$work/line

claim "a test that fails one time in three everywhere blames nobody"
run_limit=300
status=0
timeout 300 bisectctl run --repo "$line" --good good --bad bad --json --seed 3 --metric exit \
    --measure "$noise 0 1 | awk '{ exit \$1 < -0.43 }'" >"$out" 2>"$err" </dev/null || status=$?
[ $status -eq 3 ] || [ $status -eq 4 ] || fail "exit status $status"
json '.culprits == []'

claim "a symptom that shows in half the runs of bad revisions leads to its commit"
bisect 0 "$line" --seed 4 --metric exit --measure "$is_good_level || $noise 0 1 | awk '{ exit \$1 < 0 }'"
is_culprit "$answer"
json '.culprits[0] | .good.mean == 0 and .bad.mean > 0.2 and .bad.mean < 0.8'

claim "both ends are measured, more than once, before anything is said"
bisect 0 "$line" --seed 5 --metric value:worse=up --measure "$noise \$(cat level) 1" --store "$work/ends"
is_culprit "$answer"
run 0 bisectctl history --store "$work/ends" --json
for end in good bad; do
    json '[.items[] | select(.revision == $it)] | length >= 2' --arg it "$(git -C "$line" rev-parse $end)"
done

claim "a regression that vanishes on measuring is not reproduced, with what may differ"
line_repo gone --commits 40
bisect 3 "$work/gone" --seed 6 --metric value:worse=up,unit=ms --measure "$noise 100 2"
json '.verdict == "not_reproduced" and .culprits == [] and .min_effect.percent > 0'
json '.message | test("machine|time|differ|noise|condition|effect"; "i")'

claim "a worker with a level of its own is not taken for a step"
serve --data-dir "$work/data" --listen none --workers 0
for name in slow fast; do
    bisect-worker --coordinator "unix:$(socket_of "$work/data")" --work-dir "$work/$name" --name $name \
        --host host-$name 2>"$work/$name.log" &
    started+=($!)
done
biased="case \$BISECTD_SOURCE in */slow/*) f=1.5 ;; *) f=1 ;; esac
    $noise \$(cat level) 0.3 | awk -v f=\$f '{ print \$1 * f }'"
run 0 bisectctl submit --coordinator "unix:$(socket_of "$work/data")" --repo "$work/gone" --good good --bad bad --seed 7 --json \
    --metric value:worse=up --measure "$biased"
id=$(field .id)
status=0
timeout 200 bisectctl watch "$id" --coordinator "unix:$(socket_of "$work/data")" --json >"$out" 2>"$err" || status=$?
[ $status -eq 3 ] || [ $status -eq 4 ] || fail "exit status $status"
json '.culprits == []'
