#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stretches of history that build with a patch, a commit or a variable alone.
. "$(dirname "$0")/lib.sh"

stretch_at() { # FIRST LAST: as the range of a fixup
    echo "$(commit_at "$work/line" $(($1 - 1)))..$(commit_at "$work/line" "$2")"
}

line_repo line --commits 40 --culprit 18 --broken 15..22
cd "$work/line"
git checkout -q bad
printf 'echo "built anyway"\n' >build.sh
git diff >"$work/old.patch"
git commit -q -am "Build anyway"
fix=$(git rev-parse HEAD)
git checkout -q good
cd "$work"

plain() {
    cat <<'YAML'
build: {steps: ["sh build.sh"], artifacts: [level]}
metrics:
  m: {kind: exit, command: "test $(cat level) = 100"}
YAML
}

claim "without the patch the stretch hides the culprit"
plain | project line
bisect_project 4 line
json '.verdict == "range" and [.candidates[].revision] == $s and .fixups == null' \
    --argjson s "$(commits_at "$work/line" 15 23)"

claim "with it the culprit inside the stretch is found, and the report says what it was built with"
{
    plain
    echo "fixups:"
    echo "  - {range: $(stretch_at 15 22), patch: old.patch}"
} | project line
bisect_project 0 line
is_culprit "$answer"
json '.message | test("built with old.patch")'
json '[.fixups[] | select(.revision == $h)][0].applied == ["old.patch"]' --arg h "$answer"
id=$(field .id)
json '.cost.runs_reused > 0' # of revisions outside the stretch
run 0 bisectctl show "$id" --store "$work/line.store"
says "built with +old.patch"
run 0 bisectctl log "$id" "$answer" --store "$work/line.store"
says "== build $answer with old.patch"
says "built anyway"
run 0 bisectctl replay "$id" --store "$work/line.store"

claim "names are taken for the ends of a stretch, and all before a revision is one too"
git -C "$work/line" tag fixed "$(commit_at "$work/line" 22)"
{
    plain
    echo "fixups: [{range: fixed, patch: old.patch}]"
} | project line
bisect_project 0 line --fresh
is_culprit "$answer"

claim "a commit to pick does the same, and so does a variable"
{
    plain
    echo "fixups: [{range: $(stretch_at 15 22), commit: $fix}]"
} | project line
bisect_project 0 line --fresh
is_culprit "$answer"
json '.message | test("built with commit " + $c)' --arg c "${fix:0:10}"
{
    plain | sed 's/sh build.sh/test -n \\"$ANYWAY\\" || sh build.sh/'
    echo "fixups: [{range: $(stretch_at 15 22), environment: {ANYWAY: 'yes'}}]"
} | project line
bisect_project 0 line --fresh
is_culprit "$answer"
json '.message | test("built with ANYWAY=yes")'

claim "what was built with another patch is not used again"
sed 's/built anyway/built some other way/' "$work/old.patch" >"$work/other.patch"
for patch in old other; do
    {
        plain
        echo "fixups: [{range: $(stretch_at 15 22), patch: $patch.patch}]"
    } | project line
    bisect_project 0 line
    is_culprit "$answer"
done
run 0 bisectctl log "$(field .id)" "$answer" --store "$work/line.store"
says "built some other way"

claim "a patch that does not apply makes a revision untestable, and says which file and patch"
sed 's/test ! -e broken/test ! -e whole/' "$work/old.patch" >"$work/bad.patch"
{
    plain
    echo "fixups: [{range: $(stretch_at 15 22), patch: bad.patch}]"
} | project line
bisect_project 4 line --fresh
json '.verdict == "range" and [.candidates[].revision] == $s' --argjson s "$(commits_at "$work/line" 15 23)"
run 0 bisectctl log "$(field .id)" "$(field '.untestable[0]')" --store "$work/line.store"
says "check out: bad.patch does not apply: build.sh:1"

claim "at an end it is said at once"
{
    plain
    echo "fixups: [{range: bad, patch: bad.patch}]"
} | project line
bisect_project 1 line
json '.verdict == "failed" and (.message | test("bad.patch does not apply: build.sh:1"))'

claim "mistakes are told before anything starts, with file and line or with the name"
plain | project line
lines=$(wc -l <"$work/line.yml")
wrong() { # FIXUP WORDS
    {
        plain
        echo "fixups: [$1]"
    } | project line
    bisect_project 2 line
    says "$2"
}
wrong '{range: good..bad, pacth: x}' "line.yml:$((lines + 1)):.*pacth: unknown key; did you mean patch"
wrong '{range: good..bad, patch: nosuch}' "line.yml:$((lines + 1)):.*nosuch: no such file"
wrong '{range: good...bad, patch: old.patch}' "expected A..B"
wrong '{range: good..bsd, patch: old.patch}' "fixups\[0\].range: no revision .bsd."
says "did you mean 'bad'"
wrong '{range: bad..good, patch: old.patch}' "no commits in bad..good"
wrong '{range: good..bad, commit: v1}' "git rev-parse"
wrong '{range: good..bad, commit: 1111111111111111111111111111111111111111}' "fixups\[0\].commit: no revision"
echo "no patch at all" >"$work/none.patch"
wrong '{range: good..bad, patch: none.patch}' "none.patch is no patch"
says "git diff"

claim "a service takes a configured project with its patches"
{
    plain
    echo "fixups: [{range: $(stretch_at 15 22), patch: old.patch}]"
} | project line
cat >"$work/bisectd.yml" <<YAML
listen: none
data_dir: data
projects: [line.yml]
YAML
serve --config "$work/bisectd.yml"
cd "$HOME" # where no file is called like the project
socket=unix:$(socket_of "$work/data")
run 0 bisectctl submit --coordinator "$socket" --project line --metric m --good good --bad bad --json
run 0 bisectctl watch "$(field .id)" --coordinator "$socket" --json
is_culprit "$answer"
json '.message | test("built with old.patch")'
stop "$daemon"
