/* The tables of a database. */

#include <math.h>
#include <stdlib.h>

#include "analyze/timeline/spans.h"
#include "analyze/views/view.h"
#include "base/alloc.h"
#include "model/labels/context.h"
#include "sql/table.h"

enum { SAMPLES_PER_READ = 4096 };

/* Those of cn_contexts_table, which files have too, and whose code it is. */
enum {
    ID,
    PARENT,
    KIND,
    RELATION,
    NAME,
    MODULE,
    FILE_NAME,
    LINE,
    OFFSET,
    LANGUAGE,
    CODE
};

static const struct cn_table_shape contexts_shape = {
    .name = "contexts",
    .columns = {[ID] = {"id", CN_CELL_INTEGER},
                [PARENT] = {"parent", CN_CELL_INTEGER},
                [KIND] = {"kind", CN_CELL_TEXT},
                [RELATION] = {"relation", CN_CELL_TEXT},
                [NAME] = {"name", CN_CELL_TEXT},
                [MODULE] = {"module", CN_CELL_TEXT},
                [FILE_NAME] = {"file", CN_CELL_TEXT},
                [LINE] = {"line", CN_CELL_INTEGER},
                [OFFSET] = {"offset", CN_CELL_INTEGER},
                [LANGUAGE] = {"language", CN_CELL_TEXT},
                [CODE] = {"code", CN_CELL_TEXT}},
    .has_key = true,
};

struct context_scan {
    struct cn_sql_scan base;
    size_t next, end;                /* in the index */
    bool is_list;                    /* the children of one context */
    struct cn_context_cursor cursor; /* of these */
    uint64_t seen;                   /* of them, limited by what the file can contain */
    uint32_t parent;
    struct cn_context context;
    struct cn_text name;
    bool is_located;
    struct cn_export_location location;
};

static bool build_index(struct cn_sql_data *data, struct cn_error *err)
{
    struct cn_error damage = {0};

    if (data->has_contexts)
        return true;
    if (!cn_context_index_build(&data->contexts, data->db, &damage))
        cn_sql_data_damage(data, &damage);
    data->has_contexts = true;
    return cn_sql_check_memory(data->sql,
                               data->contexts.capacity * sizeof(*data->contexts.nodes) +
                                   data->contexts.id_limit *
                                       sizeof(*data->contexts.node_of_id),
                               err);
}

/* The children of a context, or the entry points. */
static bool open_list(struct cn_sql_data *data, struct context_scan *scan,
                      uint64_t parent, struct cn_error *err)
{
    uint32_t node = CN_NONE;
    struct cn_context context;

    if (parent > 0 && parent < CN_NONE)
        node = cn_context_index_find(&data->contexts, (uint32_t)parent);
    if (parent > 0 && node == CN_NONE)
        return true; /* next and end are 0: no rows */
    if (parent > 0 &&
        !cn_context_at(data->db, data->contexts.nodes[node].at, &context, err))
        return false;
    scan->is_list = true;
    scan->parent = (uint32_t)parent;
    return cn_context_children(data->db, parent > 0 ? &context : NULL, &scan->cursor,
                               err);
}

static bool choose_contexts(struct cn_sql_data *data, struct context_scan *scan,
                            const struct cn_sql_ask *ask, struct cn_error *err)
{
    int64_t id = ask->keys[0].first, parent = ask->keys[1].first;

    if (!build_index(data, err))
        return false;
    if (cn_sql_range_is_one(ask->keys[0])) {
        scan->next = id > 0 && id < CN_NONE
                         ? cn_context_index_find(&data->contexts, (uint32_t)id)
                         : CN_NONE;
        scan->end = scan->next != CN_NONE ? scan->next + 1 : scan->next;
        return true;
    }
    if (cn_sql_range_is_one(ask->keys[1]))
        return parent < 0 || open_list(data, scan, (uint64_t)parent, err);
    scan->end = data->contexts.count;
    return true;
}

static bool contexts_open(struct cn_sql_data *data, const struct cn_sql_table *table,
                          const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                          struct cn_error *err)
{
    struct context_scan *scan = cn_alloc(1, sizeof(*scan));

    (void)table;
    if (!choose_contexts(data, scan, ask, err)) {
        free(scan);
        return false;
    }
    *out = &scan->base;
    return true;
}

static enum cn_step next_of_list(struct context_scan *scan, struct cn_error *err)
{
    struct cn_database *db = scan->base.data->db;

    if (++scan->seen > db->context_weight + 1)
        return cn_fail(err, CN_ERR_FORMAT, "lists of contexts overlap or form a cycle");
    return cn_context_next(db, &scan->cursor, &scan->context, err);
}

static enum cn_step contexts_next(struct cn_sql_scan *base, struct cn_error *err)
{
    struct context_scan *scan = (struct context_scan *)base;
    const struct cn_context_index *index = &base->data->contexts;

    scan->is_located = false;
    if (scan->is_list)
        return next_of_list(scan, err);
    if (scan->next >= scan->end)
        return CN_END;
    const struct cn_context_node *node = &index->nodes[scan->next++];
    scan->parent = node->parent == CN_NONE ? 0 : index->nodes[node->parent].id;
    return cn_context_at(base->data->db, node->at, &scan->context, err) ? CN_ITEM
                                                                        : CN_FAIL;
}

/* Without codes, whose functions cannot be read, the columns are null. */
static const struct cn_code_class *code_of(struct context_scan *scan)
{
    struct cn_sql_data *data = scan->base.data;
    struct cn_error damage = {0};

    if (!data->has_codes && !data->is_without_codes) {
        data->has_codes = cn_codes_build(&data->codes, data->db, NULL, &damage);
        data->is_without_codes = !data->has_codes;
        if (!data->has_codes)
            cn_sql_data_damage(data, &damage);
    }
    return cn_context_code(data->has_codes ? &data->codes : NULL, &scan->context);
}

static bool locate(struct context_scan *scan, struct cn_error *err)
{
    if (!scan->is_located && !cn_export_locate(scan->base.data->db, &scan->context, false,
                                               &scan->location, err))
        return false;
    scan->is_located = true;
    return true;
}

static bool contexts_cell(struct cn_sql_scan *base, unsigned column,
                          struct cn_sql_cell *out, struct cn_error *err)
{
    struct context_scan *scan = (struct context_scan *)base;
    const struct cn_code_class *code = column >= LANGUAGE ? code_of(scan) : NULL;

    if (column >= MODULE && column <= OFFSET && !locate(scan, err))
        return false;
    switch (column) {
    case ID:
        cn_sql_cell_integer(out, scan->context.id);
        break;
    case PARENT:
        cn_sql_cell_integer(out, scan->parent);
        break;
    case KIND:
        cn_sql_cell_text(out, cn_tables_kind_name(scan->context.kind), true);
        break;
    case RELATION:
        cn_sql_cell_text(out, cn_tables_relation_name(scan->context.relation), true);
        break;
    case NAME:
        cn_text_clear(&scan->name);
        if (!cn_label_context(base->data->db, &scan->context, &scan->name, err))
            return false;
        cn_sql_cell_text(out, cn_text_str(&scan->name), false);
        break;
    case MODULE:
        cn_sql_cell_text(out, scan->location.module, true);
        break;
    case FILE_NAME:
        cn_sql_cell_text(out, scan->location.file, true);
        break;
    case LINE:
        cn_sql_cell_integer(out, scan->location.line);
        break;
    case OFFSET:
        cn_sql_cell_integer(out, scan->location.offset);
        break;
    case LANGUAGE:
        cn_sql_cell_text(out, code ? cn_code_language_name(code->language) : NULL, true);
        break;
    default:
        cn_sql_cell_text(out, code ? cn_code_kind_name(code->kind) : NULL, true);
        break;
    }
    return true;
}

static void contexts_close(struct cn_sql_scan *base)
{
    struct context_scan *scan = (struct context_scan *)base;

    cn_text_done(&scan->name);
    free(scan);
}

static uint64_t contexts_count(struct cn_sql_data *data)
{
    return data->db->context_limit;
}

/* Values of threads, or of summaries, whose metrics have other ids. */
struct value_scan {
    struct cn_sql_scan base;
    bool of_summaries, is_open;
    uint64_t next, last; /* profiles */
    uint32_t first_context, last_context;
    struct cn_sql_range metrics;
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    size_t at; /* 1 + the index of the value in the batch */
};

static bool values_open(struct cn_sql_data *data, const struct cn_sql_table *table,
                        const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                        struct cn_error *err)
{
    struct value_scan *scan = cn_alloc(1, sizeof(*scan));
    uint64_t first, last;

    (void)data;
    (void)err;
    scan->of_summaries = table->shape == &cn_sums_table;
    cn_sql_range_u64(ask->keys[0], UINT32_MAX, &scan->next, &scan->last);
    cn_sql_range_u64(ask->keys[1], UINT32_MAX, &first, &last);
    if (first > last)
        scan->next = scan->last + 1;
    scan->first_context = (uint32_t)first;
    scan->last_context = (uint32_t)last;
    scan->metrics = ask->keys[2];
    *out = &scan->base;
    return true;
}

/* Open the next profile of the right kind. */
static enum cn_step open_profile(struct value_scan *scan, struct cn_error *err)
{
    struct cn_database *db = scan->base.data->db;

    for (; scan->next <= scan->last && scan->next < db->profile_count; scan->next++) {
        struct cn_profile profile;

        if (!cn_database_profile(db, (uint32_t)scan->next, &profile, err))
            return CN_FAIL;
        if (profile.is_summary != scan->of_summaries)
            continue;
        cn_database_forget(db);
        scan->is_open = true;
        return cn_profile_values(db, (uint32_t)scan->next, scan->first_context,
                                 scan->last_context, &scan->cursor, err)
                   ? CN_ITEM
                   : CN_FAIL;
    }
    return CN_END;
}

static enum cn_step next_batch(struct value_scan *scan, struct cn_error *err)
{
    for (;;) {
        enum cn_step step;

        if (!cn_sql_check(scan->base.data->sql, err))
            return CN_FAIL;
        step = scan->is_open ? CN_ITEM : open_profile(scan, err);
        if (step == CN_ITEM)
            step = cn_values_next(&scan->cursor, &scan->batch, err);
        else
            return step;
        if (step != CN_END)
            return step;
        scan->is_open = false;
        scan->next++;
    }
}

static enum cn_step values_next(struct cn_sql_scan *base, struct cn_error *err)
{
    struct value_scan *scan = (struct value_scan *)base;

    for (;;) {
        if (scan->at >= scan->batch.count) {
            enum cn_step step = next_batch(scan, err);

            if (step != CN_ITEM)
                return step;
            scan->at = 0;
        }
        if (cn_sql_range_has(scan->metrics, scan->batch.values[scan->at++].metric))
            return CN_ITEM;
    }
}

static bool values_cell(struct cn_sql_scan *base, unsigned column,
                        struct cn_sql_cell *out, struct cn_error *err)
{
    const struct value_scan *scan = (const struct value_scan *)base;
    const struct cn_value *value = &scan->batch.values[scan->at - 1];

    (void)err;
    if (column == 0)
        cn_sql_cell_integer(out, scan->next);
    else if (column == 1)
        cn_sql_cell_integer(out, value->key);
    else if (column == 2)
        cn_sql_cell_integer(out, value->metric);
    else /* as in cairn convert, what is no number is unknown */
        *out = (struct cn_sql_cell){.kind = isfinite(value->value) ? CN_SQL_REAL
                                                                   : CN_SQL_NULL,
                                    .real = value->value};
    return true;
}

static uint64_t values_count(struct cn_sql_data *data)
{
    return (uint64_t)data->db->context_limit * data->db->profile_count;
}

struct sample_scan {
    struct cn_sql_scan base;
    uint64_t profile, last_profile;
    uint64_t first_ns, last_ns;
    bool is_open;
    struct cn_timeline timeline;
    uint64_t next; /* sample to read */
    size_t at, count;
    struct cn_sample samples[SAMPLES_PER_READ];
};

static bool samples_open(struct cn_sql_data *data, const struct cn_sql_table *table,
                         const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                         struct cn_error *err)
{
    struct sample_scan *scan = cn_alloc(1, sizeof(*scan));

    (void)table;
    (void)err;
    cn_sql_range_u64(ask->keys[0], UINT32_MAX, &scan->profile, &scan->last_profile);
    cn_sql_range_u64(ask->keys[1], UINT64_MAX, &scan->first_ns, &scan->last_ns);
    scan->profile = scan->profile > 0 ? scan->profile : 1;
    if (!data->db->has_timelines || scan->first_ns > scan->last_ns)
        scan->last_profile = 0;
    *out = &scan->base;
    return true;
}

/* Read the next samples of the thread. CN_END: there are no more in the time range. */
static enum cn_step read_samples(struct sample_scan *scan, struct cn_error *err)
{
    struct cn_database *db = scan->base.data->db;

    if (!scan->is_open &&
        (!cn_timeline_open(db, (uint32_t)scan->profile, &scan->timeline, err) ||
         !cn_timeline_find(db, &scan->timeline, scan->first_ns, &scan->next, err)))
        return CN_FAIL;
    if (scan->is_open && scan->count > 0 &&
        scan->samples[scan->count - 1].time_ns > scan->last_ns)
        return CN_END;
    scan->is_open = true;
    uint64_t left = scan->timeline.count - scan->next;
    scan->at = 0;
    scan->count = left < SAMPLES_PER_READ ? (size_t)left : SAMPLES_PER_READ;
    if (scan->timeline.count == 0 || scan->count == 0)
        return CN_END;
    if (!cn_timeline_read(db, &scan->timeline, scan->next, scan->count, scan->samples,
                          err))
        return CN_FAIL;
    scan->next += scan->count;
    return CN_ITEM;
}

static enum cn_step samples_next(struct cn_sql_scan *base, struct cn_error *err)
{
    struct sample_scan *scan = (struct sample_scan *)base;

    while (scan->profile <= scan->last_profile &&
           scan->profile < base->data->db->profile_count) {
        enum cn_step step = CN_ITEM;

        if (scan->at < scan->count) {
            scan->at++;
            return CN_ITEM;
        }
        if (!cn_sql_check(base->data->sql, err))
            return CN_FAIL;
        step = read_samples(scan, err);
        if (step == CN_FAIL)
            return step;
        if (step == CN_END) {
            scan->is_open = false;
            scan->at = scan->count = 0;
            scan->profile++;
            cn_database_forget(base->data->db);
        }
    }
    return CN_END;
}

static bool samples_cell(struct cn_sql_scan *base, unsigned column,
                         struct cn_sql_cell *out, struct cn_error *err)
{
    const struct sample_scan *scan = (const struct sample_scan *)base;
    const struct cn_sample *sample = &scan->samples[scan->at - 1];

    (void)err;
    cn_sql_cell_integer(out, column == 0   ? scan->profile
                             : column == 1 ? sample->time_ns
                                           : sample->context);
    return true;
}

static const struct cn_sql_table metrics = {.shape = &cn_metrics_table,
                                            .key_count = 1,
                                            .add = cn_tables_add_metrics,
                                            CN_SQL_IN_MEMORY};
static const struct cn_sql_table statistics = {.shape = &cn_statistics_table,
                                               .key_count = 1,
                                               .add = cn_tables_add_statistics,
                                               CN_SQL_IN_MEMORY};
static const struct cn_sql_table threads = {.shape = &cn_threads_table,
                                            .key_count = 1,
                                            .add = cn_tables_add_threads,
                                            CN_SQL_IN_MEMORY};
static const struct cn_sql_table identities = {
    .shape = &cn_identities_table, .add = cn_tables_add_identities, CN_SQL_IN_MEMORY};
static const struct cn_sql_table contexts = {
    .shape = &contexts_shape,
    .key_count = 2,
    .keys = {ID, PARENT},
    .text_key = CN_SQL_NO_COLUMN,
    .row_count = contexts_count,
    .open = contexts_open,
    .next = contexts_next,
    .cell = contexts_cell,
    .close = contexts_close,
};
#define OF_VALUES                                                        \
    .key_count = 3, .keys = {0, 1, 2}, .text_key = CN_SQL_NO_COLUMN,     \
    .row_count = values_count, .open = values_open, .next = values_next, \
    .cell = values_cell, .close = cn_sql_scan_free
static const struct cn_sql_table values = {.shape = &cn_values_table, OF_VALUES};
static const struct cn_sql_table sums = {.shape = &cn_sums_table, OF_VALUES};
static const struct cn_sql_table samples = {
    .name = "samples",
    .shape = &cn_samples_table,
    .key_count = 2,
    .keys = {0, 1},
    .text_key = CN_SQL_NO_COLUMN,
    .row_count = values_count,
    .open = samples_open,
    .next = samples_next,
    .cell = samples_cell,
    .close = cn_sql_scan_free,
};

static const struct cn_sql_table *const tables[] = {
    &metrics,          &statistics, &threads,      &identities,      &contexts,
    &values,           &sums,       &samples,      &cn_sql_states,   &cn_sql_waits,
    &cn_sql_mpi_waits, &cn_sql_io,  &cn_sql_locks, &cn_sql_launches, NULL};
_Static_assert(sizeof(tables) / sizeof(tables[0]) <= CN_SQL_TABLES_MAX + 1,
               "each has a place in struct cn_sql_data");
static const struct cn_sql_view views[] = {
    {"costs", CN_TABLES_COSTS},
    {"traces", "SELECT * FROM samples"}, /* the name in cairn convert --to sqlite */
    {0},
};
const struct cn_sql_tables cn_sql_database_tables = {tables, views};
