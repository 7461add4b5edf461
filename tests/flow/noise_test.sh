#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A few seeds of each table that tests/bench/noise.sh fills.
. "$(dirname "$0")/lib.sh"

run_limit=500
for cell in changed same correlated fifth; do
    claim "three seeds of \"$cell\""
    run 0 "$source_dir/tests/bench/noise.sh" $cell "$work/cells" 1..3
    cat "$out"
done
