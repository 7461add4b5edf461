#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone: whoever includes it needs nothing before it.
#
#     headers.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1 build=$2
cd "$source"

compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
modules=$(awk '!/^#/ && NF > 4 && $4 != "-" {gsub(",", "\n", $4); print $4}' bisectd/layers.txt | sort -u)
# shellcheck disable=SC2046,SC2086
flags=$(pkg-config --cflags $modules check)

n=0 failed=0
while read -r header; do
    n=$((n + 1))
    # Included twice, so that its guard is checked too.
    # shellcheck disable=SC2086
    if ! printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$compiler" -x c -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only \
            -I"$source/bisectd" -I"$source" -I"$source/tests" $flags -; then
        echo "headers: $header does not compile alone"
        failed=1
    fi
done < <(find bisectd workers config tests -name '*.h' | LC_ALL=C sort)
echo "headers: $n compiled alone"
exit $failed
