/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A made-up log of `strace -f -ttt -T -y`, as large as wanted, whose sums are known.
 *
 *     trace_log MIB SEED SHARE
 *
 * Processes come and go; calls are on ever new files, are interrupted, come in two parts. One call
 * in SHARE is a sync of /p/places.sqlite, of its journal or of its WAL. The sums of those go to
 * stderr: "CALL PATH COUNT NANOSECONDS".
 */
#include "base/hash.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROCESSES = 64, SYNCED = 3 };

static const char *const synced[SYNCED] = {"/p/places.sqlite", "/p/places.sqlite-journal",
                                           "/p/places.sqlite-wal"};

struct world {
    uint64_t draws, seed;
    uint64_t bytes;
    uint64_t now_us;
    uint32_t pids[PROCESSES], next_pid;
    uint64_t count[2][SYNCED], ns[2][SYNCED]; /* fsync, fdatasync */
};

static uint64_t draw(struct world *w, uint64_t below)
{
    return mix64(w->seed + w->draws++) % below;
}

#define PUT(w, ...) ((w)->bytes += (uint64_t)printf(__VA_ARGS__))

static void put_front(struct world *w, uint32_t pid)
{
    w->now_us += 1 + draw(w, 50);
    PUT(w, "%-5" PRIu32 " %" PRIu64 ".%06" PRIu64 " ", pid, w->now_us / 1000000,
        w->now_us % 1000000);
}

static void put_sync(struct world *w, uint32_t pid)
{
    const size_t call = draw(w, 2), file = draw(w, SYNCED);
    const char *name = call ? "fdatasync" : "fsync";
    const uint64_t us = 100 + draw(w, 5000);

    put_front(w, pid);
    PUT(w, "%s(%" PRIu64 "<%s>", name, 3 + draw(w, 100), synced[file]);
    if (draw(w, 3) == 0) {
        PUT(w, " <unfinished ...>\n");
        put_front(w, w->pids[(pid + 1) % PROCESSES]);
        PUT(w, "getpid() = 1 <0.000001>\n");
        put_front(w, pid);
        PUT(w, "<... %s resumed>", name);
    }
    PUT(w, ") = 0 <%" PRIu64 ".%06" PRIu64 ">\n", us / 1000000, us % 1000000);
    w->count[call][file]++;
    w->ns[call][file] += us * 1000;
}

static void put_call(struct world *w, size_t process)
{
    const uint32_t pid = w->pids[process];

    put_front(w, pid);
    switch (draw(w, 8)) {
    case 0:
        PUT(w,
            "openat(AT_FDCWD</w>, \"cache/%016" PRIx64 "\", O_RDWR|O_CREAT, 0600) = 9</w/cache/x> "
            "<0.000031>\n",
            mix64(w->draws));
        break;
    case 1:
        PUT(w, "fsync(9</w/cache/entry-%c%c%c%c>) = 0 <0.000481>\n", (int)('a' + draw(w, 26)),
            (int)('a' + draw(w, 26)), (int)('a' + draw(w, 26)), (int)('a' + draw(w, 26)));
        break;
    case 2:
        PUT(w, "write(4</p/log (1).txt>, \"fsync(3</p/places.sqlite>) = 0 <0.1>\\n\"..., 64) = 64 "
               "<0.000011>\n");
        break;
    case 3:
        PUT(w,
            "read(5<pipe:[%" PRIu64 "]>, 0x7ffc1f325e6c, 4) = ? ERESTARTSYS (To be restarted if "
            "SA_RESTART is set) <0.000007>\n",
            draw(w, 100000));
        break;
    case 4:
        PUT(w, "+++ exited with 0 +++\n");
        w->pids[process] = w->next_pid++ % 4000000 + 1;
        break;
    default:
        PUT(w, "futex(0x7f15c1a37a10, FUTEX_WAIT_PRIVATE, 2, NULL) = -1 EAGAIN (Resource "
               "temporarily unavailable) <0.000004>\n");
        break;
    }
}

int main(int argc, char **argv)
{
    struct world w = {.now_us = UINT64_C(1796023600000000), .next_pid = 100};

    if (argc != 4) {
        fprintf(stderr, "usage: trace_log MIB SEED SHARE\n");
        return 2;
    }
    const uint64_t most = strtoull(argv[1], NULL, 10) * 1024 * 1024;
    w.seed = mix64(strtoull(argv[2], NULL, 10));
    const uint64_t share = strtoull(argv[3], NULL, 10);
    for (size_t i = 0; i < PROCESSES; i++)
        w.pids[i] = w.next_pid++;
    while (w.bytes < most) {
        const size_t process = draw(&w, PROCESSES);
        if (share && draw(&w, share) == 0)
            put_sync(&w, w.pids[process]);
        else
            put_call(&w, process);
    }
    for (size_t call = 0; call < 2; call++)
        for (size_t file = 0; file < SYNCED; file++)
            fprintf(stderr, "%s %s %" PRIu64 " %" PRIu64 "\n", call ? "fdatasync" : "fsync",
                    synced[file], w.count[call][file], w.ns[call][file]);
    return fflush(stdout) == 0 ? 0 : 1;
}
