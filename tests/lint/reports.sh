#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every row of tests/flow/reports.txt names a test that exists and makes the claim it is said to make.
set -euo pipefail
cd "$1/tests"

status=0
n_rows=0
while IFS='|' read -r seen what test claim; do
    case $seen in '#'* | '') continue ;; esac
    n_rows=$((n_rows + 1))
    read -r test <<<"${test-}"
    read -r claim <<<"${claim-}"
    if [ -z "$test" ] || [ -z "$claim" ]; then
        echo "reports.txt: no test for: $seen|$what" >&2
        status=1
    elif [ ! -f "$test" ] || ! grep -qF "claim \"$claim\"" "$test"; then
        echo "reports.txt: $test makes no claim \"$claim\"" >&2
        status=1
    fi
done <flow/reports.txt

# The reports that have to be there; a row that goes away is a fault too.
while read -r report; do
    grep -qF "$report" flow/reports.txt || { echo "reports.txt: no row for $report" >&2; status=1; }
done <<'END'
catapult #2065
catapult #4383
catapult #3895, #4483
catapult #3936
syzkaller #1365, magit #5237
syzkaller #1271, #1051
syzkaller #3855
scala3 #26674
whateverable #21
darktable #21881
pytorch/benchmark #1808
perl5 #20657
magit #3604
mozregression #1030
cargo-bisect-rustc #84
rust #108327, tarantool #2456
prosper #2040
kernelci-pipeline #711
own trial: threshold
own trial: leftovers
END
echo "$n_rows rows"
exit $status
