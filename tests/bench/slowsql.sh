#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: slowsql.sh DIR [MIB [SEED]]

MIB (default 2048) of telemetry documents, mostly histograms, in DIR/documents; the count and total of
each slow statement by bisectctl slowsql, by jq and by a Python script, all three compared, and the
CPU time (user and system) that each took. Passes where ours takes at most a tenth of that of jq
and a quarter of that of Python, and two threads at most 1.15 times that of one, the smallest of 5.
Needs $BISECTD_BIN and $BISECTD_SUPPORT.'

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
dir=$1 mib=${2-2048} seed=${3-1}
export PATH=$BISECTD_BIN:$PATH
mkdir -p "$dir"
cd "$dir"

[ -s documents ] && [ "$(stat -c %s documents)" -ge $((mib * 1048576)) ] ||
    "$BISECTD_SUPPORT/telemetry" bulk $((mib * 1048576)) "$seed" >documents
cat documents >/dev/null # into the page cache
echo "$(stat -c %s documents) bytes in $(wc -l <documents) documents"

cat >sum.py <<'END'
import json, sys
sums = {}
for line in open(sys.argv[1], "rb"):
    payload = json.loads(line)["payload"]
    if isinstance(payload, str):
        payload = json.loads(payload)
    for thread, statements in (payload.get("slowSQL") or {}).items():
        for sql, (count, total) in (statements or {}).items():
            s = sums.setdefault(thread + " " + sql, [0, 0])
            s[0] += count
            s[1] += total
for key in sorted(sums):
    print(json.dumps([key] + sums[key], separators=(",", ":")))
END
cat >sum.jq <<'END'
reduce inputs as $d ({};
    ($d.payload | if type == "string" then fromjson else . end).slowSQL as $s
    | reduce (($s // {}) | to_entries[] | .key as $t | (.value // {}) | to_entries[] | [$t + " " + .key, .value]) as $e
        (.; .[$e[0]] |= [(.[0] // 0) + $e[1][0], (.[1] // 0) + $e[1][1]]))
| to_entries | sort_by(.key)[] | [.key] + .value
END

cpu= wall=
measure() { # OUTPUT COMMAND...: sets $cpu and $wall, in seconds
    local output=$1 TIMEFORMAT='%U %S %R'
    shift
    { time "$@" >"$output"; } 2>time.txt
    read -r cpu wall < <(awk '{print $1 + $2, $3}' time.txt)
}
least() { # A B
    awk -v a="$1" -v b="$2" 'BEGIN {print (a == "" || b < a) ? b : a}'
}

ours= two= ours_wall= two_wall=
for _ in 1 2 3 4 5; do
    measure ours.json bisectctl slowsql report --jobs 1 --json documents
    ours=$(least "$ours" "$cpu") ours_wall=$(least "$ours_wall" "$wall")
    measure two.json bisectctl slowsql report --jobs 2 --json documents
    two=$(least "$two" "$cpu") two_wall=$(least "$two_wall" "$wall")
    cmp ours.json two.json
done
measure python.txt python3 sum.py documents
python=$cpu
measure jq.txt jq -n -c -f sum.jq documents
jq=$cpu

jq -c '.rows | map([(if .thread == "main" then "mainThread " else "otherThreads " end) + .statement,
    .before.count, .before.total_ms]) | sort_by(.[0])[]' ours.json >ours.txt
jq -c . python.txt | cmp - ours.txt
cmp jq.txt ours.txt
echo "all three agree on $(wc -l <ours.txt) statements"

awk -v bytes="$(stat -c %s documents)" -v ours="$ours" -v two="$two" -v python="$python" -v jq="$jq" \
    -v wall="$ours_wall" -v two_wall="$two_wall" '
function line(name, seconds, times) { printf "%-22s %8.2f s  %7.0f MB/s%s\n", name, seconds, bytes / seconds / 1e6, times }
BEGIN {
    line("bisectctl, 1 thread", ours, "")
    line("bisectctl, 2 threads", two, sprintf("  %.2f of one; wall %.2f of one (limit of CPU 1.15)", two / ours, two_wall / wall))
    line("Python", python, sprintf("  %.1f times ours (at least 4)", python / ours))
    line("jq", jq, sprintf("  %.1f times ours (at least 10)", jq / ours))
    is_right = two <= 1.15 * ours && python >= 4 * ours && jq >= 10 * ours
    print is_right ? "passed" : "FAILED"
    exit !is_right
}'
