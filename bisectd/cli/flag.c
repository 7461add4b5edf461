/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flag.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/bisection.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS_MOST = 64, NAME_COLUMNS = 24, HELP_COLUMNS = 72 };

void options_init(struct options *o)
{
    *o = (struct options){
        .confidence = -1,
        .min_effect = -1,
        .workers = -1,
        .budget_runs = -1,
        .budget_ns = -1,
        .timeout_ns = -1,
        .build_timeout_ns = -1,
        .limit = -1,
        .commits = -1,
        .trials = -1,
        .culprits = -1,
        .stored = -1,
        .repeats = -1,
        .checks = -1,
        .jobs = -1,
        .build_cost = -1,
        .broken = -1,
    };
}

void options_fini(struct options *o)
{
    strings_fini(&o->build);
    strings_fini(&o->artifact);
    strings_fini(&o->claims);
    strings_fini(&o->where);
}

static enum err_code read_percent(const char *text, double *out, struct err *e)
{
    AUTO(buf_fini) struct buf digits = {0};
    size_t n = strlen(text);

    if (n > 0 && text[n - 1] == '%')
        n--;
    buf_add(&digits, text, n);
    return text_num(buf_str(&digits), out, e);
}

static enum err_code read_choice(const struct flag *f, const char *text, void *at, struct err *e)
{
    AUTO(buf_fini) struct buf all = {0};

    for (size_t i = 0; f->choices[i]; i++) {
        if (strcmp(text, f->choices[i]) == 0) {
            *(const char **)at = f->choices[i];
            return ERR_OK;
        }
        buf_printf(&all, "%s%s", i ? ", " : "", f->choices[i]);
    }
    return err_set(e, ERR_INVALID, "expected one of %s, got \"%s\"", buf_str(&all), text);
}

static enum err_code read_count(const struct flag *f, const char *text, void *at, struct err *e)
{
    int64_t count;

    if (text_int(text, f->low, f->high, &count, e))
        return err_set(e, ERR_INVALID, "expected a whole number from %lld to %lld, got \"%s\"",
                       (long long)f->low, (long long)f->high, text);
    *(int64_t *)at = count;
    return ERR_OK;
}

static enum err_code read_seed(const char *text, struct options *o, void *at, struct err *e)
{
    char *end = NULL;

    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || seed > REQUEST_MAX_SEED)
        return err_set(e, ERR_INVALID, "expected a whole number from 0 to 2^53 - 1, got \"%s\"",
                       text);
    *(uint64_t *)at = seed;
    o->has_seed = true;
    return ERR_OK;
}

static enum err_code read_probability(const char *text, void *at, struct err *e)
{
    bool is_percent = text[0] && text[strlen(text) - 1] == '%';
    double p = 0;

    enum err_code code = read_percent(text, &p, e);
    p = is_percent ? p / 100 : p;
    if (code || !(p > .5 && p < 1))
        return err_set(e, ERR_INVALID,
                       "expected a probability over .5 and under 1, such as .99, got \"%s\"", text);
    *(double *)at = p;
    return ERR_OK;
}

static enum err_code read_effect(const char *text, void *at, struct err *e)
{
    double percent = 0;

    if (read_percent(text, &percent, e) || percent < 0)
        return err_set(e, ERR_INVALID, "expected a percentage such as 2 or 2%%, got \"%s\"", text);
    *(double *)at = percent;
    return ERR_OK;
}

static enum err_code read_number(const struct flag *f, const char *text, void *at, struct err *e)
{
    double x = 0;

    if (text_num(text, &x, e) || x < (double)f->low || x > (double)f->high)
        return err_set(e, ERR_INVALID, "expected a number from %lld to %lld, got \"%s\"",
                       (long long)f->low, (long long)f->high, text);
    *(double *)at = x;
    return ERR_OK;
}

static enum err_code read_duration(const char *text, void *at, struct err *e)
{
    int64_t ns = 0;

    if (duration_parse(text, &ns, e) || ns <= 0)
        return err_set(e, ERR_INVALID, "expected a duration such as 90s, 5m or 2h, got \"%s\"",
                       text);
    *(int64_t *)at = ns;
    return ERR_OK;
}

static enum err_code read_value(const struct flag *f, const char *text, struct options *o,
                                struct err *e)
{
    void *at = (char *)o + f->offset;

    switch (f->type) {
    case FLAG_SWITCH:
        *(bool *)at = true;
        return ERR_OK;
    case FLAG_TEXT:
        *(const char **)at = text;
        return ERR_OK;
    case FLAG_LIST:
        strings_add(at, text);
        return ERR_OK;
    case FLAG_CHOICE:
        return read_choice(f, text, at, e);
    case FLAG_COUNT:
        return read_count(f, text, at, e);
    case FLAG_SEED:
        return read_seed(text, o, at, e);
    case FLAG_PROBABILITY:
        return read_probability(text, at, e);
    case FLAG_PERCENT:
        return read_effect(text, at, e);
    case FLAG_NUMBER:
        return read_number(f, text, at, e);
    case FLAG_DURATION:
        return read_duration(text, at, e);
    }
    return ERR_OK;
}

static enum err_code unknown_flag(const struct flag *flags, size_t n, const char *name,
                                  struct err *e)
{
    const char *names[FLAGS_MOST];
    size_t n_names = 0;

    for (size_t i = 0; i < n && n_names < FLAGS_MOST; i++)
        names[n_names++] = flags[i].name;
    err_set(e, ERR_INVALID, "unknown flag %s", name);
    const char *near = text_nearest(name, names, n_names);
    if (near)
        return err_hint(e, "Did you mean %s?", near);
    return err_hint(e, "--help lists the flags there are.");
}

static const struct flag *find_flag(const struct flag *flags, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(flags[i].name, name) == 0)
            return &flags[i];
    return NULL;
}

/* argv[*at] starts with '-'; moves *at on over a value that stands by itself. */
static enum err_code parse_flag(const struct flag *flags, size_t n, int argc,
                                const char *const *argv, int *at, struct options *o, struct err *e)
{
    AUTO(buf_fini) struct buf name = {0};
    const char *arg = argv[*at];
    const char *equals = strchr(arg, '=');

    if (strcmp(arg, "-h") == 0)
        arg = "--help";
    buf_add(&name, arg, equals ? (size_t)(equals - arg) : strlen(arg));
    const struct flag *f = find_flag(flags, n, buf_str(&name));
    if (!f)
        return unknown_flag(flags, n, buf_str(&name), e);
    if (f->type == FLAG_SWITCH && equals)
        return err_set(e, ERR_INVALID, "%s takes no value", f->name);
    const char *value = equals ? equals + 1 : NULL;
    if (f->type != FLAG_SWITCH && !value) {
        if (*at + 1 >= argc)
            return err_set(e, ERR_INVALID, "%s needs a value: %s %s", f->name, f->name, f->value);
        value = argv[++*at];
        /* A forgotten value would otherwise swallow the next flag. */
        if (find_flag(flags, n, value)) {
            err_set(e, ERR_INVALID, "%s needs a value, and %s is a flag", f->name, value);
            return err_hint(e, "Write %s=%s if that is what you mean.", f->name, value);
        }
    }
    if (read_value(f, value, o, e))
        return err_wrap(e, "%s", f->name);
    return ERR_OK;
}

enum err_code flags_parse(const struct flag *flags, size_t n, int argc, const char *const *argv,
                          struct options *o, struct err *e)
{
    bool is_over = false;

    for (int at = 0; at < argc; at++) {
        const char *arg = argv[at];
        if (!is_over && strcmp(arg, "--") == 0) {
            is_over = true;
            continue;
        }
        if (!is_over && arg[0] == '-' && arg[1]) {
            if (parse_flag(flags, n, argc, argv, &at, o, e))
                return e->code;
            continue;
        }
        if (o->n_words == OPTIONS_WORDS)
            return err_set(e, ERR_INVALID, "too many words: \"%s\"", arg);
        o->words[o->n_words++] = arg;
    }
    return ERR_OK;
}

static void help_text(const char *text, struct buf *out)
{
    size_t column = NAME_COLUMNS;

    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > NAME_COLUMNS && column + 1 + n > NAME_COLUMNS + HELP_COLUMNS) {
            buf_printf(out, "\n%*s", NAME_COLUMNS, "");
            column = NAME_COLUMNS;
        } else if (column > NAME_COLUMNS) {
            buf_addc(out, ' ');
            column++;
        }
        buf_add(out, text, n);
        column += n;
        text += n + strspn(text + n, " ");
    }
    buf_addc(out, '\n');
}

void flags_help(const struct flag *flags, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(buf_fini) struct buf name = {0};
        buf_printf(&name, "  %s%s%s", flags[i].name, flags[i].value ? " " : "",
                   flags[i].value ? flags[i].value : "");
        buf_adds(out, buf_str(&name));
        if (name.len + 2 > NAME_COLUMNS)
            buf_printf(out, "\n%*s", NAME_COLUMNS, "");
        else
            buf_printf(out, "%*s", (int)(NAME_COLUMNS - name.len), "");
        help_text(flags[i].help, out);
    }
}
