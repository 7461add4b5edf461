/* SPDX-License-Identifier: Apache-2.0 */
/* First byte: which noun, '0' the first. Rest: its JSON. What is accepted is written out, and what was written is
 * accepted again and written the same. */
#include "fuzz/fuzz.h"
#include "model/bisection.h"
#include "model/explanation.h"
#include "model/inspection.h"
#include "model/metric.h"
#include "model/project.h"
#include "model/revision.h"
#include "model/task.h"

/* clang-format off */
#define NOUN(name)                                                                      \
    static enum err_code read_##name(const json *v, json **out, struct err *e)          \
    {                                                                                   \
        AUTO(name##_free) struct name *x = NULL;                                        \
        if (name##_from_json(v, &x, e))                                                 \
            return ERR_INVALID;                                                         \
        *out = name##_to_json(x);                                                       \
        return ERR_OK;                                                                  \
    }
/* clang-format on */
NOUN(metric)
NOUN(project)
NOUN(range)
NOUN(request)
NOUN(task_spec)
NOUN(lease)
NOUN(task_result)
NOUN(verdict)
NOUN(inspection)
NOUN(explanation)

typedef enum err_code read_fn(const json *v, json **out, struct err *e);
static read_fn *const nouns[] = {read_metric,     read_project,    read_range, read_request,
                                 read_task_spec,  read_lease,      read_task_result,
                                 read_verdict,    read_inspection, read_explanation};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(json_free) json *v = NULL;
    AUTO(json_free) json *once = NULL;
    AUTO(json_free) json *twice = NULL;
    AUTO(buf_fini) struct buf first = {0};
    AUTO(buf_fini) struct buf second = {0};
    struct err e = {0};

    if (n == 0 || json_parse((const char *)bytes + 1, n - 1, &v, NULL))
        return 0;
    read_fn *read = nouns[(uint8_t)(bytes[0] - '0') % LEN(nouns)];
    if (read(v, &once, &e)) {
        assert(e.code != ERR_OK && e.text[0]);
        return 0;
    }
    json_dump(once, JSON_COMPACT, &first);
    assert(read(once, &twice, &e) == ERR_OK);
    json_dump(twice, JSON_COMPACT, &second);
    assert(strcmp(buf_str(&first), buf_str(&second)) == 0);
    return 0;
}
