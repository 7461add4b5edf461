#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A start-up that got slower by syncing its database, and why: the story of a library update.
needs_disk=1
. "$(dirname "$0")/lib.sh"

# $work/NAME: a program that fills places.sqlite at start-up, in eight commits. The fifth, an update
# of its storage library, commits each row by itself, which syncs journal, folder and database COMMITS
# (40) times instead of once; and spins for SPIN times as long as all syncs took, without what tracing
# adds. Its hash is $answer.
story_repo() { # NAME SPIN [COMMITS]
    local repo=$work/$1 i
    git init -q "$repo"
    cat >"$repo/start.c" <<'C'
#include "storage.h"
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long spin(long ns)
{
    long until = now_ns() + ns, n = 0;
    while (now_ns() < until)
        n++;
    return n;
}

/* What a call costs that does nothing: much where it is traced. */
static long idle_ns(void)
{
    long begin_ns = now_ns();
    for (int i = 0; i < 20; i++)
        fsync(-1);
    return (now_ns() - begin_ns) / 20;
}

int main(int argc, char **argv)
{
    static char page[4096];
    if (argc < 2 || chdir(argv[1]))
        return 1;
    int folder = open(".", O_RDONLY | O_DIRECTORY);
    int database = open("places.sqlite", O_RDWR | O_CREAT, 0644);
    int journal = open("places.sqlite-journal", O_RDWR | O_CREAT, 0644);
    long synced_ns = 0;
    spin(10000000);
    for (int row = 0; row < COMMITS; row++) {
        int order[] = {journal, folder, database};
        for (int i = 0; i < 3; i++) {
            if (order[i] != folder && pwrite(order[i], page, sizeof page, 0) < 0)
                return 1;
            long begin_ns = now_ns();
            if (fsync(order[i]))
                return 1;
            synced_ns += now_ns() - begin_ns;
        }
    }
    if (SPIN > 0)
        spin((long)(SPIN * (synced_ns - 3 * COMMITS * idle_ns())));
    return 0;
}
C
    for i in 1 2 3 4 5 6 7 8; do
        if [ "$i" -lt 5 ]; then
            printf '#define COMMITS 1\n#define SPIN 0\n' >"$repo/storage.h"
        else
            printf '#define COMMITS %s\n#define SPIN %s\n' "${3-40}" "$2" >"$repo/storage.h"
        fi
        printf '/* edition %d */\n' "$i" >>"$repo/storage.h"
        printf 'const char edition[] = "%d";\n' "$i" >"$repo/edition.c"
        git -C "$repo" add -A
        git -C "$repo" commit -qm "Edition $i"
    done
    git -C "$repo" tag good HEAD~7
    git -C "$repo" tag bad
    answer=$(git -C "$repo" rev-parse bad~3)
}

story() { # STATUS NAME ARGUMENT...
    # Syncs scatter more than all that a program does without them: smaller steps are no matter.
    run "$1" bisectctl run --repo "$work/$2" --good good --bad bad --store "$work/$2.store" --min-effect 20 \
        --build 'cc -O1 -o start start.c edition.c' --artifact start \
        --measure './start $BISECTD_OUT' --metric wall "${@:3}"
}

claim "one command names the culprit, and says unasked what changed"
story_repo places 0
story 0 places --seed 1
says "culprit: ${answer:0:10} Edition 5"
says 'system calls explain [0-9]+ %'
says 'fsync +1 . 40 .* places\.sqlite|fsync .*\$BISECTD_OUT/places\.sqlite'
run 0 bisectctl list --store "$work/places.store" --json
id=$(field '.items[0].id')

claim "syncs of the database's files come first, by what they are"
run 0 bisectctl explain "$id" --store "$work/places.store" --json
cp "$out" "$work/explanation"
json '[.differences[:3][] | .call] == ["fsync", "fsync", "fsync"]'
json '[.differences[:3][] | .group] | sort == ["database", "directory", "journal"]'
json '[.differences[:3][] | .path] | sort ==
      ["$BISECTD_OUT", "$BISECTD_OUT/places.sqlite", "$BISECTD_OUT/places.sqlite-journal"]'

claim "their number is what a strace by hand counts"
for side in "$answer~1" "$answer"; do
    git -C "$work/places" archive "$side" | tar -x -C "$work/home"
    (cd "$work/home" && cc -O1 -o start start.c edition.c)
    mkdir "$work/by-hand"
    strace -f -c -w -e trace=fsync,fdatasync -o "$work/counts" "$work/home/start" "$work/by-hand"
    rm -r "$work/by-hand"
    awk '$NF == "fsync" || $NF == "fdatasync" { n += $4 } END { print n }' "$work/counts"
done >"$work/by-hand.txt"
want=$(jq -sc . "$work/by-hand.txt")
[ "$want" = '[3,120]' ] || fail "by hand it is $want"
json '[.differences[] | select(.call == "fsync" or .call == "fdatasync")] |
      [([.[].count[0]] | add), ([.[].count[1]] | add)] == $want' --argjson want "$want"

claim "they explain nearly all of the change, and nothing passes 100 %"
json '.explained >= 0.8 and .explained <= 1'
json '[.differences[:3][].share] | add >= 0.75'
json '.culprit == $hash and .metric_delta > 0' --arg hash "$answer"
json '[.resources[].name] | index("user CPU") != null and index("written to disks") != null'

claim "the same is at hand over HTTP, and the verdict replays without it"
run 0 bisectctl replay "$id" --store "$work/places.store" --json
json '.matches'
wait_for_store "$work/places.store"
serve --data-dir "$work/places.store" --listen none --workers 0
api "$work/places.store" GET "/api/v1/bisections/$id/explain"
[ "$http" = 200 ] || fail "status $http"
diff <(jq -S . "$out") <(jq -S . "$work/explanation") || fail "not the same"
api "$work/places.store" GET /api/v1/bisections/nosuch/explain
[ "$http" = 404 ] || fail "status $http"
api "$work/places.store" GET "/api/v1/bisections/$id/samples?limit=1000"
n_samples=$(jq '.items | length' "$out")
stop "$daemon"

claim "an inspection leaves no samples behind: the next run reuses what was measured untraced"
story 0 places --seed 2 --no-explain --json
json '.cost.runs_reused <= $n' --argjson n "$n_samples"
second=$(field .id)

claim "--no-explain leaves it at the culprit"
is_culprit "$answer"
run 2 bisectctl explain "$second" --store "$work/places.store"
says 'has no explanation'

claim "of a metric that is a number of calls, these calls are what is explained"
story 0 places --metric 'syscalls:calls=fsync,path=*places.sqlite*' --seed 1 --json
is_culprit "$answer"
json '.culprits[0].delta == 78'
run 0 bisectctl explain "$(field .id)" --store "$work/places.store" --json
json '.share_of == "count" and .explained == 1'
json '[.differences[] | select(.share != null) | .path] | sort ==
      ["$BISECTD_OUT/places.sqlite", "$BISECTD_OUT/places.sqlite-journal"]'

claim "an unrelated slow-down of half the size takes its third"
story_repo spins 0.5 120
story 0 spins --seed 1 --fresh --json
is_culprit "$answer"
run 0 bisectctl explain "$(field .id)" --store "$work/spins.store" --json
json '.explained > 0.57 and .explained < 0.77' # 2/3
# What a run spends on the processor the kernel knows to the nanosecond, and splits into user and
# system time by the clock ticks that met it: of runs of a few ticks, only the sum is sure. It grew by
# what was spun, less what others had of the processor meanwhile; syncs wait for most of their time.
json '[.resources[:2][].name] == ["user CPU", "system CPU"]'
json '[.resources[:2][].share] | add | . > 0.05 and . < 1'

if perf record -q -e cpu-clock:u -o "$work/perf.data" true 2>"$err"; then
    claim "the functions that it spends it in are named"
    json '.symbols | length > 0 and .[0].seconds[1] > .[0].seconds[0]'
fi

claim "a machine without strace says so, and the culprit stands"
mkdir "$work/bin"
ln -s /usr/bin/* "$work/bin/"
rm "$work/bin/strace"
full_path=$PATH
PATH=$BISECTD_BIN:$work/bin
status=0
"$BISECTD_BIN/bisectctl" run --repo "$work/places" --good good --bad bad --store "$work/bare.store" \
    --build 'cc -O1 -o start start.c edition.c' --artifact start \
    --measure './start $BISECTD_OUT' --metric wall --seed 3 >"$out" 2>"$err" </dev/null || status=$?
PATH=$full_path
[ $status -eq 0 ] || fail "exit status $status"
says 'explanation: none, the worker has no strace'
