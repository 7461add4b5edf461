#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
usage='usage: tracing.sh [OTHERS [SYNCS [RUNS]]]

What counting fsync costs a program that makes OTHERS (default 200,000) other system calls and SYNCS
(50) of fsync: traced as metric kind syscalls does it, against untraced, in turn, RUNS (5) times each,
best against best, by CPU and by the clock. The other calls are those of a program that handles files
(getpid, lseek, fstat, pread of a page, in turn), where 1.5 times is the limit; and below it getpid
alone, which does nothing, so that what the filter in the kernel adds to each call shows most. Each
traced run has to see each fsync. Needs $BISECTD_SUPPORT and strace.'

case ${1-} in -*) echo "$usage" >&2; exit 2 ;; esac
others=${1-200000} syncs=${2-50} runs=${3-5}
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$BISECTD_SUPPORT:$PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/bisectd-tracing.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The very options, out of the source.
options=$(sed -n 's/.*" \(-f --seccomp-bpf .*\)%s -o ".*/\1fsync,fdatasync -o/p' "$here/../../workers/measure/syscalls.c")
[ -n "$options" ] || { echo "tracing: the options are not where they were" >&2; exit 1; }
read -r -a strace <<<"strace $options"

# Prints a row; false if it is over the limit, or a fsync was not seen.
row() { # NAME ARGUMENT...
    local i seen
    rm -f "$work/plain" "$work/traced"
    for ((i = 0; i < runs; i++)); do
        cost "$work/plain" /bin/sh -ec "callmany $others $syncs $work/file ${*:2}"
        cost "$work/traced" "${strace[@]}" "$work/log" /bin/sh -ec "callmany $others $syncs $work/file ${*:2}"
    done
    seen=$(grep -c '^[0-9]* *fsync(' "$work/log")
    awk -v name="$1" -v seen="$seen" -v syncs="$syncs" '
    function best(old, new) { return !old || new < old ? new : old }
    FILENAME ~ /plain$/ { wall = best(wall, $1); cpu = best(cpu, $2) }
    FILENAME ~ /traced$/ { traced_wall = best(traced_wall, $1); traced_cpu = best(traced_cpu, $2) }
    END {
        printf "%-7s wall %.1f -> %.1f ms, %.2f times; CPU %.1f -> %.1f ms, %.2f times; %d of %d fsync seen\n",
            name, wall / 1e6, traced_wall / 1e6, traced_wall / wall, cpu / 1e6, traced_cpu / 1e6,
            traced_cpu / cpu, seen, syncs
        exit !(seen == syncs && traced_wall <= 1.5 * wall && traced_cpu <= 1.5 * cpu)
    }' "$work/plain" "$work/traced"
}

status=0
row files mixed || status=1
row getpid || true
[ $status -eq 0 ] || { echo "tracing: over 1.5 times, or a fsync was missed" >&2; exit 1; }
