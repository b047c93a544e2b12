/* The tables of a database. */

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/write/tables/tables.h"
#include "model/contexts/walk.h"
#include "model/labels/context.h"

enum { SAMPLES_PER_READ = 4096 };

const struct cn_table_shape cn_metrics_table = {
    .name = "metrics",
    .columns = {{"id", CN_CELL_INTEGER}, {"name", CN_CELL_TEXT}, {"scope", CN_CELL_TEXT}},
    .has_key = true,
};

const struct cn_table_shape cn_statistics_table = {
    .name = "statistics",
    .columns = {{"id", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"scope", CN_CELL_TEXT},
                {"formula", CN_CELL_TEXT},
                {"combine", CN_CELL_TEXT}},
    .has_key = true,
};

const struct cn_table_shape cn_threads_table = {
    .name = "threads",
    .columns = {{"id", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"is_summary", CN_CELL_INTEGER}},
    .has_key = true,
};

const struct cn_table_shape cn_identities_table = {
    .name = "identities",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"kind", CN_CELL_TEXT},
                {"logical", CN_CELL_INTEGER},
                {"physical", CN_CELL_INTEGER}},
    .indexes = "thread",
};

const struct cn_table_shape cn_contexts_table = {
    .name = "contexts",
    .columns = {{"id", CN_CELL_INTEGER},
                {"parent", CN_CELL_INTEGER},
                {"kind", CN_CELL_TEXT},
                {"relation", CN_CELL_TEXT},
                {"name", CN_CELL_TEXT},
                {"module", CN_CELL_TEXT},
                {"file", CN_CELL_TEXT},
                {"line", CN_CELL_INTEGER},
                {"offset", CN_CELL_INTEGER}},
    .has_key = true,
    .indexes = "parent;name",
};

const struct cn_table_shape cn_values_table = {
    .name = "values",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"context", CN_CELL_INTEGER},
                {"metric", CN_CELL_INTEGER},
                {"value", CN_CELL_REAL}},
    .indexes = "thread,context,metric;context,metric",
};

const struct cn_table_shape cn_sums_table = {
    .name = "sums",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"context", CN_CELL_INTEGER},
                {"statistic", CN_CELL_INTEGER},
                {"value", CN_CELL_REAL}},
    .indexes = "context,statistic",
};

const struct cn_table_shape cn_samples_table = {
    .name = "traces",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"time_ns", CN_CELL_INTEGER},
                {"context", CN_CELL_INTEGER}},
    .indexes = "thread,time_ns;context",
};

bool cn_tables_add_metrics(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_metrics *metrics = &rows->x->db->metrics;
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &cn_metrics_table);
    for (size_t i = 0; i < metrics->count; i++)
        for (size_t k = 0; k < metrics->list[i].instance_count; k++) {
            const struct cn_scope_instance *instance = &metrics->list[i].instances[k];

            cn_rows_integer(&table, instance->prop_id);
            cn_rows_text(&table, metrics->list[i].name);
            cn_rows_text(&table, metrics->scopes[instance->scope].name);
            cn_rows_row(&table);
        }
    cn_rows_end(&table);
    (void)err;
    return true;
}

bool cn_tables_add_statistics(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_metrics *metrics = &rows->x->db->metrics;
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &cn_statistics_table);
    for (size_t i = 0; i < metrics->count; i++)
        for (size_t k = 0; k < metrics->list[i].statistic_count; k++) {
            const struct cn_statistic *statistic = &metrics->list[i].statistics[k];

            cn_rows_integer(&table, statistic->stat_id);
            cn_rows_text(&table, metrics->list[i].name);
            cn_rows_text(&table, metrics->scopes[statistic->scope].name);
            cn_rows_text(&table, statistic->formula);
            cn_rows_text(&table, cn_combine_name(statistic->combine));
            cn_rows_row(&table);
        }
    cn_rows_end(&table);
    (void)err;
    return true;
}

bool cn_tables_add_threads(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_database *db = rows->x->db;
    struct cn_rows_table table;
    struct cn_text name = {0};
    bool ok = true;

    cn_rows_begin(&table, rows, &cn_threads_table);
    for (uint32_t i = 0; i < db->profile_count && ok; i++) {
        struct cn_profile profile;

        ok = cn_database_profile(db, i, &profile, err);
        if (!ok)
            break;
        cn_text_clear(&name);
        cn_identity_print(&profile.identity, &db->kinds, &name);
        cn_rows_integer(&table, i);
        cn_rows_text(&table, i == 0 ? "summary" : cn_text_str(&name));
        cn_rows_integer(&table, profile.is_summary);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    cn_text_done(&name);
    return ok;
}

bool cn_tables_add_identities(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_database *db = rows->x->db;
    struct cn_rows_table table;
    bool ok = true;

    cn_rows_begin(&table, rows, &cn_identities_table);
    for (uint32_t i = 0; i < db->profile_count && ok; i++) {
        struct cn_profile profile;

        ok = cn_database_profile(db, i, &profile, err);
        for (size_t k = 0; ok && k < profile.identity.count; k++) {
            const struct cn_identity *id = &profile.identity.ids[k];

            cn_rows_integer(&table, i);
            cn_rows_text(&table,
                         id->kind < db->kinds.count ? db->kinds.list[id->kind] : "");
            cn_rows_integer(&table, id->logical);
            cn_rows_integer(&table, id->physical);
            cn_rows_row(&table);
        }
    }
    cn_rows_end(&table);
    return ok;
}

const char *cn_tables_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [CN_CONTEXT_FUNCTION] = "function", [CN_CONTEXT_LOOP] = "loop",
        [CN_CONTEXT_LINE] = "line",         [CN_CONTEXT_INSTRUCTION] = "instruction",
        [CN_CONTEXT_ENTRY] = "entry",
    };

    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

const char *cn_tables_relation_name(unsigned relation)
{
    static const char *const names[] = {
        [CN_LEXICAL] = "lexical", [CN_CALL] = "call", [CN_INLINED_CALL] = "inlined call"};

    return relation < sizeof(names) / sizeof(names[0]) ? names[relation] : "unknown";
}

static bool add_context(struct cn_rows_table *table, const struct cn_walk *walk,
                        const struct cn_context *context, struct cn_text *name,
                        struct cn_error *err)
{
    struct cn_export_location location;

    cn_text_clear(name);
    if (!cn_label_context(walk->db, context, name, err) ||
        !cn_export_locate(walk->db, context, false, &location, err))
        return false;
    cn_rows_integer(table, context->id);
    cn_rows_integer(table, walk->depth > 1 ? cn_walk_path(walk, walk->depth - 2)->id : 0);
    cn_rows_text(table, cn_tables_kind_name(context->kind));
    cn_rows_text(table, cn_tables_relation_name(context->relation));
    cn_rows_text(table, cn_text_str(name));
    cn_rows_text(table, location.module);
    cn_rows_text(table, location.file);
    cn_rows_integer(table, location.line);
    cn_rows_integer(table, location.offset);
    cn_rows_row(table);
    return true;
}

static bool add_contexts(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_rows_table table;
    struct cn_walk walk;
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step = CN_FAIL;
    struct cn_text name = {0};
    bool ok = cn_walk_begin(&walk, rows->x->db, err);

    cn_rows_begin(&table, rows, &cn_contexts_table);
    while (ok && rows->ok &&
           (step = cn_walk_next(&walk, &event, &context, err)) == CN_ITEM)
        if (event == CN_WALK_ENTER)
            ok = add_context(&table, &walk, context, &name, err);
    cn_rows_end(&table);
    cn_walk_done(&walk);
    cn_text_done(&name);
    return ok && (step != CN_FAIL || !rows->ok);
}

static bool add_plane(struct cn_rows_table *table, uint32_t profile,
                      struct cn_value_cursor *cursor, struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(table->rows->x->db, profile, 0, UINT32_MAX, cursor, err))
        return false;
    while ((step = cn_values_next(cursor, &batch, err)) == CN_ITEM && table->rows->ok)
        for (size_t i = 0; i < batch.count; i++) {
            cn_rows_integer(table, profile);
            cn_rows_integer(table, batch.values[i].key);
            cn_rows_integer(table, batch.values[i].metric);
            cn_rows_real(table, batch.values[i].value);
            cn_rows_row(table);
        }
    return step != CN_FAIL;
}

/* The values of threads, or those of summaries, whose metrics have other ids. */
static bool add_values(struct cn_table_rows *rows, bool of_summaries,
                       struct cn_error *err)
{
    struct cn_database *db = rows->x->db;
    struct cn_value_cursor *cursor = cn_alloc(1, sizeof(*cursor));
    struct cn_rows_table table;
    bool ok = true;

    cn_rows_begin(&table, rows, of_summaries ? &cn_sums_table : &cn_values_table);
    for (uint32_t i = 0; i < db->profile_count && ok && rows->ok; i++) {
        struct cn_profile profile;

        ok = cn_database_profile(db, i, &profile, err) &&
             (profile.is_summary != of_summaries || add_plane(&table, i, cursor, err));
        cn_database_forget(db);
    }
    cn_rows_end(&table);
    free(cursor);
    return ok;
}

static bool add_timeline(struct cn_rows_table *table, uint32_t profile,
                         struct cn_sample *samples, struct cn_error *err)
{
    struct cn_database *db = table->rows->x->db;
    struct cn_timeline timeline;

    if (!cn_timeline_open(db, profile, &timeline, err))
        return false;
    for (uint64_t at = 0; at < timeline.count && table->rows->ok;
         at += SAMPLES_PER_READ) {
        uint64_t left = timeline.count - at;
        size_t count = left < SAMPLES_PER_READ ? (size_t)left : SAMPLES_PER_READ;

        if (!cn_timeline_read(db, &timeline, at, count, samples, err))
            return false;
        for (size_t i = 0; i < count; i++) {
            cn_rows_integer(table, profile);
            cn_rows_integer(table, samples[i].time_ns);
            cn_rows_integer(table, samples[i].context);
            cn_rows_row(table);
        }
    }
    return true;
}

static bool add_traces(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_database *db = rows->x->db;
    struct cn_sample *samples = cn_alloc(SAMPLES_PER_READ, sizeof(*samples));
    struct cn_rows_table table;
    bool ok = true;

    cn_rows_begin(&table, rows, &cn_samples_table);
    for (uint32_t i = 1; i < db->profile_count && ok && db->has_timelines; i++)
        ok = rows->x->options->without_timelines || add_timeline(&table, i, samples, err);
    cn_rows_end(&table);
    free(samples);
    return ok;
}

bool cn_tables_of_database(struct cn_table_rows *rows, struct cn_error *err)
{
    return cn_tables_add_metrics(rows, err) && cn_tables_add_statistics(rows, err) &&
           cn_tables_add_threads(rows, err) && cn_tables_add_identities(rows, err) &&
           add_contexts(rows, err) && add_values(rows, false, err) &&
           add_values(rows, true, err) && add_traces(rows, err);
}
