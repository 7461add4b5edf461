/* SPDX-License-Identifier: Apache-2.0 */
#include "search/scene.h"

#include "base/mem.h"
#include "search/dice.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { KEY_CULPRITS = 1, KEY_EFFECTS, KEY_BROKEN, KEY_NOISE, KEY_HOSTS, KEY_RUNS, KEY_STORED };
enum { LEAST_APART = 16 };             /* culprits, where the range has room for it */
static const double least_effect = .5; /* the larger of 1 % and half an sd, on every family */
static const double horizon_runs = 100, horizon_builds = 10;

/** `k` of 1 to n, at least `apart` from each other, each such choice as likely as another. */
static void draw_culprits(struct scene *s)
{
    uint32_t k = s->setting->n_culprits;
    uint32_t apart = s->n >= 2 * LEAST_APART * k ? LEAST_APART : 1;
    uint32_t room = k > 0 ? s->n - (k - 1) * (apart - 1) : 0;
    uint64_t key = dice_key(s->key, KEY_CULPRITS);

    for (uint32_t i = 0; i < k; i++) { /* without replacement: skip over those taken, in order */
        uint32_t at = 1 + dice_below(key, i, room - i), slot = 0;
        while (slot < i && s->culprits[slot] <= at)
            slot++, at++;
        memmove(s->culprits + slot + 1, s->culprits + slot, (i - slot) * sizeof(*s->culprits));
        s->culprits[slot] = at;
    }
    for (uint32_t i = 0; i < k; i++)
        s->culprits[i] += i * (apart - 1);
}

static void draw_effects(struct scene *s)
{
    uint64_t key = dice_key(s->key, KEY_EFFECTS);

    memcpy(s->effects, s->setting->effects, sizeof(s->effects));
    for (uint32_t i = s->setting->n_culprits; i > 1; i--) {
        uint32_t other = dice_below(key, i, i);
        double effect = s->effects[i - 1];
        s->effects[i - 1] = s->effects[other];
        s->effects[other] = effect;
    }
}

static void draw_broken(struct scene *s)
{
    uint32_t n = (uint32_t)lround(s->setting->p_broken * s->n);

    n = n < s->n ? n : s->n - 1;
    if (n == 0)
        return;
    s->broken_from = 1 + dice_below(dice_key(s->key, KEY_BROKEN), 0, s->n - n);
    s->broken_to = s->broken_from + n;
}

void scene_init(struct scene *s, const struct setting *setting, uint32_t trial)
{
    uint64_t key = dice_key(setting->seed, trial);
    double horizon = horizon_runs + horizon_builds * setting->build_cost;

    assert(setting->n_commits > 0 && setting->n_culprits <= setting->n_commits);
    assert(setting->n_workers > 0 && setting->n_workers <= NOISE_MAX_WORKERS);
    *s = (struct scene){.setting = setting, .key = key, .n = setting->n_commits};
    s->start = 2. * setting->n_stored;
    s->n_hosts = setting->n_workers;
    if (setting->noise == NOISE_WORKERS && s->n_hosts < 2)
        s->n_hosts = 2;
    draw_culprits(s);
    draw_effects(s);
    draw_broken(s);
    noise_init(&s->noise, setting->noise, dice_key(key, KEY_NOISE), s->start, horizon);
    s->is_built = mem_array(s->n + 1, sizeof(*s->is_built));
    s->is_built[0] = s->is_built[s->n] = true;
}

void scene_fini(struct scene *s)
{
    noise_fini(&s->noise);
    mem_free(s->is_built);
    s->is_built = NULL;
}

double scene_change(const struct scene *s, uint32_t revision)
{
    double change = 0;

    for (uint32_t i = 0; i < s->setting->n_culprits; i++)
        change += s->culprits[i] <= revision ? s->effects[i] : 0;
    return change;
}

bool scene_is_broken(const struct scene *s, uint32_t revision)
{
    return revision >= s->broken_from && revision < s->broken_to;
}

uint32_t scene_host(struct scene *s, uint32_t slot)
{
    if (s->n_hosts == s->setting->n_workers)
        return slot;
    return dice_below(dice_key(s->key, KEY_HOSTS), s->n_draws++, s->n_hosts);
}

double scene_stored(struct scene *s, uint32_t revision, uint32_t i, uint32_t *host)
{
    bool is_bad = revision == s->n;
    uint64_t key = dice_key(s->key, KEY_STORED);
    struct noise_run run = {
        .change = scene_change(s, revision),
        .time = 2. * i + (is_bad != (i % 2 == 1)), /* good, bad, bad, good */
        .key = dice_key(key, 2 * i + is_bad),
        .worker = i % s->n_hosts,
    };

    *host = run.worker;
    return noise_value(&s->noise, &run);
}

static uint32_t first_free(const struct scene *s)
{
    uint32_t best = 0;

    for (uint32_t w = 1; w < s->setting->n_workers; w++)
        if (s->free_at[w] < s->free_at[best])
            best = w;
    return best;
}

static void carry_out(struct scene *s, struct order *o)
{
    double ready = s->now, change = scene_change(s, o->revision);
    uint64_t key = dice_key(s->key, KEY_RUNS);

    if (!s->is_built[o->revision]) {
        uint32_t w = first_free(s);
        s->n_builds++;
        s->free_at[w] += s->setting->build_cost;
        ready = s->free_at[w];
        s->is_built[o->revision] = !scene_is_broken(s, o->revision);
    }
    o->is_broken = !s->is_built[o->revision];
    for (uint32_t i = 0; i < o->n_runs && !o->is_broken; i++) {
        uint32_t w = first_free(s), host = scene_host(s, w);
        double begin = fmax(s->free_at[w], ready);
        o->values[i] = noise_value(&s->noise, &(struct noise_run){.change = change,
                                                                  .time = s->start + begin,
                                                                  .key = dice_key(key, s->n_runs++),
                                                                  .worker = host});
        if (o->hosts)
            o->hosts[i] = host;
        s->free_at[w] = begin + 1;
    }
}

void scene_measure(struct scene *s, struct order *orders, uint32_t n)
{
    s->n_decisions++;
    for (uint32_t i = 0; i < n; i++)
        carry_out(s, &orders[i]);
    for (uint32_t w = 0; w < s->setting->n_workers; w++)
        s->now = fmax(s->now, s->free_at[w]);
    for (uint32_t w = 0; w < s->setting->n_workers; w++)
        s->free_at[w] = s->now;
}

/* Answers */

void answer_fini(struct answer *a)
{
    mem_free(a->revisions);
    mem_free(a->shares);
    *a = (struct answer){0};
}

void answer_add(struct answer *a, uint32_t revision)
{
    uint32_t at = a->n;

    a->revisions = mem_resize(a->revisions, a->n + 1, sizeof(*a->revisions));
    for (; at > 0 && a->revisions[at - 1] > revision; at--)
        a->revisions[at] = a->revisions[at - 1];
    a->revisions[at] = revision;
    a->n++;
}

static bool is_culprit(const struct scene *s, uint32_t revision)
{
    for (uint32_t i = 0; i < s->setting->n_culprits; i++)
        if (s->culprits[i] == revision)
            return true;
    return false;
}

static bool is_hidden(const struct scene *s, uint32_t culprit)
{
    return s->broken_to > s->broken_from && culprit >= s->broken_from && culprit <= s->broken_to;
}

static enum score score_range(const struct scene *s, const struct answer *a)
{
    bool is_stretch = s->setting->n_culprits == 1 && is_hidden(s, s->culprits[0]) &&
                      a->n == s->broken_to - s->broken_from + 1;
    bool has_culprit = false;

    for (uint32_t i = 0; i < a->n; i++) {
        has_culprit |= is_culprit(s, a->revisions[i]);
        is_stretch &= a->revisions[i] == s->broken_from + i;
    }
    return !has_culprit ? SCORE_WRONG : is_stretch ? SCORE_EXACT : SCORE_UNDECIDED;
}

static enum score score_culprits(const struct scene *s, const struct answer *a)
{
    bool has_hidden = false;

    for (uint32_t i = 0; i < a->n; i++) {
        if (!is_culprit(s, a->revisions[i]))
            return SCORE_WRONG;
        has_hidden |= is_hidden(s, a->revisions[i]);
    }
    return a->n == s->setting->n_culprits && !has_hidden ? SCORE_EXACT : SCORE_UNDECIDED;
}

enum score scene_score(const struct scene *s, const struct answer *a)
{
    switch (a->kind) {
    case ANSWER_CULPRITS:
        return score_culprits(s, a);
    case ANSWER_RANGE:
        return score_range(s, a);
    case ANSWER_NOT_REPRODUCED:
        return scene_change(s, s->n) < least_effect ? SCORE_EXACT : SCORE_UNDECIDED;
    case ANSWER_UNDECIDED:
        break;
    }
    return SCORE_UNDECIDED;
}

static bool is_named(const struct answer *a, uint32_t revision)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->kind == ANSWER_CULPRITS && a->revisions[i] == revision)
            return true;
    return false;
}

struct beside scene_beside(const struct scene *s, const struct answer *a)
{
    const uint32_t beside[2] = {s->broken_from - 1, s->broken_to};
    struct beside out = {0};

    for (uint32_t i = 0; i < LEN(beside) && s->broken_to > s->broken_from; i++) {
        bool is_true = is_culprit(s, beside[i]); /* never good, which is 0 */
        out.is_culprit |= is_true;
        out.is_named |= is_named(a, beside[i]);
        out.is_wrong |= is_named(a, beside[i]) && !is_true;
    }
    return out;
}
