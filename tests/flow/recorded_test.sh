#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A search recorded by bisectctl simulate, played to a real daemon over the protocol of workers: the
# same samples lead to the same decisions, one by one, and to the same verdict.
. "$(dirname "$0")/lib.sh"

commits=100
line_repo line --commits $commits
{
    git -C "$work/line" rev-parse good
    git -C "$work/line" rev-list --reverse good..bad
} >"$work/names"
declare -A leases fences

register() { # WORKER: the daemon counts those that have asked for work
    api "$data" POST '/api/v1/leases?wait=0' \
        "{\"worker\": \"$1\", \"host\": \"h\", \"platform\": \"linux-x64\", \"tags\": []}"
    [ "$http" = 204 ] || fail "status $http"
}

submit() { # LINE: of the same question, but for where the repository is
    jq --arg repo "$work/line" '.request | .project.repository = $repo | .project.submodules = "none" | .no_explain = true' \
        <<<"$1" >"$work/request.json"
    api "$data" POST /api/v1/bisections "@$work/request.json"
    [ "$http" = 201 ] || fail "status $http"
    bisection=$(field .id)
}

# Both sides print compact JSON, so that texts can be compared and cut without a process each time.
begin() { # LINE: a worker gets the task that was recorded
    local ordinal=${1#*:} body answer
    ordinal=${ordinal%%,*} body=${1#*,}
    api "$data" POST '/api/v1/leases?wait=30' "{${body%\}},\"platform\":\"linux-x64\",\"tags\":[]}"
    [ "$http" = 200 ] || fail "no task $ordinal: status $http"
    answer=$(<"$out")
    [[ $answer == *"\"spec\":${issued[$ordinal]}}" ]] || fail "not the task recorded: ${issued[$ordinal]}"
    [[ $answer =~ ^\{\"id\":\"([^\"]+)\",\"fence\":([0-9]+), ]] || fail "not a lease"
    leases[$ordinal]=${BASH_REMATCH[1]} fences[$ordinal]=${BASH_REMATCH[2]}
}

bring() { # LINE: the recorded result; tasks that are canceled on it are taken from their workers
    local ordinal result canceled
    [[ $1 =~ \"ordinal\":([0-9]+),.*,\"cancel\":\[([0-9,]*)\] ]] || fail "not a result"
    ordinal=${BASH_REMATCH[1]} canceled=${BASH_REMATCH[2]//,/ }
    result=${1#*\"result\":}
    result=${result%%,\"issue\":*}
    printf %s "${result/\"fence\":0,/\"fence\":${fences[$ordinal]},}" >"$work/result.json"
    api "$data" POST "/api/v1/leases/${leases[$ordinal]}/result" "@$work/result.json"
    [ "$http" = 200 ] || fail "result of task $ordinal: status $http"
    unset "leases[$ordinal]"
    for ordinal in $canceled; do
        [ -n "${leases[$ordinal]-}" ] || continue
        api "$data" PUT "/api/v1/leases/${leases[$ordinal]}" "{\"fence\": ${fences[$ordinal]}}"
        [ "$http" = 409 ] || fail "task $ordinal goes on: status $http"
        unset "leases[$ordinal]"
    done
}

# What was decided after which event, as the daemon stored it.
stored() { # SQL: one JSON list a row
    sqlite3 -readonly "$data/bisectd.db" "$1"
}

# What a verdict says but for what the commits are called in a real history and how long it took.
essence='{verdict, finding, message: (.message | gsub("\".*?\""; "")), confidence, seed, range_size, good, bad,
    candidates, untestable, p_no_change, min_effect, culprits: [.culprits[] | del(.subject, .author)],
    cost: (.cost | {builds, runs})}'

# noise, workers | arguments | the verdict, least tasks
n=0
while IFS='|' read -r name workers arguments want least; do
    n=$((n + 1)) record=$work/$n.jsonl data=$work/data$n leases=() fences=()
    claim "$name: the daemon decides as simulate did"
    # shellcheck disable=SC2086
    run 0 bisectctl simulate $arguments --workers "$workers" --verify --seed 1 --revisions "$work/names" --record "$record"
    mapfile -t issued < <(jq -c '.issue // [] | .[]' "$record")
    [ ${#issued[@]} -ge "$least" ] || fail "only ${#issued[@]} tasks"

    serve --data-dir "$data" --listen none --workers 0
    for ((w = 0; w < workers; w++)); do register "worker-$w"; done
    while IFS= read -r line; do
        case $line in
        '{"request":'*) submit "$line" ;;
        '{"begin":'*) begin "$line" ;;
        '{"event":"result",'*) bring "$line" ;;
        esac
    done <"$record"

    api "$data" GET "/api/v1/bisections/$bisection"
    json '.state == "done"'
    jq -S "$essence" "$out" >"$work/verdict"
    jq -S "select(.verdict) | .verdict | $essence" "$record" >"$work/verdict.recorded"
    cmp "$work/verdict" "$work/verdict.recorded" || fail "the verdicts differ"
    json ".verdict == \"$want\""

    claim "$name: each task is decided after the same event, and so is what is believed"
    jq -s 'map(select(.event)) | to_entries | map(.key as $i | {event: .value.event, posterior: .value.posterior,
        issue: .value.issue, seq: ($i + 1)})' "$record" >"$work/steps"
    jq -c '.[] | .seq as $seq | .issue[] | [$seq, .]' "$work/steps" >"$work/decisions.recorded"
    stored "SELECT json_array(after_seq, json(spec)) FROM decisions ORDER BY ordinal" | jq -c . >"$work/decisions"
    cmp "$work/decisions" "$work/decisions.recorded" || fail "the decisions differ"
    jq -c '.[] | [.event, .posterior]' "$work/steps" >"$work/beliefs.recorded"
    stored "SELECT json_array(e.kind, json(p.posterior)) FROM events AS e JOIN posteriors AS p USING (bisection, seq)
        ORDER BY seq" | jq -c . >"$work/beliefs"
    cmp "$work/beliefs" "$work/beliefs.recorded" || fail "the posteriors differ"
    jq -s '[.[] | .cancel // [] | .[]] | sort' "$record" >"$work/canceled.recorded"
    stored "SELECT json_group_array(ordinal) FROM (SELECT ordinal FROM tasks WHERE state = 'canceled' ORDER BY 1)" |
        jq . >"$work/canceled"
    cmp "$work/canceled" "$work/canceled.recorded" || fail "other tasks were canceled"

    claim "$name: replay agrees"
    run 0 bisectctl replay "$bisection" --store "$data"
    stop "$daemon"
done <<'END'
one worker|1|--effect 2|culprit|10
three workers, of which one result makes others useless|3|--effect 2 --build-cost 4|culprit|10
two hosts of different speed|1|--effect 4 --noise workers|culprit|10
a stretch that does not build|1|--effect 6 --broken .3|culprit|5
values without a spread|3|--effect 4 --noise count|culprit|5
no change at all|1|--effect 0|not_reproduced|3
END
