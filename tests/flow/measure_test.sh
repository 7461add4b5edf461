#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measurements that are none. "Cannot measure" is never a value and never "bad".
. "$(dirname "$0")/lib.sh"

line_repo line --commits 14 --culprit 9
line=$work/line
n_stores=0
measure() { # STATUS METRIC COMMAND [ARGUMENT...]
    local want=$1 metric=$2 command=$3
    shift 3
    bisect "$want" "$line" --metric "$metric" --measure "$command" --store "$work/store-$((++n_stores))" "$@"
}

# what it is; what says it; what the reason has to mention
while IFS='|' read -r what command words; do
    claim "an end that $what fails the bisection, and says so"
    measure 1 value:worse=up "$command"
    json '.verdict == "failed" and .culprits == [] and (.message | test($words; "i"))' --arg words "$words"
done <<'END'
prints nothing|true|no number|nothing
prints two numbers|echo 1 2|2 numbers|set reduce
prints two lines|echo 1; echo 2|2 numbers|set reduce
prints nan|echo nan|nan|finite|number
prints inf|echo inf|inf|finite|number
prints text|echo fast|number|fast
prints a number and text|echo 12 fast|number|fast
exits with a status|echo 5; exit 3|exit|3
crashes|echo 5; kill -SEGV $$|signal|segmentation|SEGV|11
END

claim "with reduce set, one number a line is one run"
measure 0 value:worse=up,reduce=mean 'cat level; cat level'
is_culprit "$answer"
json '.culprits[0].delta == 10'

claim "a regex and a JSON pointer find the number"
measure 0 'value:worse=up,regex=took ([0-9]+) ms' 'echo "phase 1 took $(cat level) ms"'
is_culprit "$answer"
measure 0 'value:worse=up,json=/startup/p50' 'echo "{\"startup\": {\"p50\": $(cat level)}}"'
is_culprit "$answer"

claim "a measure that crashes on one revision only leaves that one untestable"
crash=7
while IFS='|' read -r what command; do
    measure 0 value:worse=up "if test \$(cat counter) = $crash; then $command; fi; cat level"
    is_culprit "$answer"
    json '.untestable - [$crash] == []' --arg crash "$(commit_at "$line" $crash)"
done <<'END'
crashes|kill -SEGV $$
prints nothing|exit 0
prints nan|echo nan; exit 0
END

claim "an unrelated failure next to the culprit gives a range, not a wrong name"
measure 4 value:worse=up 'test $(cat counter) != 9 || kill -SEGV $$; cat level'
json '.verdict == "range" and [.candidates[].revision] == $pair' --argjson pair "$(commits_at "$line" 9 10)"

claim "exit 125 says cannot test; it is neither good nor bad"
measure 0 exit "test \$(cat counter) != 7 || exit 125; $is_good_level"
is_culprit "$answer"
measure 4 exit "test \$(cat counter) != 9 || exit 125; $is_good_level"
json '.verdict == "range" and [.candidates[].revision] == $pair' --argjson pair "$(commits_at "$line" 9 10)"

claim "any status from 1 to 127 but 125 is bad"
for status in 1 2 124 126 127; do
    measure 0 exit "$is_good_level || exit $status"
    is_culprit "$answer"
done

claim "a status of 128 or more, or a signal, ends the search: the script itself is broken"
measure 1 exit "$is_good_level || exit 130"
json '.verdict == "failed" and (.message | test("130|128|abort"; "i"))'
measure 1 exit "$is_good_level || kill -KILL \$\$"
json '.verdict == "failed"'

claim "a measure that hangs is ended with its children, and is never good"
measure 0 exit "test \$(cat counter) != 7 || { sleep $nap & sleep $nap; }; $is_good_level" --timeout 1s
is_culprit "$answer"
nobody_naps

claim "where many measurements time out, the first that does not is not blamed"
measure 4 value:worse=up \
    "n=\$(cat counter); if test \$n -ge 5 && test \$n -le 11; then sleep $nap; fi; cat level" \
    --timeout 1s
json '.verdict == "range" and [.candidates[].revision] == $stretch' --argjson stretch "$(commits_at "$line" 5 12)"
json '(.untestable | length > 0) and (.message | test("test|time"; "i"))'

claim "a project may say that a time-out is bad"
project line <<'YAML'
build: {steps: []}
metrics:
  m: {kind: exit, command: "test $(cat level) = 100 || sleep NAP", timeout: 1s, on_timeout: bad}
YAML
bisect_project 0 line
is_culprit "$answer"

claim "every number of a run is kept, and a run is one sample of the search"
bisect 0 "$line" --metric value:worse=up,reduce=median --measure 'for i in 1 2 3; do cat level; done' \
    --store "$work/many"
json '.cost.runs >= 4'
run 0 bisectctl history --store "$work/many" --json
json '.items | length > 0 and all(.values | length == 3)'

claim "a measure sees a cleared environment, a fresh folder and its seed"
HOME_OF_CALLER=leak bisect 0 "$line" --metric exit --store "$work/env" --measure "
    test -z \"\${HOME_OF_CALLER-}\" && test \"\$LC_ALL\" = C.UTF-8 && test \"\$TZ\" = UTC &&
    test -n \"\$SOURCE_DATE_EPOCH\" && test \"\$BISECTD_PHASE\" = measure && test -n \"\$BISECTD_SEED\" &&
    test -n \"\$BISECTD_RUN\" && test -d \"\$BISECTD_OUT\" && test -z \"\$(ls -A \"\$BISECTD_OUT\")\" &&
    test -n \"\$BISECTD_REVISION\" && touch \"\$BISECTD_OUT/used\" || exit 200
    $is_good_level"
is_culprit "$answer"

claim "only the artifacts are there when measuring"
bisect 0 "$line" --metric exit --store "$work/artifact" --build 'mkdir -p o; cp level o/level; touch o/junk' \
    --artifact 'o/level' --measure 'test -e o/level || exit 200; test ! -e counter || exit 201
        test ! -e o/junk || exit 202; test "$(cat o/level)" = 100'
is_culprit "$answer"

claim "a metric file below BISECTD_OUT is read instead of stdout"
measure 0 'value:worse=up,file=result' 'echo chatter; cat level >"$BISECTD_OUT/result"'
is_culprit "$answer"
