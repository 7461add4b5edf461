#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a search takes from the store: of other ends, of histories with merges, of what failed.
. "$(dirname "$0")/lib.sh"

store=$work/store
noisy="$BISECTD_SUPPORT/noise \$(cat level) 0.5"

inner() { # REPO GOOD BAD ARGUMENT...: a bisection of a part; sets $inner and $n_runs
    local repo=$1 good=$2 bad=$3
    shift 3
    run 0 bisectctl run --no-explain --repo "$repo" --good "$good" --bad "$bad" --json --store "$store" "$@"
    is_culprit "$answer"
    inner=$(field .id)
    n_runs=$(field .cost.runs)
}

is_continued() { # the search in $out has all that $inner measured, and its word on the culprit
    is_culprit "$answer"
    json '.cost.runs_reused == ($n | tonumber)' --arg n "$n_runs"
    json '.message | endswith("verified in bisection " + $inner)' --arg inner "$inner"
    run 0 bisectctl replay "$(field .id)" --store "$store" --json
    json '.matches'
}

claim "a longer range pays for its own ends"
line_repo line --commits 90 --culprit 41 --levels 100,104
line=$work/line
inner "$line" "$(commit_at "$line" 20)" "$(commit_at "$line" 60)" --measure "$noisy" --metric value:worse=up
bisect 0 "$line" --store "$store" --measure "$noisy" --metric value:worse=up --seed 2
json '.cost.runs <= 4 and .cost.builds == 2'
is_continued

claim "and so it does where branches merge"
answer_file=$work/dag.answer
for seed in 1 2 3; do
    "$make_repo/make-dag-repo" "$work/dag$seed" --commits 80 --seed $seed --answer "$answer_file"
    dag=$work/dag$seed answer=$(cat "$answer_file")
    # of the main line: two before the culprit came in, and two after
    mapfile -t main < <(git -C "$dag" rev-list --first-parent --reverse bad)
    at=0
    until git -C "$dag" merge-base --is-ancestor "$answer" "${main[at]}"; do at=$((at + 1)); done
    first=$((at > 3 ? at - 3 : 0)) last=$((at + 2 < ${#main[@]} ? at + 2 : ${#main[@]} - 1))
    inner "$dag" "${main[first]}" "${main[last]}" --measure 'test $(cat state) = good' --metric exit
    bisect 0 "$dag" --store "$store" --measure 'test $(cat state) = good' --metric exit
    json '.cost.runs <= 4'
    is_continued
done

claim "what does not build is not tried again, and the answer says so"
line_repo broken --commits 40 --culprit 20 --levels 100,104 --broken 18..22
bisect 4 "$work/broken" --store "$store" --build "sh build.sh" --measure "$noisy" --metric value:worse=up
json '.verdict == "range" and .cost.builds > 4'
first=$(field .id)
candidates=$(field '[.candidates[].revision]')
bisect 4 "$work/broken" --store "$store" --build "sh build.sh" --measure "$noisy" --metric value:worse=up
json '.verdict == "range" and .cost.builds == 0 and .cost.runs == 0'
json '[.candidates[].revision] == $candidates' --argjson candidates "$candidates"
json '.message | contains("failed in bisection " + $first + "; --fresh tries")' --arg first "$first"
run 0 bisectctl replay "$(field .id)" --store "$store" --json
json '.matches'

claim "nor what cannot be measured"
bisect 4 "$work/broken" --store "$store" --measure "sh build.sh && $noisy" --metric value:worse=up
json '.verdict == "range" and .cost.runs > 10'
bisect 4 "$work/broken" --store "$store" --measure "sh build.sh && $noisy" --metric value:worse=up
json '.verdict == "range" and .cost.builds == 0 and .cost.runs == 0'

claim "with --fresh all of it is"
bisect 4 "$work/broken" --store "$store" --build "sh build.sh" --measure "$noisy" --metric value:worse=up --fresh
json '.verdict == "range" and .cost.builds > 4 and .cost.runs > 4'
says_not "earlier|failed in"

claim "ends that failed are tried again, since the machine may have been mended"
line_repo mended --commits 20 --culprit 10 --levels 100,104
needs_tool="test -e $work/tool && $noisy"
bisect 1 "$work/mended" --store "$store" --measure "$needs_tool" --metric value:worse=up
json '.verdict == "failed"'
touch "$work/tool"
bisect 0 "$work/mended" --store "$store" --measure "$needs_tool" --metric value:worse=up
is_culprit "$(cat "$work/mended.answer")"

claim "ends that do not differ need not be compared again"
line_repo same --commits 30
noise="$BISECTD_SUPPORT/noise 100 2"
bisect 3 "$work/same" --store "$store" --measure "$noise" --metric value:worse=up --seed 1
first=$(field .id)
json '.cost.runs > 4'
bisect 3 "$work/same" --store "$store" --measure "$noise" --metric value:worse=up --seed 2
json '.cost.runs == 0 and (.message | endswith("verified in bisection " + $first))' --arg first "$first"
