/* SPDX-License-Identifier: Apache-2.0 */
/* Whole tasks on a real repository, with a coordinator that answers nothing, or 409. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/agent/work.h"
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], base[128];
static struct sandbox *sandbox;
static struct workshop *shop;
static struct revision revisions[4]; /* good, bad, one that does not build, one without its file */

static int shell(const char *line)
{
    AUTO(mem_free) char *command = mem_printf("cd %s && %s", folder, line);
    return system(command);
}

static void read_revisions(void)
{
    for (int i = 0; i < 4; i++) {
        AUTO(mem_free) char *command = mem_printf("git -C %s/repo rev-parse r%d", folder, i);
        FILE *p = popen(command, "r");
        ck_assert_ptr_nonnull(p);
        ck_assert_int_eq(fscanf(p, "%40s", revisions[i].hex), 1);
        pclose(p);
    }
}

static void setup(void)
{
    struct err e = {0};

    snprintf(folder, sizeof(folder), "/tmp/work-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(sandbox_new(&sandbox, &e), ERR_OK);
    snprintf(base, sizeof(base), "unix:%s/nobody", folder);
    ck_assert_int_eq(
        shell(
            "git init -q repo && cd repo && git config user.email a@b && git config user.name A && "
            "c() { echo $1 >n; git add -A && git commit -qm r$1 && git tag r$1; } && "
            "echo 'echo 10 >out' >make.sh && c 0 && echo 'echo 20 >out' >make.sh && c 1 && "
            "echo 'echo broken >&2; exit 2' >make.sh && c 2 && echo true >make.sh && c 3"),
        0);
    read_revisions();
    AUTO(mem_free) char *dir = path_join(folder, "work");
    AUTO(mem_free) char *artifacts = path_join(folder, "artifacts");
    struct workshop_options o = {.folder = dir,
                                 .artifacts = artifacts,
                                 .name = "w",
                                 .host = "h",
                                 .platform = "p",
                                 .sandbox = sandbox};
    ck_assert_msg(workshop_new(&o, &shop, &e) == ERR_OK, "%s", e.text);
    shop->lock_folder = folder;
}

static void teardown(void)
{
    struct err e = {0};

    workshop_free(shop);
    sandbox_free(sandbox);
    ck_assert_msg(file_remove_tree(folder, &e) == ERR_OK, "%s", e.text);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static struct lease *lease_of(const char *build_step, const char *metric, const char *order)
{
    struct lease *l = mem_alloc(sizeof(*l));
    AUTO(mem_free) char *repository = path_join(folder, "repo");
    struct metric *m = NULL;
    struct err e = {0};

    l->id = mem_dup("lease");
    l->task = mem_dup("task");
    l->bisection = mem_dup("bisection");
    l->platform = mem_dup("p");
    l->fence = 7;
    l->renew_ns = 100 * NS_PER_MS;
    l->project = project_new("demo", repository);
    strings_add(&l->project->build_steps, build_step);
    strings_add(&l->project->artifacts, "out");
    ck_assert_msg(metric_from_spec(metric, &m, &e) == ERR_OK, "%s", e.text);
    l->metric = mem_dup(m->name);
    l->project->metrics = mem_array(1, sizeof(struct metric *));
    l->project->metrics[0] = m;
    l->project->n_metrics = 1;
    l->spec = mem_alloc(sizeof(*l->spec));
    l->spec->n_builds = 4;
    l->spec->builds = mem_array(4, sizeof(*l->spec->builds));
    for (int i = 0; i < 4; i++)
        l->spec->builds[i].revision = revisions[i];
    l->spec->runs = mem_array(strlen(order) + 1, sizeof(*l->spec->runs));
    for (; *order; order++, l->spec->n_runs++)
        l->spec->runs[l->spec->n_runs] =
            (struct task_run){.build = (uint32_t)(*order - '0'), .number = l->spec->n_runs};
    return l;
}

struct done {
    struct task_result *result;
    struct buf log, shown;
};

static void done_fini(struct done *d)
{
    task_result_free(d->result);
    buf_fini(&d->log);
    buf_fini(&d->shown);
}
DEFINE_AUTO_FINI(struct done, done_fini)

static struct done work_on(const struct lease *lease, bool (*must_stop)(void *))
{
    struct done d = {0};
    struct err e = {0};
    struct http_options o = {.base = base, .timeout_ns = NS_PER_S};
    AUTO(http_free) struct http *http = NULL;
    AUTO(heartbeat_free) struct heartbeat *heartbeat = NULL;
    AUTO(clip_fini) struct clip log;

    clip_init(&log, MIB);
    ck_assert_int_eq(http_new(&o, &http, &e), ERR_OK);
    ck_assert_int_eq(heartbeat_new(&o, lease, &heartbeat, &e), ERR_OK);
    struct work w = {.shop = shop,
                     .lease = lease,
                     .http = http,
                     .heartbeat = heartbeat,
                     .log = &log,
                     .must_stop = must_stop};
    work_do(&w, &d.result);
    clip_render(&log, &d.log);
    for (size_t i = 0; d.result && i < d.result->n_builds; i++)
        buf_printf(&d.shown, "%s%s", i ? " " : "", build_status_name(d.result->builds[i].status));
    for (size_t i = 0; d.result && i < d.result->n_runs; i++) {
        buf_printf(&d.shown, " %u:%s", d.result->runs[i].run,
                   run_status_name(d.result->runs[i].status));
        if (d.result->runs[i].status == RUN_OK)
            buf_printf(&d.shown, "=%g", d.result->runs[i].value);
    }
    if (d.result && d.result->fault)
        buf_printf(&d.shown, " fault: %s", d.result->fault);
    return d;
}

#define BUILD   "sh make.sh"
#define MEASURE "value:command=cat out"

START_TEST(a_task_is_built_and_measured)
{
    AUTO(lease_free) struct lease *lease = lease_of(BUILD, MEASURE, "01230");
    AUTO(done_fini) struct done d = work_on(lease, never);

    ck_assert_str_eq(buf_str(&d.shown),
                     "ok ok failed failed 0:ok=10 1:ok=20 2:skipped 3:skipped 4:ok=10");
    ck_assert_int_eq(d.result->fence, 7);
    ck_assert_str_eq(d.result->builds[2].reason, "step 1 of 1 exited 2: broken");
    ck_assert_str_eq(d.result->builds[3].reason,
                     "the build made none of the files that \"artifacts\" names");
    ck_assert_str_eq(d.result->environment.sandbox, "plain");
    ck_assert_str_eq(d.result->environment.isolation, "exclusive");
    ck_assert_str_eq(d.result->environment.host, "h");
    ck_assert_ptr_nonnull(strstr(
        buf_str(&d.log),
        "sandbox: plain (the project names none): limits and a clean end, but no walls: a job "
        "may read and write what this user may, use the network"));

    /* The next task is told of one artifact, and of one that does not exist. */
    memcpy(lease->spec->builds[0].artifact, d.result->builds[0].artifact, 65);
    memset(lease->spec->builds[1].artifact, 'a', 64);
    AUTO(done_fini) struct done again = work_on(lease, never);
    ck_assert_str_eq(buf_str(&again.shown),
                     "reused ok failed failed 0:ok=10 1:ok=20 2:skipped 3:skipped 4:ok=10");
    ck_assert_str_eq(again.result->builds[0].artifact, d.result->builds[0].artifact);
    ck_assert_str_eq(again.result->builds[1].artifact, d.result->builds[1].artifact);

    /* A fresh build is one even if the artifact is known; a damaged artifact is built anew. */
    AUTO(mem_free)
    char *harm = mem_printf("echo x >artifacts/%.2s/%s.tar.zst", d.result->builds[1].artifact,
                            d.result->builds[1].artifact);
    ck_assert_int_eq(shell(harm), 0);
    lease->spec->builds[0].fresh = true;
    memcpy(lease->spec->builds[1].artifact, d.result->builds[1].artifact, 65);
    AUTO(done_fini) struct done third = work_on(lease, never);
    ck_assert_str_eq(buf_str(&third.shown),
                     "ok ok failed failed 0:ok=10 1:ok=20 2:skipped 3:skipped 4:ok=10");
    ck_assert_ptr_nonnull(strstr(buf_str(&third.log), "damaged; building it again"));
}
END_TEST

/** r0 and r1 build to other bytes than each other; what is known is of r3, or of r0 itself. */
START_TEST(known_bytes_are_not_measured)
{
    AUTO(lease_free) struct lease *lease = lease_of(BUILD, MEASURE, "010");
    AUTO(done_fini) struct done d = work_on(lease, never);
    struct task_spec *spec = lease->spec;

    ck_assert_str_eq(buf_str(&d.shown), "ok ok failed failed 0:ok=10 1:ok=20 2:ok=10");
    spec->known = mem_array(2, sizeof(*spec->known));
    spec->n_known = 2;
    memset(spec->known[0].artifact, 'a', 64);
    spec->known[0].revision = revisions[2];
    memcpy(spec->known[1].artifact, d.result->builds[0].artifact, 65);
    spec->known[1].revision = revisions[3];
    AUTO(done_fini) struct done again = work_on(lease, never);
    ck_assert_str_eq(buf_str(&again.shown), "ok ok failed failed 0:skipped 1:ok=20 2:skipped");
    AUTO(mem_free) char *reason = mem_printf("same bytes as %.10s", revisions[3].hex);
    ck_assert_str_eq(again.result->runs[0].reason, reason);
    ck_assert_ptr_nonnull(strstr(buf_str(&again.log), reason));
    ck_assert_str_eq(again.result->builds[0].artifact, d.result->builds[0].artifact);

    spec->builds[0].fresh = true; /* a verification is measured whatever its bytes */
    AUTO(done_fini) struct done fresh = work_on(lease, never);
    ck_assert_str_eq(buf_str(&fresh.shown), "ok ok failed failed 0:ok=10 1:ok=20 2:ok=10");

    spec->builds[0].fresh = false; /* what is at hand was asked for on purpose */
    memcpy(spec->builds[0].artifact, d.result->builds[0].artifact, 65);
    AUTO(done_fini) struct done reused = work_on(lease, never);
    ck_assert_str_eq(buf_str(&reused.shown), "reused ok failed failed 0:ok=10 1:ok=20 2:ok=10");

    spec->builds[0].artifact[0] = '\0'; /* the known one may be this one's own */
    spec->known[1].revision = revisions[0];
    AUTO(done_fini) struct done own = work_on(lease, never);
    ck_assert_str_eq(buf_str(&own.shown), "ok ok failed failed 0:ok=10 1:ok=20 2:ok=10");
}
END_TEST

START_TEST(a_build_alone_needs_no_metric)
{
    AUTO(lease_free) struct lease *lease = lease_of(BUILD, MEASURE, "");
    AUTO(done_fini) struct done d = work_on(lease, never);

    ck_assert_str_eq(buf_str(&d.shown), "ok ok failed failed");
    ck_assert_uint_eq(strlen(d.result->builds[0].artifact), 64);
}
END_TEST

START_TEST(a_removed_folder_is_the_revisions_doing)
{
    AUTO(mem_free)
    char *step = mem_printf("sh make.sh; test $(cat n) != 0 || { rm -rf \"$PWD\"; ln -s %s/victim "
                            "\"$PWD\"; }",
                            folder);
    AUTO(lease_free) struct lease *lease = lease_of(step, MEASURE, "01");
    ck_assert_int_eq(shell("mkdir victim && echo mine >victim/file"), 0);
    AUTO(done_fini) struct done d = work_on(lease, never);

    ck_assert_str_eq(buf_str(&d.shown), "failed ok failed failed 0:skipped 1:ok=20");
    ck_assert_str_eq(d.result->builds[0].reason, "step 1 of 1 removed the folder that it ran in");
    ck_assert_int_eq(shell("test \"$(ls -A victim)\" = file"), 0);

    AUTO(lease_free)
    struct lease *measure = lease_of(BUILD, "value:command=cat out; rm -rf \"$PWD\"", "011");
    AUTO(done_fini) struct done m = work_on(measure, never);
    ck_assert_str_eq(buf_str(&m.shown), "ok ok failed failed 0:cannot 1:cannot 2:skipped");
}
END_TEST

START_TEST(what_is_ours_is_a_fault)
{
    const char *path = getenv("PATH");
    AUTO(mem_free) char *before = mem_dup(path);
    AUTO(lease_free) struct lease *walls = lease_of(BUILD, MEASURE, "0");
    walls->project->sandbox.kind = SANDBOX_BUBBLEWRAP;
    walls->project->sandbox.is_kind_set = true;
    setenv("PATH", "/no/such/folder", 1);
    AUTO(done_fini) struct done a = work_on(walls, never);
    setenv("PATH", before, 1);
    ck_assert_msg(strstr(buf_str(&a.shown), "fault: sandbox kind bubblewrap does not work here: "
                                            "bwrap is not installed") != NULL,
                  "%s", buf_str(&a.shown));
    ck_assert_uint_eq(a.result->n_builds + a.result->n_runs, 0);

    AUTO(lease_free) struct lease *gone = lease_of(BUILD, MEASURE, "0");
    mem_free(gone->project->repository);
    gone->project->repository = mem_dup("/no/such/repository");
    AUTO(done_fini) struct done b = work_on(gone, never);
    ck_assert_msg(strstr(buf_str(&b.shown), "fault") != NULL, "%s", buf_str(&b.shown));
    ck_assert_uint_eq(b.result->n_runs, 0);
}
END_TEST

START_TEST(a_killed_supervisor_is_a_fault)
{
    AUTO(lease_free) struct lease *lease = lease_of("kill -9 $PPID", MEASURE, "0");
    AUTO(done_fini) struct done d = work_on(lease, never);

    ck_assert_msg(strncmp(buf_str(&d.shown), "fault fault: build ", 19) == 0, "%s",
                  buf_str(&d.shown));
    ck_assert_ptr_nonnull(strstr(buf_str(&d.shown), "supervisor was killed"));
}
END_TEST

static bool soon(void *context)
{
    static int64_t begin;

    (void)context;
    if (!begin)
        begin = mono_now().ns;
    return mono_now().ns - begin > NS_PER_S / 2;
}

START_TEST(a_stopped_task_reports_nothing)
{
    AUTO(lease_free) struct lease *lease = lease_of("sleep 100", MEASURE, "0");
    int64_t begin = mono_now().ns;
    AUTO(done_fini) struct done d = work_on(lease, soon);

    ck_assert_ptr_null(d.result);
    ck_assert_int_lt(mono_now().ns - begin, 5 * NS_PER_S);
}
END_TEST

/** Answers everything with 409. */
static pid_t serve_conflicts(void)
{
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(u.sun_path, sizeof(u.sun_path), "%s/socket", folder);
    snprintf(base, sizeof(base), "unix:%s/socket", folder);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&u, sizeof(u)), 0);
    ck_assert_int_eq(listen(listener, 5), 0);
    pid_t pid = fork();
    while (pid == 0) {
        static const char answer[] =
            "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        char request[4096];
        int fd = accept(listener, NULL, NULL);
        if (read(fd, request, sizeof(request)) < 0 || write(fd, answer, strlen(answer)) < 0)
            _exit(1);
        close(fd);
    }
    close(listener);
    return pid;
}

START_TEST(a_lost_lease_stops_the_job)
{
    AUTO(lease_free) struct lease *lease = lease_of("sleep 100", MEASURE, "0");
    pid_t server = serve_conflicts();
    int64_t begin = mono_now().ns;
    AUTO(done_fini) struct done d = work_on(lease, never);

    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    ck_assert_ptr_null(d.result);
    ck_assert_int_lt(mono_now().ns - begin, 5 * NS_PER_S);
}
END_TEST

START_TEST(a_full_disk_is_no_commits_fault)
{
    AUTO(lease_free) struct lease *lease = lease_of("cat /dev/zero >fill", MEASURE, "0");
    AUTO(mem_free) char *small = path_join(folder, "small");
    AUTO(mem_free) char *dir = path_join(small, "work");
    struct err e = {0};

    ck_assert_int_eq(file_mkdirs(small, 0755, &e), ERR_OK);
    if (mount("tmpfs", small, "tmpfs", 0, "size=40m") != 0)
        return; /* not root: no small disk to be had */
    AUTO(mem_free) char *artifacts = path_join(folder, "artifacts");
    struct workshop_options o = {.folder = dir,
                                 .artifacts = artifacts,
                                 .name = "w",
                                 .host = "h",
                                 .platform = "p",
                                 .sandbox = sandbox};
    workshop_free(shop);
    shop = NULL;
    enum err_code code = workshop_new(&o, &shop, &e);
    if (!code)
        shop->lock_folder = folder;
    AUTO(done_fini) struct done d = {0};
    if (!code)
        d = work_on(lease, never);
    workshop_free(shop);
    shop = NULL;
    umount2(small, MNT_DETACH);
    ck_assert_msg(code == ERR_OK, "%s", e.text);
    ck_assert_msg(strstr(buf_str(&d.shown), "fault fault: the worker's disk is full") != NULL, "%s",
                  buf_str(&d.shown));
}
END_TEST

START_TEST(a_folder_has_one_worker)
{
    AUTO(mem_free) char *dir = path_join(folder, "work");
    struct workshop_options o = {
        .folder = dir, .name = "w", .host = "h", .platform = "p", .sandbox = sandbox};
    struct workshop *second = NULL;
    struct err e = {0};

    ck_assert_int_eq(workshop_new(&o, &second, &e), ERR_CONFLICT);
    ck_assert_ptr_nonnull(strstr(e.text, "another worker uses the folder"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("work");
    TCase *tc = tcase_create("work");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_task_is_built_and_measured);
    tcase_add_test(tc, known_bytes_are_not_measured);
    tcase_add_test(tc, a_build_alone_needs_no_metric);
    tcase_add_test(tc, a_removed_folder_is_the_revisions_doing);
    tcase_add_test(tc, what_is_ours_is_a_fault);
    tcase_add_test(tc, a_killed_supervisor_is_a_fault);
    tcase_add_test(tc, a_stopped_task_reports_nothing);
    tcase_add_test(tc, a_lost_lease_stops_the_job);
    tcase_add_test(tc, a_full_disk_is_no_commits_fault);
    tcase_add_test(tc, a_folder_has_one_worker);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
