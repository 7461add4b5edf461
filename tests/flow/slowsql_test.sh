#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Slow SQL in the field: a generated set of telemetry documents whose sums are known by construction.
. "$(dirname "$0")/lib.sh"

telemetry=$BISECTD_SUPPORT/telemetry
story=$work/story.json
"$telemetry" story 1 3>"$work/answer.json" >"$story"
filters=(--channel nightly --submitted 20130621..20130624)
pair=(--before-build ..20130622 --after-build 20130623..)
commit='COMMIT TRANSACTION /* formhistory.sqlite */'

# One group of the answer: [count, total, reports] and the reports of the group, as the tool tells it.
agree() { # ROWS_OF_TOOL: a jq filter that gives [db, thread, statement, group] of one group
    jq -e -n --slurpfile got "$out" --slurpfile want "$work/answer.json" "
        \$got[0] as \$g | \$want[0] as \$w | $1" >/dev/null || fail "does not agree with the answer: $1"
}

claim "compare is right to the unit, for each statement and both groups"
run 0 bisectctl slowsql compare "${filters[@]}" "${pair[@]}" --json "$story"
for group in before after; do
    for pair_of in 'commit:COMMIT' 'insert:INSERT' 'places:moz_places' 'unknown:third.sqlite'; do
        agree "([\$g.rows[] | select(.statement | contains(\"${pair_of#*:}\"))] | length == 1) and
            ([\$g.rows[] | select(.statement | contains(\"${pair_of#*:}\")) | .$group | .count, .total_ms, .reports]
                == \$w.$group.${pair_of%:*})"
    done
done
agree '$g.reports == [$w.before.reports, $w.after.reports]'
agree '[$g.hours[] * 60 | round] == [$w.before.minutes, $w.after.minutes]'
agree '$g.read == $w.read and $g.superseded == $w.superseded'
agree '$g.filtered == {channel: $w.channel, submitted: $w.submitted}'
agree '([$g.rejects[]] | add) == $w.rejected'
json '.rejects == {not_json: 3, no_payload: 1, bad_payload: 2, bad_slow_sql: 1, bad_hours: 1, bad_build_id: 2,
      no_build_id: 1, no_submission_date: 1}'

claim "the fix worked: the worst statement is gone, and the verdict says so"
json '.total.verdict == "improved" and .total.interval[1] < 1 and .rate == "per_1000_hours"'
json '.rows[0] | .statement == $s and .before.count == 174993 and .before.total_ms == 25023999 and
      .before.mean_ms == 143 and .after.count == 0 and .ratio == 0 and .verdict == "improved"' --arg s "$commit"
run 0 bisectctl slowsql compare "${filters[@]}" "${pair[@]}" "$story"
says '^improved: '
run 6 bisectctl slowsql compare "${filters[@]}" "${pair[@]}" --fail-on changed "$story"
run 4 bisectctl slowsql compare "${filters[@]}" "${pair[@]}" --db places.sqlite "$story"

claim "report prints the right total, and flags the sentence that said 417 s"
run 0 bisectctl slowsql report "${filters[@]}" --build ..20130622 --db formhistory.sqlite --thread main \
    --claim '174,993 slow occurrences averaging 143 ms; this totals 417 seconds' "$story"
says '25,024 s .* 174,993 .* 143 ms'
says 'claim: 174,993 x 143 ms = 25,024 s, not 417 s; that looks like minutes labelled as seconds'
run 0 bisectctl slowsql report --claim '174,993 x 143 ms = 417 s' --json
json '.claims[0] | .total_ms == 25023999 and (.agrees | not) and .looks_like == "minutes"'
run 0 bisectctl slowsql report --claim '174,993 x 143 ms = 25,024 s' --json
json '.claims[0].agrees'

for claimed in '99999999999999999 x 99999999999999 ms = 417 s' '-5 x 3 ms = -15 s'; do
    run 2 bisectctl slowsql report --claim "$claimed"
    says '^bisectctl: --claim: .*(over the limit of 2\^53|below zero)'
done

claim "map, sort and reduce give what one process gives, byte for byte"
bisectctl slowsql report "${filters[@]}" --json "$story" >"$work/whole.json"
bisectctl slowsql report "${filters[@]}" --lines "$story" >"$work/whole.lines"
bisectctl slowsql map "${filters[@]}" "$story" | LC_ALL=C sort | bisectctl slowsql reduce >"$work/reduced.lines"
cmp "$work/whole.lines" "$work/reduced.lines"
bisectctl slowsql map "${filters[@]}" "$story" | LC_ALL=C sort | bisectctl slowsql reduce --json | cmp - "$work/whole.json"
bisectctl slowsql report --json "$work/reduced.lines" | cmp - "$work/whole.json"

claim "so do 7 parts, mapped and combined by themselves"
split -n l/7 "$story" "$work/part."
for part in "$work"/part.a?; do
    bisectctl slowsql map "${filters[@]}" "$part" >"$part.map"
    bisectctl slowsql combine <"$part.map" >"$part.combined"
done
[ "$(ls "$work"/part.a? | wc -l)" = 7 ] || fail "not 7 parts"
LC_ALL=C sort "$work"/part.a?.map | bisectctl slowsql reduce | cmp - "$work/whole.lines"
LC_ALL=C sort "$work"/part.a?.combined | bisectctl slowsql reduce | cmp - "$work/whole.lines"
LC_ALL=C sort "$work"/part.a?.map | bisectctl slowsql combine | bisectctl slowsql reduce | cmp - "$work/whole.lines"
cat "$work"/part.a?.map "$work"/part.a?.map | bisectctl slowsql combine | bisectctl slowsql reduce --json >"$out"
jq -e --slurpfile w "$work/whole.json" '.total.before.total_ms == $w[0].total.before.total_ms' "$out" >/dev/null || fail "twice"
bisectctl slowsql map "${filters[@]}" "$work"/part.a? >"$work/all.map"
cat "$work"/part.a?.map | cmp - "$work/all.map"

claim "groups of a comparison can be mapped too"
bisectctl slowsql map "${filters[@]}" "${pair[@]}" "$work"/part.a? | LC_ALL=C sort | bisectctl slowsql reduce >"$work/pair.lines"
bisectctl slowsql compare "${filters[@]}" "${pair[@]}" --json "$story" |
    jq '[.rows[] | [.statement, .before, .after, .ratio]]' >"$work/pair.want"
run 4 bisectctl slowsql compare --json "$work/pair.lines"
jq '[.rows[] | [.statement, .before, .after, .ratio]]' "$out" | cmp - "$work/pair.want"
json '.total.interval == null and .total.verdict == "inconclusive"'

claim "every mapped line is a key of four and four whole numbers"
awk -F'\t' 'NF != 5 || $2 !~ /^[0-9]+$/ || $3 !~ /^[0-9]+$/ || $4 !~ /^[0-9]+$/ || $5 !~ /^[0-9]+$/ {exit 1}' "$work/all.map"
cut -f 1 "$work/all.map" | jq -e -s 'all(.[]; length == 4)' >/dev/null || fail "a key has not four parts"

claim "gzip, zstd, pipes and any number of threads change nothing"
gzip -k "$story"
zstd -q "$story"
bisectctl slowsql report "${filters[@]}" --json "$story.gz" | cmp - "$work/whole.json"
bisectctl slowsql report "${filters[@]}" --json "$story.zst" | cmp - "$work/whole.json"
bisectctl slowsql report "${filters[@]}" --json <"$story" | cmp - "$work/whole.json"
cat "$story.gz" "$story.gz" | bisectctl slowsql report "${filters[@]}" --json - | jq .total.before.total_ms |
    cmp - <(jq .total.before.total_ms "$work/whole.json")
for jobs in 1 2 5; do
    bisectctl slowsql report "${filters[@]}" --json --jobs $jobs "$work"/part.a? | cmp - "$work/whole.json"
    bisectctl slowsql map "${filters[@]}" --jobs $jobs "$work"/part.a? | cmp - "$work/all.map"
done

claim "in groupings totals stay what they are"
for by in db thread statement db,thread; do
    run 0 bisectctl slowsql report "${filters[@]}" --by $by --json "$story"
    jq -e --slurpfile w "$work/whole.json" '([.rows[].before.total_ms] | add) == ([$w[0].rows[].before.total_ms] | add) and
        .total == $w[0].total' "$out" >/dev/null || fail "by $by"
done
json '.rows | length == 3 and all(.statement == null)'

claim "of every report of a session only the last counts, unless told otherwise"
run 0 bisectctl slowsql report "${filters[@]}" --sessions every --json "$story"
agree '$g.superseded == 0 and ($g.reports[0] | . > $w.before.reports + $w.after.reports)'

claim "the build at which jank changed is found and mapped to revisions"
"$telemetry" step 40 25 >"$work/step.json"
line_repo line --commits 40 --culprit 26 --levels 100,300
git -C "$work/line" rev-list --reverse good..bad >"$work/commits"
jq -r .payload.info.appBuildID "$work/step.json" | sort -u >"$work/builds"
paste -d, "$work/builds" "$work/commits" >"$work/builds.csv"
jq -R -s 'split("\n") | map(select(. != "") | split(",") | {buildid: .[0], platform: "linux64", node: .[1]}) | {builds: .}' \
    "$work/builds.csv" >"$work/builds.json"
for list in builds.csv builds.json; do
    run 0 bisectctl slowsql report --by build --statement COMMIT --builds "$work/$list" --json "$work/step.json"
    json '(.rows | length == 40) and (.changes | length == 1) and (.changes[0] | .verdict == "regressed" and .first_after == $b and
          .range.bad == $r)' --arg b "$(sed -n 26p "$work/builds")" --arg r "$(sed -n 26p "$work/commits")"
done
run 0 bisectctl slowsql report --by build --statement moz_places --builds "$work/builds.csv" --json "$work/step.json"
json '.changes == []'
run 2 bisectctl slowsql report --by build --statement moz_places --builds "$work/builds.csv" --bisect --project x "$work/step.json"
says 'no change by build was found'

claim "and bisected"
project line <<'YAML'
metrics:
  m:
    kind: slowsql
    db: form*
    thread: main
    file: ping.json
    isolation: none
    command: >-
      printf '{"payload":{"slowSQL":{"mainThread":{"COMMIT /* formhistory.sqlite */":[2,%d]},
      "otherThreads":{"COMMIT /* formhistory.sqlite */":[3,%d]}}}}' $(($(cat level) + $(cat counter) % 3)) 999
      > $BISECTD_OUT/ping.json
YAML
serve --data-dir "$work/data" --listen none --workers 1
run 0 bisectctl slowsql report --by build --statement COMMIT --builds "$work/builds.csv" --bisect \
    --project "$work/line.yml" --metric m --coordinator "unix:$(socket_of "$work/data")" --json "$work/step.json"
id=$(field .bisection.id)
run 0 bisectctl watch "$id" --coordinator "unix:$(socket_of "$work/data")" --json
is_culprit "$(sed -n 26p "$work/commits")"
json '.metric.unit == "ms" and (.culprits[0] | .good.mean > 99 and .good.mean < 103 and .bad.mean > 299 and .bad.mean < 303)'

claim "a broken document is no number, and the log says why"
run 1 bisectctl run --repo "$work/line" --good good --bad bad --metric slowsql --store "$work/broken.store" --json \
    --measure 'echo "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1,"'
json '.verdict == "failed"'
run 0 bisectctl log "$(field .id)" "$(git -C "$work/line" rev-parse good)" --store "$work/broken.store"
says 'cannot measure: line 1: not one JSON object'

claim "mistakes are told with what to do"
run 2 bisectctl slowsql report --build yesterday.. "$story"
says 'a day \(20130623'
run 2 bisectctl slowsql compare "$story"
says 'before-build'
run 2 bisectctl slowsql compare --before-build ..20130623 --after-build 20130623.. "$story"
says 'overlap'
run 2 bisectctl slowsql report "$work/nowhere"
says 'nowhere: No such file'
run 2 bisectctl slowsql report "$work"
says 'is a folder'
run 2 bisectctl slowsql reduce "$work/all.map"
says 'LC_ALL=C sort'
run 2 bisectctl slowsql report "$work/all.map"
says 'mapped already'
head -c 2000 "$story.gz" >"$work/cut.gz"
run 2 bisectctl slowsql report "$work/cut.gz"
says 'cut.gz: packed data ends too early'

claim "one bad statement stops nothing, and is counted"
ping() { # STATEMENTS_OF_THE_MAIN_THREAD [MINUTES]
    echo '{"payload":{"info":{"appBuildID":"20130620030201"},"simpleMeasurements":{"uptime":'"${2:-60}"'},"slowSQL":{"mainThread":'"$1"'}}}'
}
ping '{},"weird":{"S":[1,100],"T":[1,100]}' >"$work/thread.json"
run 0 bisectctl slowsql report --json "$work/thread.json"
json '.rejects == {unknown_thread: 2} and .rows == []'
ping '{"a\u0000b":[1,100],"c":[1,100],"d":[1,9000000]}' >"$work/bad.json"
run 0 bisectctl slowsql report --json "$work/bad.json"
json '.rejects == {nul_in_text: 1, longer_than_session: 1} and (.rows | length == 1) and .total.before.total_ms == 100'
bisectctl slowsql map "$work/bad.json" | LC_ALL=C sort | bisectctl slowsql reduce --json | cmp - "$out"

claim "of what was reduced only that is asked which its lines say"
run 0 bisectctl slowsql report --db formhistory.sqlite --thread main --statement COMMIT --json "$work/reduced.lines"
jq '[.rows, .reports]' "$out" >"$work/chosen"
run 0 bisectctl slowsql report "${filters[@]}" --db formhistory.sqlite --thread main --statement COMMIT --json "$story"
jq '[.rows, .reports]' "$out" | cmp - "$work/chosen"
for flags in '--channel nightly' '--submitted 20130621..' '--build ..20130622' '--sessions every' '--by build' '--by db'; do
    # shellcheck disable=SC2086
    run 2 bisectctl slowsql report $flags "$work/reduced.lines"
    says "reduced.lines: the line at byte 0: ${flags%% *}|reduced.lines: the line at byte [0-9]+: ${flags%% *}"
done
run 2 bisectctl slowsql compare "$work/reduced.lines"
says 'neither group'
for flags in '--before-build ..20130621 --after-build 20130624..' '--before-submitted ..20130621 --after-submitted 20130624..'; do
    # shellcheck disable=SC2086
    run 2 bisectctl slowsql compare $flags "$work/pair.lines"
    says "pair.lines: the line at byte 0: ${flags%% *} does not go with lines that were reduced"
done
run 2 bisectctl slowsql compare "$work/pair.lines" "$story"
says 'before-build and --after-build are missing'
run 2 bisectctl slowsql compare /dev/null
says 'before-build and --after-build are missing'
run 2 bisectctl slowsql report "$work/pair.lines" "$story"
says 'differ in their groups'
run 0 bisectctl slowsql report "$work/reduced.lines" "$story"

claim "sums are parts of one where sessions meet apart from what they take off, and below zero nowhere else"
grep '^\[null,"session"' "$work/all.map" | LC_ALL=C sort | bisectctl slowsql reduce >"$work/sessions.part"
grep -v '^\[null,"session"' "$work/all.map" | LC_ALL=C sort | bisectctl slowsql reduce >"$work/rows.part"
grep -q -- '-' <(cut -f 2- "$work/sessions.part") || fail "nothing is taken off"
run 0 bisectctl slowsql report --json "$work/sessions.part" "$work/rows.part"
cmp "$out" "$work/whole.json"
run 2 bisectctl slowsql report "$work/sessions.part"
says 'is below zero'
printf '["all","d","main","S"]\t1\t-100\t1\t0\n' >"$work/negative.lines"
run 2 bisectctl slowsql reduce "$work/negative.lines"
says 'a sum of \["all","d","main","S"\] is below zero'

claim "a line in brackets that is none of ours is told"
{ echo '[1,2]'; ping '{"c":[1,100]}'; } >"$work/bracket.json"
run 0 bisectctl slowsql report --json "$work/bracket.json"
json '.rejects == {not_json: 1} and .read == 2'
{ head -n 1 "$work/reduced.lines"; echo '[1,2]'; } >"$work/bracket.lines"
for step in combine reduce; do
    run 2 bisectctl slowsql $step "$work/reduced.lines" "$work/bracket.lines"
    says 'bracket.lines: line [12]: '
done

claim "groups without reports, and those without slow SQL, are told"
run 4 bisectctl slowsql compare --before-build ..20130101 --after-build 20130102.. "$work/bad.json"
says '^inconclusive: no reports before: check the dates'
! grep -q 9,223 "$out" || fail "a number that is none"
{ ping '{}'; ping '{}' | sed s/20130620/20130624/; } >"$work/quiet.json"
run 4 bisectctl slowsql compare "${pair[@]}" "$work/quiet.json"
says 'neither group has any'
run 2 bisectctl slowsql compare --before-build ..20130622 "$story"
says '--after-build is missing'
run 2 bisectctl slowsql compare --after-submitted 20130622.. "$story"
says '--before-submitted is missing'

claim "files that hold no documents are no success"
run 2 bisectctl slowsql report /etc/passwd
says 'no document of use among [0-9]+ lines; the first: not one JSON object'
ping '{"c":[1,100]}' | jq . >"$work/pretty.json"
run 2 bisectctl slowsql report "$work/pretty.json"
says 'one a line'
printf '\xFD7zXZ\0rest' >"$work/pings.xz"
run 2 bisectctl slowsql report "$work/pings.xz"
says 'pings.xz: is packed with xz'
run 2 bash -c 'cat "$1" | bisectctl slowsql report' - "$work/pings.xz"
says 'stdin: is packed with xz'
{ printf '\xEF\xBB\xBF'; ping '{"c":[1,100]}'; } >"$work/mark.json"
run 0 bisectctl slowsql report --json "$work/mark.json"
json '.rejects == {} and .read == 1'
gzip "$work/mark.json"
run 0 bisectctl slowsql report --json "$work/mark.json.gz"
json '.rejects == {} and .read == 1'
