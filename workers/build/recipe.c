/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/build/recipe.h"
#include "base/clock.h"
#include <stdio.h>

enum { QUOTED_BYTES = 200 };

/** What all steps of one build share. */
struct build {
    const struct recipe *recipe;
    struct strings environment;
    int64_t disk_before_bytes;
    struct mono until;
};

/* clang-format off */
static const enum build_status statuses[] = {
    [JOB_EXITED]    = BUILD_FAILED,
    [JOB_SIGNALED]  = BUILD_FAILED,
    [JOB_TIMED_OUT] = BUILD_TIMEOUT,
    [JOB_LIMIT]     = BUILD_LIMIT,
};
/* clang-format on */

static void explain(const struct build *b, size_t step, const struct job_outcome *o,
                    const struct clip *output, struct recipe_outcome *out)
{
    AUTO(buf_fini) struct buf last = {0};
    size_t n_steps = b->recipe->project->build_steps.n;
    char limit[32];

    duration_format(b->recipe->project->build_timeout_ns, limit);
    out->status = statuses[o->end];
    clip_last_line(output, QUOTED_BYTES, &last);
    if (o->end == JOB_TIMED_OUT)
        snprintf(out->reason, sizeof(out->reason),
                 "step %zu of %zu was still running at the build's time limit of %s", step + 1,
                 n_steps, limit);
    else
        snprintf(out->reason, sizeof(out->reason), "step %zu of %zu %s%s%s", step + 1, n_steps,
                 o->reason, last.len ? ": " : "", buf_str(&last));
}

static void lose_folder(const struct build *b, size_t step, struct recipe_outcome *out)
{
    out->status = BUILD_FAILED;
    snprintf(out->reason, sizeof(out->reason), "step %zu of %zu removed the folder that it ran in",
             step + 1, b->recipe->project->build_steps.n);
}

static enum err_code run_step(struct build *b, size_t step, struct recipe_outcome *out,
                              struct err *e)
{
    const struct recipe *r = b->recipe;
    const struct project *p = r->project;
    AUTO(clip_fini) struct clip output;
    struct job_outcome o;
    struct job_spec spec = {.command = p->build_steps.items[step],
                            .place = &r->place,
                            .environment = &b->environment,
                            .limits = &p->sandbox,
                            .timeout_ns = p->build_timeout_ns > 0 ? b->until.ns - mono_now().ns : 0,
                            .cpus = r->cpus,
                            .disk_before_bytes = b->disk_before_bytes,
                            .tick = r->tick,
                            .context = r->context};

    if (p->build_timeout_ns > 0 && spec.timeout_ns < NS_PER_MS)
        spec.timeout_ns = NS_PER_MS;
    clip_init(&output, sandbox_output_bytes(&p->sandbox));
    clip_printf(r->log, "$ %s\n", spec.command);
    enum err_code code = sandbox_run(r->sandbox, &spec, NULL, &output, &o, e);
    clip_pour(&output, r->log);
    if (code)
        return code;
    job_note_left(&o, r->log);
    if (o.end == JOB_STOPPED)
        return err_set(e, ERR_TIMEOUT, "stopped");
    bool has_folder = job_folder_survives(r->place.source);
    if (o.end == JOB_EXITED && o.code == 0 && has_folder)
        return ERR_OK;
    if (o.end == JOB_EXITED && o.code == 0)
        lose_folder(b, step, out);
    else
        explain(b, step, &o, &output, out);
    clip_printf(r->log, "\n[%s]\n", out->reason);
    return ERR_OK;
}

enum err_code recipe_run(const struct recipe *r, struct recipe_outcome *out, struct err *e)
{
    const struct project *p = r->project;
    struct build b = {.recipe = r, .until = {mono_now().ns + p->build_timeout_ns}};

    *out = (struct recipe_outcome){.status = BUILD_OK};
    enum err_code code = job_folder_empty(r->place.home, e);
    if (!code)
        code = job_folder_empty(r->place.tmp, e);
    if (code)
        return code;
    if (p->sandbox.disk_bytes > 0)
        b.disk_before_bytes = job_place_usage(&r->place, INT64_MAX);
    struct job_place seen = sandbox_place(&p->sandbox, &r->place);
    job_env_fill(&b.environment, r->environment ? r->environment : &p->environment, &seen,
                 r->revision, JOB_BUILD);
    job_env_cpus(&b.environment, r->cpus);
    for (size_t i = 0; !code && out->status == BUILD_OK && i < p->build_steps.n; i++)
        code = run_step(&b, i, out, e);
    strings_fini(&b.environment);
    return code;
}
