/* What the files say against each other, context by context: cct.db must be the
 * transpose of profile.db, and the summary what its statistics make of the
 * threads. */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/sparse/verify.h"
#include "formats/hpctoolkit/verify_summary.h"
#include "model/contexts/transpose.h"

/* What is wrong with the summary is about another file and waits until cct.db is
 * done. */
struct note {
    uint32_t context;
    char text[128];
};

struct comparison {
    struct cn_findings *f;
    struct cn_database *db;
    const struct cn_hpc_sparse *sparse;
    struct cn_value_cursor cursor;
    struct cn_verify_summary *summary; /* NULL: statistics cannot be checked */
    uint32_t next;                     /* the first context not compared yet */
    struct note notes[CN_HPC_WARNING_MAX];
    uint64_t note_count; /* those without room included */
};

static bool same(const struct cn_value *a, const struct cn_value *b)
{
    return a->key == b->key && a->metric == b->metric &&
           memcmp(&a->value, &b->value, sizeof(a->value)) == 0;
}

/* The values of a context in cct.db against its plane from profile.db. */
static bool compare_cct(struct comparison *c, uint32_t context,
                        struct cn_value_batch plane, struct cn_error *err)
{
    uint64_t off = cn_hpc_sparse_cct_off(&c->sparse->cct, context);
    struct cn_value_batch batch;
    enum cn_step step;
    size_t at = 0;

    if (!cn_context_values(c->db, context, &c->cursor, err))
        return false;
    while ((step = cn_values_next(&c->cursor, &batch, err)) == CN_ITEM) {
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_value *value = &batch.values[i];

            if (value->value == 0)
                continue;
            if (at == plane.count || !same(value, &plane.values[at])) {
                cn_findings_error(c->f, "transpose", off,
                                  "context %" PRIu32 ": metric %u of profile %" PRIu32
                                  " is %.17g, profile.db has another value or none",
                                  context, value->metric, value->key, value->value);
                return true;
            }
            at++;
        }
    }
    if (step == CN_END && at < plane.count)
        cn_findings_error(c->f, "transpose", off,
                          "context %" PRIu32 ": metric %u of profile %" PRIu32
                          " is missing, profile.db has %.17g",
                          context, plane.values[at].metric, plane.values[at].key,
                          plane.values[at].value);
    return step == CN_END;
}

static bool compare_summary(struct comparison *c, uint32_t context,
                            struct cn_value_batch plane, struct cn_error *err)
{
    struct note note = {.context = context};
    bool differs;

    if (!c->summary)
        return true;
    if (!cn_verify_summary_context(c->summary, context, plane, &differs, note.text,
                                   sizeof(note.text), err))
        return false;
    if (differs && c->note_count++ < CN_HPC_WARNING_MAX)
        c->notes[c->note_count - 1] = note;
    return true;
}

static bool compare_one(struct comparison *c, uint32_t context,
                        struct cn_value_batch plane, struct cn_error *err)
{
    return (!c->sparse->has_cct || compare_cct(c, context, plane, err)) &&
           compare_summary(c, context, plane, err);
}

/* Contexts before `end` for which no thread has a value. */
static bool compare_empty(struct comparison *c, uint64_t end, struct cn_error *err)
{
    const struct cn_value_batch nothing = {0};

    for (uint64_t i = c->next; i < end; i++)
        if (!compare_one(c, (uint32_t)i, nothing, err))
            return false;
    return true;
}

static bool on_context(void *arg, unsigned worker, uint32_t context,
                       struct cn_value_batch plane, struct cn_error *err)
{
    struct comparison *c = arg;

    (void)worker;
    if (!compare_empty(c, context, err) || !compare_one(c, context, plane, err))
        return false;
    c->next = context + 1;
    return true;
}

static bool compare_all(struct comparison *c, const struct cn_progress *progress,
                        struct cn_error *err)
{
    const struct cn_transpose_options options = {
        .workers = 1, /* so that findings come in the order of contexts */
        .what = "comparing cct.db with profile.db",
        .progress = progress,
    };
    const struct cn_transpose_sink sink = {.arg = c, .context = on_context};

    return cn_transpose_run(c->db, &options, &sink, err) &&
           compare_empty(c, c->db->context_limit, err);
}

static void report_summary(struct comparison *c)
{
    uint64_t off = cn_hpc_sparse_profiles_off(&c->sparse->profiles, 0);

    cn_findings_begin(c->f, cn_hpc_sparse_profile_kind.name);
    for (uint64_t i = 0; i < c->note_count && i < CN_HPC_WARNING_MAX; i++)
        cn_findings_warn(c->f, "summary-differs", off, "context %" PRIu32 ": %s",
                         c->notes[i].context, c->notes[i].text);
    if (c->note_count > CN_HPC_WARNING_MAX)
        cn_findings_warn(c->f, "summary-differs-total", off,
                         "the summary of %" PRIu64
                         " contexts differs from what the threads give",
                         c->note_count);
}

bool cn_hpc_sparse_verify_values(struct cn_findings *f, struct cn_database *db,
                                 const struct cn_hpc_sparse *sparse,
                                 const struct cn_progress *progress, struct cn_error *err)
{
    struct comparison c = {.f = f, .db = db, .sparse = sparse};
    struct cn_error damage = {0};
    bool ok = true;

    c.summary = cn_verify_summary_new(db);
    cn_findings_begin(f, cn_hpc_sparse_cct_kind.name);
    if (compare_all(&c, progress, &damage)) {
        report_summary(&c);
    } else if (damage.kind == CN_ERR_INTERRUPTED) {
        *err = damage;
        ok = false;
    } else {
        cn_findings_error(f, "values", 0, "%s", damage.text);
    }
    cn_verify_summary_free(c.summary);
    return ok;
}
