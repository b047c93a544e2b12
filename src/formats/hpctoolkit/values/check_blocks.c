/* Compare the values of one file with those of another, context by context: cct.db must be
 * the transpose of profile.db, and the summary the statistics of the threads.
 *
 * Workers compare; findings are reported in the order of contexts. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "formats/hpctoolkit/values/checks.h"
#include "model/contexts/transpose.h"

struct note {
    bool is_summary;
    uint32_t context;
    char text[160];
};

struct check_worker {
    struct cn_value_cursor cursor;
    struct cn_hpc_summary_check *summary; /* NULL: statistics are not checked */
    uint32_t next;                        /* the first context not compared yet */
    struct note notes[2 * CN_HPC_ERROR_MAX];
    size_t note_count;
    uint64_t cct_differ, summary_differ; /* contexts, those without a note included */
};

struct blocks_check {
    struct cn_hpc_check *c;
    struct cn_database *db;
    const struct cn_hpc_values *values;
    struct check_worker *workers;
    uint64_t cct_differ, summary_differ;
    struct note summary_notes[CN_HPC_WARNING_MAX];
    size_t summary_note_count;
    struct cn_zero_ids zero_ids;
};

CN_PRINTF(4, 5)
static void add_note(struct check_worker *self, bool is_summary, uint32_t context,
                     const char *fmt, ...)
{
    uint64_t *count = is_summary ? &self->summary_differ : &self->cct_differ;
    struct note *note = &self->notes[self->note_count];
    va_list args;

    if (++*count > CN_HPC_ERROR_MAX)
        return;
    self->note_count++;
    note->is_summary = is_summary;
    note->context = context;
    va_start(args, fmt);
    (void)vsnprintf(note->text, sizeof(note->text), fmt, args);
    va_end(args);
}

static bool same(const struct cn_value *a, const struct cn_value *b)
{
    return a->key == b->key && a->metric == b->metric &&
           memcmp(&a->value, &b->value, sizeof(a->value)) == 0;
}

/* Compare the values of a context in cct.db with its plane from profile.db. */
static bool compare_cct(struct blocks_check *c, struct check_worker *self,
                        uint32_t context, struct cn_value_batch plane,
                        struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;
    size_t at = 0;

    if (!cn_context_values(c->db, context, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM) {
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_value *value = &batch.values[i];

            if (cn_value_is_void(value, &c->zero_ids))
                continue;
            if (at == plane.count || !same(value, &plane.values[at])) {
                add_note(self, false, context,
                         "metric %u of profile %" PRIu32
                         " is %.17g, profile.db has another value or none",
                         value->metric, value->key, value->value);
                return true;
            }
            at++;
        }
    }
    if (step == CN_END && at < plane.count)
        add_note(self, false, context,
                 "metric %u of profile %" PRIu32 " is missing, profile.db has %.17g",
                 plane.values[at].metric, plane.values[at].key, plane.values[at].value);
    return step == CN_END;
}

static bool compare_summary(struct check_worker *self, uint32_t context,
                            struct cn_value_batch plane, struct cn_error *err)
{
    char text[CN_HPC_SUMMARY_TEXT_LEN];
    bool differs;

    if (!self->summary)
        return true;
    if (!cn_hpc_summary_check_context(self->summary, context, plane, &differs, text, err))
        return false;
    if (differs)
        add_note(self, true, context, "%s", text);
    return true;
}

static bool compare_one(struct blocks_check *c, struct check_worker *self,
                        uint32_t context, struct cn_value_batch plane,
                        struct cn_error *err)
{
    return (!c->values->has_cct || compare_cct(c, self, context, plane, err)) &&
           compare_summary(self, context, plane, err);
}

/* Compare contexts before `end`, for which no thread has a value. */
static bool compare_empty(struct blocks_check *c, struct check_worker *self, uint64_t end,
                          struct cn_error *err)
{
    const struct cn_value_batch nothing = {0};

    for (uint64_t i = self->next; i < end; i++)
        if (!compare_one(c, self, (uint32_t)i, nothing, err))
            return false;
    return true;
}

static bool begin(void *arg, unsigned worker, const struct cn_context_range *range,
                  struct cn_error *err)
{
    struct blocks_check *c = arg;
    struct check_worker *self = &c->workers[worker];

    (void)err;
    self->next = range->first;
    self->note_count = 0;
    self->cct_differ = self->summary_differ = 0;
    return true;
}

static bool on_context(void *arg, unsigned worker, uint32_t context,
                       struct cn_value_batch plane, struct cn_error *err)
{
    struct blocks_check *c = arg;
    struct check_worker *self = &c->workers[worker];

    if (!compare_empty(c, self, context, err) ||
        !compare_one(c, self, context, plane, err))
        return false;
    self->next = context + 1;
    return true;
}

/* Notes on the summary are about another file: report them when this one is done. */
static void report_notes(struct blocks_check *c, const struct check_worker *self)
{
    const struct cn_hpc_table *table = &c->values->cct.records;

    for (size_t i = 0; i < self->note_count; i++) {
        const struct note *note = &self->notes[i];

        if (!note->is_summary)
            cn_findings_error(&c->c->f, "transpose",
                              cn_hpc_table_off(table, note->context),
                              "context %" PRIu32 ": %s", note->context, note->text);
        else if (c->summary_note_count < CN_HPC_WARNING_MAX)
            c->summary_notes[c->summary_note_count++] = *note;
    }
}

static bool take(void *arg, unsigned worker, const struct cn_context_range *range,
                 struct cn_error *err)
{
    struct blocks_check *c = arg;
    struct check_worker *self = &c->workers[worker];

    if (!compare_empty(c, self, (uint64_t)range->last + 1, err))
        return false;
    report_notes(c, self);
    c->cct_differ += self->cct_differ;
    c->summary_differ += self->summary_differ;
    return true;
}

static bool run(struct blocks_check *c, unsigned worker_count, struct cn_error *err)
{
    const struct cn_transpose_options options = {
        .workers = worker_count,
        .what = "comparing cct.db with profile.db",
        .progress = c->c->progress,
    };
    const struct cn_transpose_sink sink = {
        .arg = c,
        .begin = begin,
        .context = on_context,
        .take = take,
    };

    return cn_transpose_run(c->db, &options, &sink, err);
}

static void report_summary(struct blocks_check *c)
{
    uint64_t off = cn_hpc_table_off(&c->values->profiles.records, 0);

    cn_findings_begin(&c->c->f, "profile.db");
    for (size_t i = 0; i < c->summary_note_count; i++)
        cn_findings_warn(&c->c->f, "summary-differs", off, "context %" PRIu32 ": %s",
                         c->summary_notes[i].context, c->summary_notes[i].text);
    if (c->summary_differ > c->summary_note_count)
        cn_findings_warn(&c->c->f, "summary-differs-total", off,
                         "the summary of %" PRIu64
                         " contexts differs from what the threads give",
                         c->summary_differ);
}

static void report_totals(struct blocks_check *c)
{
    if (c->cct_differ > CN_HPC_ERROR_MAX)
        cn_findings_error(&c->c->f, "transpose-total",
                          cn_hpc_table_off(&c->values->cct.records, 0),
                          "%" PRIu64 " contexts differ from the transpose of profile.db",
                          c->cct_differ);
    report_summary(c);
}

bool cn_hpc_check_values(struct cn_hpc_check *check, struct cn_database *db,
                         const struct cn_hpc_values *values, struct cn_error *err)
{
    unsigned worker_count = cn_pool_default_workers();
    struct blocks_check c = {
        .c = check,
        .db = db,
        .values = values,
        .workers = cn_alloc(worker_count, sizeof(*c.workers)),
    };
    struct cn_error damage = {0};
    bool ok = true;

    cn_zero_ids_init(&c.zero_ids, &db->metrics, false);
    cn_findings_begin(&check->f, "cct.db");
    for (unsigned i = 0; i < worker_count; i++)
        c.workers[i].summary = cn_hpc_summary_check_new(db);
    if (run(&c, worker_count, &damage)) {
        report_totals(&c);
    } else if (damage.kind == CN_ERR_INTERRUPTED) {
        *err = damage;
        ok = false;
    } else {
        cn_findings_error(&check->f, "values", 0, "%s", damage.text);
    }
    for (unsigned i = 0; i < worker_count; i++)
        cn_hpc_summary_check_free(c.workers[i].summary);
    free(c.workers);
    return ok;
}
