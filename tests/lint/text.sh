#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What every source has in common: its licence in the first line, nothing left to do, no goto.
#
#     text.sh SOURCE_DIR BUILD_DIR
set -eu
cd "$1"

n=0 failed=0
complain() {
    echo "text: $1"
    failed=1
}
while read -r file; do
    n=$((n + 1))
    read -r first < "$file" || true
    [ "$first" = '/* SPDX-License-Identifier: Apache-2.0 */' ] ||
        complain "$file: the first line is not /* SPDX-License-Identifier: Apache-2.0 */"
    found=$(grep -nE '\b(TODO|FIXME|XXX)\b|^[[:space:]]*goto ' "$file") && complain "$file:$found"
done < <(find bisectd workers config tests -name '*.[ch]' | LC_ALL=C sort)
while read -r file; do
    n=$((n + 1))
    head -2 "$file" | grep -q '^# SPDX-License-Identifier: Apache-2.0$' ||
        complain "$file: no SPDX-License-Identifier in the first two lines"
done < <(find tests deploy .ci -type f \( -name '*.sh' -o -name CMakeLists.txt -o -perm -u+x \) | LC_ALL=C sort)
echo "text: $n files"
exit $failed
