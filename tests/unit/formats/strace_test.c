/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/strace.h"
#include "unit/run.h"
#include <stdio.h>
#include <string.h>

/* What was told, a line an event: "pid name(arg|arg) value error file start ns". */

static void put(struct buf *out, struct strace_text t)
{
    if (t.s)
        buf_add(out, t.s, t.n);
    else
        buf_addc(out, '-');
}

static void tell_call(void *context, const struct strace_call *c)
{
    static const char *const ends[] = {"", "restarted", "never"};
    struct buf *out = context;

    buf_printf(out, "%lld ", (long long)c->pid);
    put(out, c->name);
    buf_addc(out, '(');
    for (size_t i = 0; i < c->n_args && i < STRACE_ARGS_MOST; i++) {
        buf_adds(out, i ? "|" : "");
        put(out, c->args[i]);
    }
    buf_adds(out, c->lacks_args ? "lost)" : ")");
    if (c->end == STRACE_RETURNED)
        buf_printf(out, " %lld", (long long)c->value);
    else
        buf_printf(out, " %s", ends[c->end]);
    if (c->error.s) {
        buf_addc(out, ' ');
        put(out, c->error);
    }
    if (c->file.s) {
        buf_adds(out, " file ");
        put(out, c->file);
    }
    if (c->start_ns >= 0)
        buf_printf(out, " at %lld", (long long)c->start_ns);
    if (c->ns >= 0)
        buf_printf(out, " took %lld", (long long)c->ns);
    buf_addc(out, '\n');
}

static void tell_gone(void *context, int64_t pid)
{
    buf_printf(context, "%lld gone\n", (long long)pid);
}

static void tell_sum(void *context, const struct strace_sum *s)
{
    buf_adds(context, "sum ");
    put(context, s->name);
    buf_printf(context, " %llu %llu %lld\n", (unsigned long long)s->calls,
               (unsigned long long)s->errors, (long long)s->ns);
}

/** Rejects that are not nothing: " unknown=2". */
static void show_rejects(const struct strace_tally *t, struct buf *out)
{
    static const char *const names[STRACE_REJECT_COUNT] = {
        "unknown", "cut", "long", "no-beginning", "no-end", "no-room", "odd-time"};

    for (int i = 0; i < STRACE_REJECT_COUNT; i++)
        if (t->rejects[i])
            buf_printf(out, "%s=%llu\n", names[i], (unsigned long long)t->rejects[i]);
}

static void read_in_pieces(const char *text, size_t piece, int64_t pid, struct buf *out,
                           struct strace_tally *tally)
{
    AUTO(strace_free)
    struct strace *s = strace_new(&(struct strace_events){
        .call = tell_call, .gone = tell_gone, .sum = tell_sum, .context = out});
    size_t n = strlen(text);

    strace_begin(s, pid);
    for (size_t at = 0; at < n; at += piece) {
        size_t now = n - at < piece ? n - at : piece;
        char *exact = mem_resize(NULL, now, 1); /* the sanitizer sees a byte read past it */
        memcpy(exact, text + at, now);
        strace_feed(s, exact, now);
        mem_free(exact);
    }
    strace_end(s);
    strace_finish(s);
    *tally = *strace_tally(s);
    show_rejects(tally, out);
}

/* clang-format off */
static const struct {
    const char *name;
    const char *log;
    const char *want;
} rows[] = {
    /* Prefixes */
    {"a plain call", "fsync(3) = 0\n", "0 fsync(3) 0\n"},
    {"aligned results", "close(3)                                = 0\n", "0 close(3) 0\n"},
    {"a pid, left-aligned in five", "1905  fsync(3) = 0\n23685 fsync(3) = 0\n", "1905 fsync(3) 0\n23685 fsync(3) 0\n"},
    {"a pid of seven digits", "4194303 fsync(3) = 0\n", "4194303 fsync(3) 0\n"},
    {"a pid with its name", "1905<a b c> fsync(3) = 0\n", "1905 fsync(3) 0\n"},
    {"time of day", "13:14:15 fsync(3) = 0\n", "0 fsync(3) 0 at 47655000000000\n"},
    {"time of day, microseconds", "13:14:15.123456 fsync(3) = 0\n", "0 fsync(3) 0 at 47655123456000\n"},
    {"since 1970, nanoseconds", "1796023600.180340001 fsync(3) = 0\n", "0 fsync(3) 0 at 1796023600180340001\n"},
    {"since 1970, seconds, are no pid", "1796023600 fsync(3) = 0\n", "0 fsync(3) 0 at 1796023600000000000\n"},
    {"a pid and a time", "1905  1796023600.180340 fsync(3) = 0\n", "1905 fsync(3) 0 at 1796023600180340000\n"},
    {"a pid and seconds", "1905  1796023600 fsync(3) = 0\n", "1905 fsync(3) 0 at 1796023600000000000\n"},
    {"-r is the gap since any line", "     0.000037 fsync(3) = 0\n", "0 fsync(3) 0\n"},
    {"-r with a pid", "327        0.000218 brk(NULL)           = 0x55b463041000\n", "327 brk(NULL) 94233243684864\n"},
    {"-r with -t", "13:14:15 (+     0.000045) fsync(3) = 0\n", "0 fsync(3) 0 at 47655000000000\n"},
    {"-n and -i", "1796055826.828927 [ 257] [00007f777d9a6b1d] fsync(3) = 0 <0.000021>\n", "0 fsync(3) 0 at 1796055826828927000 took 21000\n"},
    {"an address that is not known", "[ 231] [????????????????] +++ exited with 0 +++\n", "0 gone\n"},
    {"SELinux", "1905  [unconfined_t] 13:14:15 fsync(3) = 0\n", "1905 fsync(3) 0 at 47655000000000\n"},
    {"carriage returns", "fsync(3) = 0\r\n", "0 fsync(3) 0\n"},
    {"colours", "\033[33m1905\033[0m  \033[1mfsync\033[0m(3) = \033[32m0\033[m\n", "1905 fsync(3) 0\n"},

    /* Results */
    {"a time below nothing", "fsync(3) = 0 <-5.0>\n", "0 fsync(3) 0\nodd-time=1\n"},
    {"a time that is no number", "fsync(3) = 0 <nan>\n", "0 fsync(3) 0\nodd-time=1\n"},
    {"a time with an exponent", "fsync(3) = 0 <1e5>\nfsync(3) = 0 <1.5E-05>\n", "0 fsync(3) 0\n0 fsync(3) 0\nodd-time=2\n"},
    {"a name that begins like one", "fsync(3) = 0 <1e5x>\n", "0 fsync(3) 0\n"},
    {"a time with two points", "fsync(3) = 0 <1.2.3>\n", "0 fsync(3) 0\nodd-time=1\n"},
    {"a time past what fits", "fsync(3) = 0 <99999999999999999999.5>\n", "0 fsync(3) 0\nodd-time=1\n"},
    {"the longest time that fits", "fsync(3) = 0 <9000000000.000000001>\n", "0 fsync(3) 0 took 9000000000000000001\n"},
    {"an error", "open(\"a\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>\n", "0 open(\"a\"|O_RDONLY) -1 ENOENT took 10000\n"},
    {"an error with brackets of its own", "ioctl(1, TCGETS, 0x7f) = -1 ENOTTY (Inappropriate ioctl (for) device)\n", "0 ioctl(1|TCGETS|0x7f) -1 ENOTTY\n"},
    {"an error without a name", "foo(1) = -1 (errno 524)\n", "0 foo(1) -1 errno\n"},
    {"minus one that is none", "foo(1) = -1\n", "0 foo(1) -1\n"},
    {"an address", "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7ff761935000\n", "0 mmap(NULL|8192|PROT_READ|MAP_PRIVATE|-1|0) 140700470693888\n"},
    {"octal", "umask(022) = 0777\n", "0 umask(022) 511\n"},
    {"notes behind the result", "poll([{fd=3, events=POLLIN}], 1, 0) = 0 (Timeout) <0.000003>\n", "0 poll([{fd=3, events=POLLIN}]|1|0) 0 took 3000\n"},
    {"sets behind the result", "select(4, [3 4<pipe:[1]>], NULL, NULL, NULL) = 1 (in [3])\n", "0 select(4|[3 4<pipe:[1]>]|NULL|NULL|NULL) 1\n"},
    {"injected and delayed", "fsync(3) = -1 EIO (Input/output error) (INJECTED) (DELAYED) <0.1>\n", "0 fsync(3) -1 EIO took 100000000\n"},
    {"exit_group without a time", "exit_group(0)                           = ?\n", "0 exit_group(0) never\n"},
    {"a call that never returns", "1 nanosleep({tv_sec=1, tv_nsec=0},  <unfinished ...>\n1 <... nanosleep resumed> <unfinished ...>) = ?\n",
     "1 nanosleep({tv_sec=1, tv_nsec=0}|<unfinished ...>) never\n"},
    {"detached", "read(3, <detached ...>\n", "0 read(3) never\n"},
    {"the four restarts", "r() = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\nr() = ? ERESTARTNOINTR (To be restarted)\n"
     "r() = ? ERESTARTNOHAND (To be restarted if no handler)\nr() = ? ERESTART_RESTARTBLOCK (Interrupted by signal)\n",
     "0 r() restarted\n0 r() restarted\n0 r() restarted\n0 r() restarted\n"},
    {"resuming a restart is no resumed line", "restart_syscall(<... resuming interrupted poll ...>) = 0 <0.5>\n", "0 restart_syscall(<... resuming interrupted poll ...>) 0 took 500000000\n"},
    {"a call without a name", "syscall_0x270f(0x1, 0x2) = -1 ENOSYS (Function not implemented)\n", "0 syscall_0x270f(0x1|0x2) -1 ENOSYS\n"},
    {"x32", "read#64(3) = 0\n", "0 read#64(3) 0\n"},

    /* Unfinished and resumed */
    {"two parts with a time each", "1906  1796023600.181000 fdatasync(4</p/places.sqlite> <unfinished ...>\n1906  1796023600.183250 <... fdatasync resumed>) = 0 <0.002250>\n",
     "1906 fdatasync(4</p/places.sqlite>) 0 at 1796023600181000000 took 2250000\n"},
    {"an optional space", "1906  fsync(4 <unfinished ...>\n1906  <... fsync resumed> ) = 0\n", "1906 fsync(4) 0\n"},
    {"in the middle of arguments", "1 read(3,  <unfinished ...>\n1 <... read resumed>\"done\", 4) = 4\n", "1 read(3|\"done\"|4) 4\n"},
    {"brackets in the rest", "1 wait4(-1,  <unfinished ...>\n1 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 22770\n",
     "1 wait4(-1|[{WIFEXITED(s) && WEXITSTATUS(s) == 0}]|0|NULL) 22770\n"},
    {"clone3's arrow", "1 clone3({flags=CLONE_VM|CLONE_FILES, stack=0x7f} <unfinished ...>\n1 <... clone3 resumed> => {parent_tid=[0]}, 88) = 4711\n",
     "1 clone3({flags=CLONE_VM|CLONE_FILES, stack=0x7f} => {parent_tid=[0]}|88) 4711\n"},
    {"others in between", "1 fsync(3 <unfinished ...>\n2 fsync(4 <unfinished ...>\n1 <... fsync resumed>) = 0\n2 <... fsync resumed>) = -1 EIO (x)\n",
     "1 fsync(3) 0\n2 fsync(4) -1 EIO\n"},
    {"exec by a thread goes on under the leader's number", "11 execve(\"/x\", [\"x\"], 0x7f <pid changed to 10 ...>\n10 +++ superseded by execve in pid 11 +++\n10 <... execve resumed>) = 0\n",
     "10 execve(\"/x\"|[\"x\"]|0x7f) 0\n"},
    {"no beginning", "1 <... fsync resumed>) = 0 <0.5>\n", "1 fsync(lost) 0 took 500000000\nno-beginning=1\n"},
    {"no beginning, with arguments", "1 <... read resumed>\"x)\", 4) = 4\n", "1 read(lost) 4\nno-beginning=1\n"},
    {"no end", "1 fsync(3 <unfinished ...>\n", "no-end=1\n"},
    {"another call before the end", "1 fsync(3 <unfinished ...>\n1 fsync(4 <unfinished ...>\n1 <... fsync resumed>) = 0\n", "1 fsync(4) 0\nno-end=1\n"},
    {"another name resumed", "1 fsync(3 <unfinished ...>\n1 <... read resumed>) = 0\n", "1 read(lost) 0\nno-beginning=1\nno-end=1\n"},
    {"ended by the process's end", "1 read(3,  <unfinished ...>\n1 +++ killed by SIGKILL +++\n", "1 gone\n"},
    {"a number used again", "1 read(3,  <unfinished ...>\n1 +++ exited with 0 +++\n1 <... read resumed>) = 0\n", "1 gone\n1 read(lost) 0\nno-beginning=1\n"},
    {"what -z breaks", "1958  fsync(5 <unfinished ...>\n)      = 0 <0.000181>\n1958  fsync(6) = 0\n", "1958 fsync(6) 0\nunknown=1\nno-end=1\n"},

    /* Strings, files, brackets */
    {"file names may hold anything", "write(3</p/a b (1).db>, \"= 0 <0.1>\\\"\\\\\\1\\29\"..., 4096) = 4096 <0.000021>\n",
     "0 write(3</p/a b (1).db>|\"= 0 <0.1>\\\"\\\\\\1\\29\"...|4096) 4096 took 21000\n"},
    {"a result's file", "openat(AT_FDCWD</p>, \"x\", O_RDONLY) = 3</p/x> <0.1>\n", "0 openat(AT_FDCWD</p>|\"x\"|O_RDONLY) 3 file /p/x took 100000000\n"},
    {"a name like a time", "openat(AT_FDCWD</p>, \"<0.1>\", O_RDONLY) = 3</p/\\740.1\\76>\n", "0 openat(AT_FDCWD</p>|\"<0.1>\"|O_RDONLY) 3 file /p/\\740.1\\76\n"},
    {"older versions write < and > as they are", "fsync(3</p/a<b>c->d>) = 0\n", "0 fsync(3</p/a<b>c->d>) 0\n"},
    {"a name that ends in a dash", "fsync(3</p/x->) = 0\n", "0 fsync(3</p/x->) 0\n"},
    {"the worst name", "23742 openat(AT_FDCWD</w>, \"<... fsync resumed>) = 0 (x).db\", O_RDWR|O_CREAT, 0644) = 5</w/\\74... fsync resumed\\76) = 0 (x).db> <0.000148>\n"
     "23744 fsync(5</w/\\74... fsync resumed\\76) = 0 (x).db>) = 0 <0.000440>\n"
     "23745 fsync(5</w/\\74... fsync resumed\\76) = 0 (x).db> <unfinished ...>\n23745 <... fsync resumed>)              = 0 <0.001288>\n",
     "23742 openat(AT_FDCWD</w>|\"<... fsync resumed>) = 0 (x).db\"|O_RDWR|O_CREAT|0644) 5 file /w/\\74... fsync resumed\\76) = 0 (x).db took 148000\n"
     "23744 fsync(5</w/\\74... fsync resumed\\76) = 0 (x).db>) 0 took 440000\n23745 fsync(5</w/\\74... fsync resumed\\76) = 0 (x).db>) 0 took 1288000\n"},
    {"a string that ends like an unfinished call", "1 write(3, \"a <unfinished ...>\", 18) = 18\n", "1 write(3|\"a <unfinished ...>\"|18) 18\n"},
    {"sockets", "sendto(7<TCP:[127.0.0.1:58136->127.0.0.1:39797]>, \"x\", 1, 0, NULL, 0) = 1\nread(8<TCPv6:[[::1]:80->[::1]:81]>) = 0\nread(4<UNIX-STREAM:[47391->47392,\"/run/s>)\"]>) = 0\n",
     "0 sendto(7<TCP:[127.0.0.1:58136->127.0.0.1:39797]>|\"x\"|1|0|NULL|0) 1\n0 read(8<TCPv6:[[::1]:80->[::1]:81]>) 0\n0 read(4<UNIX-STREAM:[47391->47392,\"/run/s>)\"]>) 0\n"},
    {"devices nest", "write(3</dev/null<char 1:3>>, \"x\", 1) = 1\n", "0 write(3</dev/null<char 1:3>>|\"x\"|1) 1\n"},
    {"a shift is no file", "capset({}, {effective=1<<CAP_KILL|1<<CAP_CHOWN}) = 0\n", "0 capset({}|{effective=1<<CAP_KILL|1<<CAP_CHOWN}) 0\n"},
    {"-X verbose", "openat(-100 /* AT_FDCWD */</p>, \"x\", 0x42 /* O_RDWR|O_CREAT */) = 3</p/x>\n", "0 openat(-100 /* AT_FDCWD */</p>|\"x\"|0x42 /* O_RDWR|O_CREAT */) 3 file /p/x\n"},
    {"deleted, outside", "fsync(8</p/gone>(deleted)) = 0 <0.000100>\n", "0 fsync(8</p/gone>(deleted)) 0 took 100000\n"},
    {"more arguments than are kept", "f(1, 2, 3, 4, 5, 6, 7) = 0\n", "0 f(1|2|3|4|5|6) 0\n"},
    {"brackets of macros", "mknod(\"x\", S_IFCHR|0666, makedev(0x1, 0x3)) = 0\n", "0 mknod(\"x\"|S_IFCHR|0666|makedev(0x1, 0x3)) 0\n"},

    /* Other lines */
    {"signals", "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---\n--- stopped by SIGSTOP ---\n", ""},
    {"exits", "1 +++ exited with 0 +++\n2 +++ killed by SIGSEGV (core dumped) +++\n", "1 gone\n2 gone\n"},
    {"notes", "strace: Process 12 attached\nstrace: Process 12 detached\n[ Process PID=7 runs in 32 bit mode. ]\nProcess 7 attached\n", ""},
    {"dumps", " > /lib/libc.so.6(fsync+0x14) [0xf7a04]\n | 00000  78 0a                        x.       |\n", ""},
    {"empty lines", "\n\n", ""},
    {"lines of others", "hello\nmake: *** [all] Error 1\nfoo\n", "unknown=3\n"},
    {"a call cut off", "fsync(3</p/pl\nopenat(AT_FDCWD, \"abc\nread(3, \"x\", 5\nread(3) = \nread(3)", "cut=5\n"},
    {"a last line cut off anywhere", "12 fsync(3) = 0\n12 <... fs", "12 fsync(3) 0\ncut=1\n"},
    {"a last line cut off in its front", "12 fsync(3) = 0\n1", "12 fsync(3) 0\ncut=1\n"},
    {"the last line, whole but for its end", "fsync(3) = 0\nfsync(4) = 0", "0 fsync(3) 0\n0 fsync(4) 0\n"},

    /* On a terminal */
    {"a number only while there are several",
     "fsync(1) = 0\nclone(flags=SIGCHLD) = 12\nstrace: Process 12 attached\n[pid    11] fsync(2) = 0\n[pid    12] fsync(3 <unfinished ...>\n[pid    11] fsync(4) = 0\n"
     "[pid    12] <... fsync resumed>) = 0\n[pid    12] +++ exited with 0 +++\nfsync(5) = 0\n+++ exited with 0 +++\n",
     "0 fsync(1) 0\n0 clone(flags=SIGCHLD) 12\n0 fsync(2) 0\n0 fsync(4) 0\n12 fsync(3) 0\n12 gone\n0 fsync(5) 0\n0 gone\n"},
    {"the only one left is the child",
     "strace: Process 12 attached\n[pid    11] fsync(2) = 0\n[pid    12] fsync(3) = 0\n[pid    11] +++ exited with 0 +++\nfsync(5) = 0\n+++ exited with 0 +++\n",
     "0 fsync(2) 0\n12 fsync(3) 0\n0 gone\n12 fsync(5) 0\n12 gone\n"},
    {"a note in the middle of a call",
     "clone(child_stack=NULL, flags=SIGCHLDstrace: Process 341 attached\n, child_tidptr=0x7f) = 341\n[pid   341] fsync(3) = 0\n",
     "0 clone(child_stack=NULL|flags=SIGCHLD|child_tidptr=0x7f) 341\n341 fsync(3) 0\n"},
    {"a note in the middle, the call unfinished",
     "[pid  7] clone(flags=SIGCHLDstrace: Process 9 attached\n <unfinished ...>\n[pid  9] fsync(3) = 0\n[pid  7] <... clone resumed>) = 9\n",
     "9 fsync(3) 0\n0 clone(flags=SIGCHLD) 9\n"},

    {"what the program writes in the middle of its write",
     "write(2, \"a\\nb\\n\", 4a\nb\n)                  = 4 <0.001>\nwrite(1, \"ok> \", 4ok> ) = 4\n",
     "0 write(2|\"a\\nb\\n\"|4a) 4 took 1000000\n0 write(1|\"ok> \"|4ok>) 4\nunknown=1\n"},
    {"a rest that does not fit", "fsync(3</p/x\n) = 0\nfsync(4) = 0\n", "0 fsync(4) 0\ncut=1\n"},
    {"a rest without a beginning", ") = 0\nfsync(4) = 0\n", "0 fsync(4) 0\nunknown=1\n"},

    /* -c */
    {"a table",
     "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n"
     " 75.41    0.229603        2834        81        40 wait4\n  2.61    0.007934           8       966           mmap\n"
     "------ ----------- ----------- --------- --------- ----------------\n100.00    0.237537         226      1047        40 total\n",
     "sum wait4 81 40 229603000\nsum mmap 966 0 7934000\n"},
    {"an older total, an older header",
     "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n"
     "  0.00    0.000000           0         7           read\n------ ----------- ----------- --------- --------- ----------------\n100.00    0.000000                     7           total\nfsync(3) = 0\n",
     "sum read 7 0 0\n0 fsync(3) 0\n"},
    {"columns of choice",
     "syscall             errors     calls     seconds\n---------------- --------- --------- -----------\nread                               7    0.000000\n"
     "openat                  19        23    0.000100\n---------------- --------- --------- -----------\ntotal                   19       145    0.000000\n",
     "sum read 7 0 0\nsum openat 23 19 100000\n"},
    {"a second table for another mode",
     "System call usage summary for 32 bit mode:\n% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n"
     "------ ----------- ----------- --------- --------- ----------------\n100.00    0.000000           0         0           total\n", ""},
    {"-C sums up what was told already",
     "fsync(3) = 0\n% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n"
     "100.00    0.000100         100         1           fsync\n------ ----------- ----------- --------- --------- ----------------\n100.00    0.000100           0         1           total\n",
     "0 fsync(3) 0\n"},
};

static const char fixture[] =
    "1905  1796023600.180340 fsync(3</p/places.sqlite-wal>) = 0 <0.000592>\n"
    "1906  1796023600.181000 fdatasync(4</p/places.sqlite> <unfinished ...>\n"
    "1905  1796023600.181500 write(3</p/a b (1).db>, \"= 0 <0.1>\\\"\\\\\\1\\29\"..., 4096) = 4096 <0.000021>\n"
    "1906  1796023600.183250 <... fdatasync resumed>) = 0 <0.002250>\n"
    "1905  1796023600.184000 read(5<pipe:[47528]>,  <unfinished ...>\n"
    "1905  1796023600.190000 --- SIGALRM {si_signo=SIGALRM, si_code=SI_KERNEL} ---\n"
    "1905  1796023600.190010 <... read resumed>0x7ffd00000000, 4) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.006010>\n"
    "1905  1796023600.190200 read(5<pipe:[47528]>, \"done\", 4) = 4 <0.000009>\n"
    "1905  1796023600.191000 openat(AT_FDCWD</p>, \"no\\\"such\", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>\n"
    "1905  1796023600.192000 sendto(7<TCP:[127.0.0.1:58136->127.0.0.1:39797]>, \"x\", 1, 0, NULL, 0) = 1 <0.000030>\n"
    "1905  1796023600.193000 fsync(8</p/gone>(deleted)) = 0 <0.000100>\n"
    "1905  1796023600.194000 exit_group(0) = ?\n"
    "1905  1796023600.194100 +++ exited with 0 +++\n"
    "1906  1796023600.194200 +++ killed by SIGSEGV (core dumped) +++\n";
static const char fixture_told[] =
    "1905 fsync(3</p/places.sqlite-wal>) 0 at 1796023600180340000 took 592000\n"
    "1905 write(3</p/a b (1).db>|\"= 0 <0.1>\\\"\\\\\\1\\29\"...|4096) 4096 at 1796023600181500000 took 21000\n"
    "1906 fdatasync(4</p/places.sqlite>) 0 at 1796023600181000000 took 2250000\n"
    "1905 read(5<pipe:[47528]>|0x7ffd00000000|4) restarted at 1796023600184000000 took 6010000\n"
    "1905 read(5<pipe:[47528]>|\"done\"|4) 4 at 1796023600190200000 took 9000\n"
    "1905 openat(AT_FDCWD</p>|\"no\\\"such\"|O_RDONLY) -1 ENOENT at 1796023600191000000 took 10000\n"
    "1905 sendto(7<TCP:[127.0.0.1:58136->127.0.0.1:39797]>|\"x\"|1|0|NULL|0) 1 at 1796023600192000000 took 30000\n"
    "1905 fsync(8</p/gone>(deleted)) 0 at 1796023600193000000 took 100000\n"
    "1905 exit_group(0) never at 1796023600194000000\n"
    "1905 gone\n1906 gone\n";
/* clang-format on */

START_TEST(lines_are_taken_apart)
{
    AUTO(buf_fini) struct buf got = {0};
    struct strace_tally tally;

    read_in_pieces(rows[_i].log, 1 << 20, 0, &got, &tally);
    ck_assert_msg(strcmp(buf_str(&got), rows[_i].want) == 0, "%s:\n%s", rows[_i].name,
                  buf_str(&got));
}
END_TEST

START_TEST(pieces_make_no_difference)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64};

    for (size_t i = 0; i < LEN(pieces); i++) {
        AUTO(buf_fini) struct buf got = {0};
        struct strace_tally tally;
        read_in_pieces(rows[_i].log, pieces[i], 0, &got, &tally);
        ck_assert_msg(strcmp(buf_str(&got), rows[_i].want) == 0, "%s, by %zu:\n%s", rows[_i].name,
                      pieces[i], buf_str(&got));
    }
}
END_TEST

START_TEST(the_fixture_is_read)
{
    AUTO(buf_fini) struct buf got = {0};
    struct strace_tally t;

    read_in_pieces(fixture, 1 << 20, 0, &got, &t);
    ck_assert_msg(strcmp(buf_str(&got), fixture_told) == 0, "%s", buf_str(&got));
    ck_assert(t.lines == 14 && t.calls == 7 && t.restarted == 1 && t.never == 1 && t.has_times);
}
END_TEST

START_TEST(a_log_of_ff_is_of_its_process)
{
    AUTO(buf_fini) struct buf got = {0};
    struct strace_tally t;

    read_in_pieces("fsync(3) = 0\n+++ exited with 0 +++\n", 5, 77, &got, &t);
    ck_assert_str_eq(buf_str(&got), "77 fsync(3) 0\n77 gone\n");
}
END_TEST

START_TEST(exec_of_a_thread_goes_on_in_another_log)
{
    AUTO(buf_fini) struct buf got = {0};
    AUTO(strace_free)
    struct strace *s = strace_new(&(struct strace_events){.call = tell_call, .context = &got});
    static const char thread[] = "execve(\"/x\", [\"x\"], 0x7f <pid changed to 10 ...>\n";
    static const char leader[] = "<... execve resumed>) = 0\n";

    strace_begin(s, 11);
    strace_feed(s, thread, strlen(thread));
    strace_end(s);
    strace_begin(s, 10);
    strace_feed(s, leader, strlen(leader));
    strace_end(s);
    strace_finish(s);
    show_rejects(strace_tally(s), &got);
    ck_assert_str_eq(buf_str(&got), "10 execve(\"/x\"|[\"x\"]|0x7f) 0\n");
}
END_TEST

START_TEST(long_lines_are_passed_over)
{
    AUTO(buf_fini) struct buf log = {0};

    buf_adds(&log, "write(3, \"");
    memset(buf_room(&log, STRACE_LINE_BYTES), 'a', STRACE_LINE_BYTES);
    log.len += STRACE_LINE_BYTES;
    buf_adds(&log, "\") = 0\nfsync(3) = 0\n");
    for (size_t piece = 1000; piece < 10000000; piece *= 100) {
        AUTO(buf_fini) struct buf got = {0};
        struct strace_tally t;
        read_in_pieces(log.data, piece, 0, &got, &t);
        ck_assert_str_eq(buf_str(&got), "0 fsync(3) 0\nlong=1\n");
        ck_assert_uint_eq(t.lines, 2);
    }
}
END_TEST

START_TEST(unfinished_calls_have_a_limit)
{
    AUTO(buf_fini) struct buf log = {0};
    AUTO(buf_fini) struct buf got = {0};
    struct strace_tally t;

    for (int i = 1; i <= STRACE_OPEN_MOST + 10; i++)
        buf_printf(&log, "%d fsync(3 <unfinished ...>\n", i);
    read_in_pieces(log.data, log.len, 0, &got, &t);
    ck_assert_uint_eq(t.rejects[STRACE_NO_ROOM], 10);
    ck_assert_uint_eq(t.rejects[STRACE_NO_END], STRACE_OPEN_MOST);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *arg;
    const char *file;   /* NULL: none */
    const char *string; /* NULL: none */
} args[] = {
    {"a descriptor", "3", NULL, NULL},
    {"its file", "3</p/x.db>", "/p/x.db", NULL},
    {"the folder", "AT_FDCWD</p>", "/p", NULL},
    {"with a comment", "-100 /* AT_FDCWD */</p>", "/p", NULL},
    {"deleted, outside", "8</p/gone>(deleted)", "/p/gone", NULL},
    {"deleted, inside", "8</p/gone (deleted)>", "/p/gone", NULL},
    {"a device", "3</dev/null<char 1:3>>", "/dev/null", NULL},
    {"a pipe", "3<pipe:[47528]>", "pipe:[47528]", NULL},
    {"escaped", "5</w/\\74... \\76) \\\"\\\\\\303\\244\\0019>", "/w/<... >) \"\\\303\244\0019", NULL},
    {"a string", "\"a\\tb\\1\\29\"", NULL, "a\tb\001\0029"},
    {"a string that is cut", "\"abc\"...", NULL, "abc"},
    {"a string in hex", "\"\\x2f\\x70\"", NULL, "/p"},
    {"a NUL ends it", "\"ab\\0cd\"", NULL, "ab"},
    {"an address", "0x7ffe", NULL, NULL},
    {"files of a set", "[{fd=3</p/x>, events=POLLIN}]", NULL, NULL},
    {"a string with a file in it", "\"3</p/x>\"", NULL, "3</p/x>"},
};
/* clang-format on */

START_TEST(arguments_have_files_and_strings)
{
    const struct strace_text arg = {args[_i].arg, strlen(args[_i].arg)};
    const struct strace_text file = strace_file(arg), string = strace_string(arg);
    char got[64];

    ck_assert_msg((file.s != NULL) == (args[_i].file != NULL), "%s", args[_i].name);
    ck_assert_msg((string.s != NULL) == (args[_i].string != NULL), "%s", args[_i].name);
    strace_unescape(file.s ? file : string, got, sizeof(got));
    const char *want = args[_i].file ? args[_i].file : args[_i].string;
    ck_assert_msg(!want || strcmp(got, want) == 0, "%s: %s", args[_i].name, got);
}
END_TEST

START_TEST(text_is_cut_to_its_room)
{
    char got[4];

    strace_unescape((struct strace_text){"abcdef", 6}, got, sizeof(got));
    ck_assert_str_eq(got, "abc");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {lines_are_taken_apart, LEN(rows)},
        {pieces_make_no_difference, LEN(rows)},
        {the_fixture_is_read, 1},
        {a_log_of_ff_is_of_its_process, 1},
        {exec_of_a_thread_goes_on_in_another_log, 1},
        {long_lines_are_passed_over, 1},
        {unfinished_calls_have_a_limit, 1},
        {arguments_have_files_and_strings, LEN(args)},
        {text_is_cut_to_its_room, 1},
    };
    return unit_run("strace", tests, LEN(tests));
}
