#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Commits that build to the same thing: none is measured twice, none is blamed.
. "$(dirname "$0")/lib.sh"

# The history of the demo, and the commits of it that touch documentation alone.
"$make_repo/make-demo-repo" "$work/demo" --seed 4 --answer "$work/answer"
answer=$(cat "$work/answer")
git -C "$work/demo" log --first-parent -m --name-only --format=%H v1.0..main |
    awk 'NF { if (length($0) == 40) { id = $0; others[id] = 0; docs[id] = 0 }
              else if ($0 ~ /^docs\//) docs[id] = 1; else others[id] = 1 }
         END { for (id in docs) if (docs[id] && !others[id]) print id }' | sort >"$work/docs"
n_docs=$(wc -l <"$work/docs")
[ "$n_docs" -ge 10 ] || fail "the demo has $n_docs commits of documentation"

of_docs() { # TABLE STORE [CONDITION]: how many rows of it are about documentation
    sqlite3 "$2/bisectd.db" "SELECT revision FROM $1 WHERE ${3-1}" | grep -cFf "$work/docs" || true
}

claim "commits of documentation cost no run, and the report says how many there are"
run 0 bisectctl run --repo "$work/demo" --good v1.0 --bad main --build "make -s" --artifact notes \
    --measure './notes "$BISECTD_OUT/notes.db"' --metric wall --no-explain --store "$work/plain"
says "culprit: ${answer:0:10}"
says "excluded +[0-9]+ commits?: [0-9]+ build to the same bytes, [0-9]+ looks? like documentation and costs? no run"
[ "$(of_docs samples "$work/plain")" = 0 ] || fail "documentation was measured"
wait_for_store "$work/plain"

claim "with paths they cost no build either"
cat >"$work/demo.yml" <<YAML
name: demo
repository: $work/demo
submodules: none
platforms: [linux-x64]
paths: [src/, Makefile]
build: {steps: ["make -s"], artifacts: [notes]}
metrics:
  wall: {kind: wall, command: "./notes \$BISECTD_OUT/notes.db"}
YAML
run 0 bisectctl run --project "$work/demo.yml" --metric wall --good v1.0 --bad main --no-explain --store "$work/paths"
says "culprit: ${answer:0:10}"
says "$n_docs touch nothing the build reads"
[ "$(of_docs samples "$work/paths")" = 0 ] || fail "documentation was measured"
[ "$(of_docs builds "$work/paths")" = 0 ] || fail "documentation was built"

# Commits 1 to 48: level 100, then 110 from 30 on. Every third changes the counter alone, which no
# artifact holds, and whose name says nothing.
history() { # NAME
    git init -q "$work/$1"
    for i in $(seq 0 48); do
        echo $i >"$work/$1/counter"
        [ $((i % 3)) -eq 1 ] || echo $((i - i % 3)) >"$work/$1/content"
        [ $i -ge 30 ] && echo 110 >"$work/$1/level" || echo 100 >"$work/$1/level"
        git -C "$work/$1" add -A
        git -C "$work/$1" commit -qm "commit $i"
        [ $i -ne 0 ] || git -C "$work/$1" tag good
    done
    git -C "$work/$1" tag bad
    answer=$(git -C "$work/$1" rev-parse HEAD~18)
}

claim "an artifact that is known already is not measured once more"
history repeats
measured="cat level; test -s content"
bisect 0 "$work/repeats" --artifact level --artifact content --metric value:worse=up \
    --measure "$measured" --store "$work/repeats.store"
is_culprit "$answer"
json '.excluded.same_bytes > 0 and .excluded.untouched == 0'
sqlite3 "$work/repeats.store/bisectd.db" "SELECT count(*) FROM (SELECT count(DISTINCT s.revision) AS n
    FROM samples AS s JOIN builds AS b ON b.task = s.task AND b.revision = s.revision
    WHERE s.status = 'ok' AND b.fresh = 0 GROUP BY b.artifact) WHERE n > 1" >"$out"
[ "$(cat "$out")" = 0 ] || fail "two revisions of one artifact were measured"
wait_for_store "$work/repeats.store"

claim "what happened is recomputed to the same end"
run 0 bisectctl list --store "$work/repeats.store" --json
id=$(field '.items[0].id')
run 0 bisectctl replay "$id" --store "$work/repeats.store" --json
json '.matches'

claim "three workers at once come to the same commit, and so does what is recomputed"
wait_for_store "$work/repeats.store"
bisect 0 "$work/repeats" --artifact level --artifact content --metric value:worse=up \
    --measure "$measured" --workers 3 --store "$work/three.store"
is_culprit "$answer"
id=$(field .id)
run 0 bisectctl replay "$id" --store "$work/three.store" --json
json '.matches'

claim "artifacts of an earlier search exclude before anything is built"
wait_for_store "$work/repeats.store"
bisect 0 "$work/repeats" --artifact level --artifact content --metric value:worse=up \
    --measure "true; $measured" --store "$work/repeats.store"
is_culprit "$answer"
json '.cost.builds_reused > 0 and .excluded.same_bytes > 0'

claim "where only two artifacts exist, one build each side tells all, and the culprit is exact"
bisect 0 "$work/repeats" --artifact level --metric value:worse=up --measure "cat level" --store "$work/two.store"
is_culprit "$answer"
sqlite3 "$work/two.store/bisectd.db" "SELECT count(DISTINCT revision) FROM samples AS s WHERE status = 'ok'
    AND NOT EXISTS (SELECT 1 FROM builds AS b WHERE b.task = s.task AND b.fresh = 1)" >"$out"
[ "$(cat "$out")" = 2 ] || fail "more than the two ends were measured"

claim "ends of the same bytes are not reproduced, whatever noise says, without a search"
line_repo still --commits 30
bisect 3 "$work/still" --artifact level --metric value:worse=up,unit=ms --seed 2 --measure "$BISECTD_SUPPORT/noise 100 5"
json '.culprits == [] and .cost.builds == 2 and .excluded.same_bytes == 30'
json '.message | test("both build to the same bytes")'

claim "and where something else makes them differ, no commit is blamed"
bisect 4 "$work/still" --artifact level --metric value:worse=up --measure \
    "case \$BISECTD_REVISION in $(git -C "$work/still" rev-parse good)) echo 100 ;; *) echo 200 ;; esac"
json '.verdict == "inconclusive" and .finding == "culprit_not_built" and .culprits == [] and (.cost.builds + .cost.builds_reused) == 2'
json '.message | test("build to the same")'
