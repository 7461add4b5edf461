#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Folders that layers.txt calls pure do no I/O, read no clock and hold no globals: what their
# objects refer to is within an allow-list, and none of their own symbols is writable.
#
#     pure.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1 build=$2

if ! grep -q '^BISECTD_SANITIZE:[A-Z]*=$' "$build/CMakeCache.txt" ||
    grep -q '^BISECTD_FUZZ:[A-Z]*=ON$' "$build/CMakeCache.txt"; then
    echo "pure: skipped, an instrumented build refers to its sanitizer"
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# libc and libm without I/O, clocks, locale changes or hidden state (so lgamma_r, strtok_r).
cat > "$work/allowed" <<'END'
_GLOBAL_OFFSET_TABLE_ __assert_fail __stack_chk_fail __errno_location abort
__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc tolower toupper
bcmp memchr memcmp memcpy memmem memmove memrchr memset stpcpy strcasecmp strchr strchrnul strcmp
strcspn strlen strncasecmp strncmp strnlen strpbrk strrchr strspn strstr strtok_r
strtod strtol strtoll strtoul strtoull __isoc99_sscanf snprintf vsnprintf
qsort qsort_r bsearch fnmatch regcomp regexec regerror regfree gmtime_r
__popcountdi2 __muldc3 __mulodi4
acos asin atan atan2 cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs floor fma fmax fmin
fmod frexp hypot ilogb ldexp lgamma_r llround llrint log log10 log1p log2 logb lrint lround modf
nearbyint nextafter pow remainder rint round scalbln scalbn sin sincos sinh sqrt tan tanh tgamma
trunc
END
tr -s ' \n' '\n\n' < "$work/allowed" > "$work/names"
sed 's/.*/__&_chk/' "$work/names" >> "$work/names.chk" # as _FORTIFY_SOURCE calls them

# What base offers without touching the outside.
defined() {
    nm -g --defined-only "$1" 2> "$work/errors" | awk 'NF == 3 {print $3}'
}
defined "$build/libbase.a" |
    grep -vE '^(file_|fd_|subprocess_|random_|log_|path_real$|path_of_program$|stream_|zstd_.*_fd$|mono_now$|utc_now$)' \
        > "$work/names.base" || true

archives=() missing=()
while read -r folder kind _; do
    [ "$kind" = pure ] || continue
    target=${folder#bisectd/}
    archive=$build/lib${target//\//_}.a
    ls "$source/$folder"/*.c > "$work/sources" 2> "$work/errors" || continue # nothing in it yet
    if [ -e "$archive" ]; then
        archives+=("$archive")
        defined "$archive" >> "$work/names.pure"
    else
        missing+=("$archive")
    fi
done < <(grep -v '^#' "$source/bisectd/layers.txt")
if [ ${#missing[@]} -gt 0 ]; then
    echo "pure: not built: ${missing[*]}"
    exit 1
fi
if [ ${#archives[@]} -eq 0 ]; then
    echo "pure: layers.txt names no pure folder with sources"
    exit 1
fi
sort -u "$work"/names* > "$work/known"

failed=0
for archive in "${archives[@]}"; do
    # "file.c.o:   U symbol" for each symbol that is not known.
    if nm -A -u "$archive" | awk '{print $NF, $1}' | sort -u | join -v 1 - "$work/known" |
        awk '{sub(/^.*lib/, "lib", $2); print "pure: " $2 " refers to " $1 ", which is not on the allow-list"; n++}
             END {exit n == 0}'; then
        failed=1
    fi
    # Constant tables of pointers lie in .data.rel.ro: written by the loader, never by us.
    if objdump -t "$archive" | awk '
        /file format/ {member = $1}
        $0 ~ / (\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $0 !~ / \.data\.rel\.ro/ && $0 !~ / d / {
            print "pure: " member " holds the global " $NF; n++
        }
        END {exit n == 0}'; then
        failed=1
    fi
done
[ $failed -eq 0 ] && echo "pure: ${#archives[@]} folders, all pure"
exit $failed
