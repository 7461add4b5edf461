#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bisectctl simulate: what it prints, that it repeats itself, and what it refuses.
. "$(dirname "$0")/lib.sh"

fields='["policy","trials","exact","wrong","undecided","runs_mean","builds_mean","cost_mean",
         "rounds_mean","floor_runs","decisions_mean","share_error","beside_culprit","beside_named",
         "beside_wrong"]'

claim "one document with these fields and no others, for every policy"
for policy in bisectd git pinpoint bayesect known; do
    run 0 bisectctl simulate --policy $policy --effect 4 --build-cost 10 --trials 20 --json
    json "keys_unsorted == $fields and .policy == \"$policy\" and .trials == 20 and
          ((.exact + .wrong + .undecided - 1) | fabs) < 1e-9 and
          ((.runs_mean + 10 * .builds_mean - .cost_mean) | fabs) < 1e-6 and .floor_runs > 5 and
          .decisions_mean >= 1 and .share_error == null and .beside_named == 0"
done

claim "the same seed gives the same numbers, another seed others"
run 0 bisectctl simulate --noise drift --effect 4 --trials 30 --workers 3 --seed 7 --json
cp "$out" "$work/first"
run 0 taskset -c 0 bisectctl simulate --noise drift --effect 4 --trials 30 --workers 3 --seed 7 --json
cmp "$out" "$work/first" || fail "the numbers differ"
run 0 bisectctl simulate --noise drift --effect 4 --trials 30 --workers 3 --seed 8 --json
! cmp -s "$out" "$work/first" || fail "the numbers are the same"

claim "without a change there is no floor, and git names a culprit every time"
run 0 bisectctl simulate --policy git --effect 0 --trials 20 --json
json '.floor_runs == null and .wrong == 1 and .runs_mean == 8 and .builds_mean == 8'

claim "repeats are runs of a revision"
run 0 bisectctl simulate --policy git --repeats 9 --trials 20 --json
json '.runs_mean == 72 and .builds_mean == 8 and .rounds_mean == 72'

claim "steps of different sizes"
run 0 bisectctl simulate --effect 2,4 --trials 5 --json
json '.trials == 5'

claim "for people there is a table"
run 0 bisectctl simulate --policy known --trials 20
says '^ *exact'
says 'no search can do with less than'

claim "a search that is recorded is the same search"
run 0 bisectctl simulate --noise drift --trials 1 --json
cp "$out" "$work/first"
run 0 bisectctl simulate --noise drift --record "$work/record" --json
cmp "$out" "$work/first" || fail "another search"

claim "a record has the names of the commits that were given"
for ((i = 0; i <= 40; i++)); do printf '%040x\n' $((i + 1000)); done >"$work/names"
run 0 bisectctl simulate --revisions "$work/names" --record "$work/record" --json
jq -es '.[0].range.commits[0].id == "'"$(head -n 1 "$work/names")"'" and .[-1].verdict.range_size == 40 and
    ([.[] | select(.event)] | length > 5)' "$work/record" >/dev/null || fail "not such a record"

# arguments | a word of the message
while IFS='|' read -r arguments words; do
    claim "refused: $arguments"
    arguments=${arguments//RECORD/$work/record}
    # shellcheck disable=SC2086
    run 2 bisectctl simulate ${arguments/NAMES/$work/names}
    says "$words"
done <<'END'
--noise loud|gaussian
--policy guess|bayesect
--effect much|--effect
--effect -1|--effect
--effect 1,|--effect
--effect 2,4 --culprits 3|names 2
--effect 0 --culprits 2|without effect
--commits 3 --culprits 4|only 3 commits
--broken 2|from 0 to 1
--build-cost nan|number
--workers 0|from 1 to 64
--trials none|whole number
--record RECORD --trials 2|of 1 trial
--record RECORD --policy git|only bisectd
--record RECORD/no/folder|--record
--revisions NAMES --commits 41|41 lines, 42 are needed
--revisions RECORD|line 1
--revisions RECORD/none|--revisions
--confidence 1|probability
END
