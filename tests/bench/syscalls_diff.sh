#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: syscalls_diff.sh DIR [MIB]

`bisectctl syscalls diff` of a made-up log of MIB (default 5120) against one of 64 MiB, streamed, with
and without --path: peak memory has to stay below 64 MiB, and every sum has to be the one that the
log was made with. Needs $BISECTD_BIN and $BISECTD_SUPPORT.'

[ $# -ge 1 ] || { echo "$usage" >&2; exit 2; }
dir=$1 mib=${2-5120}
export PATH=$BISECTD_SUPPORT:$BISECTD_BIN:$PATH
rm -rf "$dir"
mkdir -p "$dir"

compare() { # NAME ARGUMENT...
    local name=$1
    shift
    cost "$dir/$name.cost" bisectctl syscalls diff "$@" --json \
        <(trace_log 64 1 2000 2>"$dir/before") <(trace_log "$mib" 2 200 2>"$dir/after") >"$dir/$name.json"
    awk -v name="$name" -v mib="$mib" '{
        printf "%s: %d MiB in %.1f s, %.1f s of CPU (%.0f MiB/s), peak %.1f MiB\n",
            name, mib + 64, $1 / 1e9, $2 / 1e9, (mib + 64) / ($2 / 1e9), $3 / 1024
        exit $3 > 64 * 1024
    }' "$dir/$name.cost"
}

compare places --path '/p/places.sqlite*' --call fsync,fdatasync
compare all --limit 10000

# What the logs were made with: of each call and path the counts, and the seconds.
sums='[.differences[] | select(.path | startswith("/p/places.sqlite")) |
       "\(.call) \(.path) \(.count[0]) \(.count[1]) \(.seconds[1] * 1e6 | round)"] | sort | .[]'
join -j 1 <(awk '{print $1 "|" $2, $3}' "$dir/before" | sort) <(awk '{print $1 "|" $2, $3, $4 / 1000}' OFMT=%.0f CONVFMT=%.0f "$dir/after" | sort) |
    tr '|' ' ' >"$dir/want"
for name in places all; do
    jq -r "$sums" "$dir/$name.json" >"$dir/$name.sums"
    diff "$dir/want" "$dir/$name.sums" || { echo "$name: the sums are wrong" >&2; exit 1; }
done
jq -e '.after.rejects == {} and (.differences | length) == 6' "$dir/places.json" >/dev/null
echo "all sums are right"
