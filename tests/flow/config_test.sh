#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults in configuration files: each is an error with file, line, column and what was expected.
. "$(dirname "$0")/lib.sh"

good='name: demo
repository: https://example.org/demo.git
build: {steps: [make]}
metrics:
  startup: {kind: wall, command: ./demo}'

claim "a sound project file passes"
echo "$good" >"$work/p.yml"
run 0 bisectctl config check "$work/p.yml"
run 0 bisectctl config check "$work/p.yml" --json
json 'type == "object"'

claim "every shipped example passes"
for example in "$source_dir"/config/*.yml "$source_dir"/config/examples/*.yml; do
    [ -e "$example" ] || continue
    run 0 bisectctl config check "$example"
done

# name | line at fault | a word of the message, or another | text, \n for a new line
while IFS='|' read -r what line words text; do
    claim "$what"
    printf '%b\n' "$text" >"$work/p.yml"
    run 2 bisectctl config check "$work/p.yml"
    says "${words//\//|}"
    says "p.yml:$line"
done <<'END'
no YAML at all|2|expected|name: [1, 2
a tab where YAML wants spaces|2|tab|metrics:\n\tx: 1
an unknown key, with the nearest known one|2|repository|name: x\nrepositry: /x\nbuild: {steps: []}\nmetrics: {m: {kind: exit, command: x}}
an unknown key of a metric|4|timeout|name: x\nrepository: /x\nbuild: {steps: []}\nmetrics: {m: {kind: exit, command: x, tiemout: 3s}}
a key given twice|3|twice/duplicate|name: x\nrepository: /x\nname: y\nmetrics: {m: {kind: exit, command: x}}
a list where a string is wanted|1|got a list|name: [x]\nrepository: /x\nmetrics: {m: {kind: exit, command: x}}
a string where a list is wanted|3|list|name: x\nrepository: /x\nbuild: {steps: make}\nmetrics: {m: {kind: exit, command: x}}
a mapping is wanted|3|a map|name: x\nrepository: /x\nmetrics: none
a duration that is none|3|duration|name: x\nrepository: /x\nbuild: {steps: [], timeout: soon}\nmetrics: {m: {kind: exit, command: x}}
a size that is none|3|size|name: x\nrepository: /x\nsandbox: {memory: much}\nmetrics: {m: {kind: exit, command: x}}
a number that is none|3|number|name: x\nrepository: /x\nbudget: {runs: many}\nmetrics: {m: {kind: exit, command: x}}
a number out of its range|3|from 1 to|name: x\nrepository: /x\nbudget: {runs: -5}\nmetrics: {m: {kind: exit, command: x}}
a yes-or-no that is neither|3|yes|name: x\nrepository: /x\nsandbox: {network: perhaps}\nmetrics: {m: {kind: exit, command: x}}
a metric kind that is not known|3|wall|name: x\nrepository: /x\nmetrics: {m: {kind: wal, command: x}}
a word that is not one of those allowed|3|up|name: x\nrepository: /x\nmetrics: {m: {kind: value, command: x, worse: upward}}
a regular expression that does not compile|3|regex|name: x\nrepository: /x\nmetrics: {m: {kind: value, command: x, regex: "("}}
a regex and a JSON pointer at once|3|regex|name: x\nrepository: /x\nmetrics: {m: {kind: value, command: x, regex: "(1)", json: /a}}
a key of another kind|3|regex|name: x\nrepository: /x\nmetrics: {m: {kind: wall, command: x, regex: "(1)"}}
a metric without a command|3|command|name: x\nrepository: /x\nmetrics: {m: {kind: exit}}
no repository||repository|name: x\nmetrics: {m: {kind: exit, command: x}}
no metric||metrics|name: x\nrepository: /x
an empty file||empty/mapping|\n
END

claim "a file that is not there, a folder, a huge file, text that is no UTF-8"
run 2 bisectctl config check "$work/nowhere.yml"
says "nowhere.yml"
run 2 bisectctl config check "$work"
head -c 3000000 /dev/zero | tr '\0' '#' >"$work/huge.yml"
run 2 bisectctl config check "$work/huge.yml"
says "huge.yml"
printf 'name: \377\376\n' >"$work/bytes.yml"
run 2 bisectctl config check "$work/bytes.yml"
says "bytes.yml"

claim "an alias that would grow without bound is refused or stays small"
{
    echo 'a: &a [x, x, x, x, x, x, x, x, x]'
    for i in b c d e f g h; do
        echo "$i: &$i [*$(echo $i | tr b-h a-g), *$(echo $i | tr b-h a-g), *$(echo $i | tr b-h a-g), *$(echo $i | tr b-h a-g)]"
    done
} >"$work/laughs.yml"
run 2 bisectctl config check "$work/laughs.yml"

claim "the daemon refuses a faulty configuration with the place"
printf 'listen: 127.0.0.1:0\ndata_dirr: /tmp/x\n' >"$work/d.yml"
run 2 bisectd --config "$work/d.yml"
says "d.yml:2"
says "data_dir"

claim "run refuses a faulty project file with the place"
printf 'name: x\nrepositry: /x\n' >"$work/p.yml"
run 2 bisectctl run --project "$work/p.yml" --metric m --good a --bad b
says "p.yml:2"

claim "an unknown metric of a project is refused with the known ones"
echo "$good" >"$work/p.yml"
run 2 bisectctl run --project "$work/p.yml" --metric startupp --good a --bad b
says "startup"

claim "every limit is printed with its default"
run 0 bisectctl config check --defaults
says "lease"
says "16"
