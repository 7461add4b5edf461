#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counted events: exact counts cost hardly any runs, and every number says what has counted it.
. "$(dirname "$0")/lib.sh"

line_repo line --commits 8 --culprit 5 --levels 1000,1100
counting='n=$(cat level); i=0; while [ $i -lt $n ]; do i=$((i + 1)); done'

if perf stat -x, -e instructions:u -- true 2>&1 | grep -q '^[0-9]'; then
    by='^perf version'
elif valgrind --version >/dev/null 2>&1; then
    by='^callgrind of valgrind'
else
    by=
fi

if [ -n "$by" ]; then
    claim "instructions find the culprit, and each count names its source"
    bisect 0 "$work/line" --metric counter --measure "$counting" --store "$work/exact"
    is_culprit "$answer"
    json '.metric.lower_is_better and .culprits[0].delta > 100'
    run 0 bisectctl history --store "$work/exact" --json
    json '.items | length > 0 and all(.reason | test($by))' --arg by "$by"
else
    claim "without perf and valgrind instructions cannot be measured, and the packages are named"
    bisect 1 "$work/line" --metric counter --measure "$counting" --store "$work/exact"
    json '.message | test("package valgrind")'
fi

claim "an event that the machine does not know cannot be measured, and it is said"
bisect 1 "$work/line" --metric counter:event=no-such-event --measure "$counting" --store "$work/none"
json '.message | test("event no-such-event")'

claim "more than one event is wrong usage"
bisect 2 "$work/line" --metric 'counter:event=cycles\,instructions' --measure "$counting" --store "$work/two"
says 'event: expected one event'
