#include "formats/hpctoolkit/xml/legacy/legacy.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/search.h"
#include "base/sort.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/legacy/threads.h"
#include "formats/hpctoolkit/xml/legacy_format.h"
#include "formats/hpctoolkit/xml/read/database.h"

/* The column of a metric in the matrices of threads. */
struct legacy_column {
    uint16_t prop_id;
    uint64_t number;
};

struct database {
    struct cn_hpc_xml_database xml; /* first: operations receive a pointer to it */
    struct cn_hpc_legacy_maps maps;
    struct cn_hpc_legacy_threads threads;
    struct legacy_column *columns; /* sorted by prop_id */
    size_t column_count;
    struct cn_value *summary; /* sorted by context and metric */
    size_t summary_count, summary_capacity;
    uint32_t summary_context_count;
    struct cn_map sample_ids; /* -> contexts */
    uint32_t unknown_context; /* of samples whose context is not in the tree */
    uint64_t tick_ns;
    struct cn_error trace_damage; /* of an unreadable experiment.mt */
};

static struct database *self_of(struct cn_database *db)
{
    return (struct database *)db;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    const struct database *self = self_of(db);

    (void)err;
    *out = (struct cn_profile){.is_summary = index == 0};
    if (index == 0) {
        out->value_count = self->summary_count;
        out->context_count = self->summary_context_count;
        return true;
    }
    out->identity = self->threads.list[index - 1].identity;
    out->value_count = self->threads.list[index - 1].value_count;
    out->context_count = self->threads.list[index - 1].context_count;
    return true;
}

/* Row 0 is that of the root, context 0 in the model; no context has the id 1. */
static uint64_t row_of(uint32_t context)
{
    return context == 0 ? 0 : context - UINT64_C(1);
}

static uint32_t context_of(uint64_t row)
{
    return row == 0 ? 0 : (uint32_t)row + 1;
}

static bool is_below(const void *values, uint64_t index, uint64_t context)
{
    return ((const struct cn_value *)values)[index].key < context;
}

static bool plane_begin(struct cn_hpc_xml_database *xml, struct cn_value_cursor *cursor,
                        struct cn_error *err)
{
    const struct database *self = self_of(&xml->database.base);

    (void)err;
    cursor->index_at = 0;
    if (cursor->plane == CN_PLANE_OF_CONTEXT)
        cursor->at = 0;
    else if (cursor->owner == 0)
        cursor->at =
            cn_search(0, self->summary_count, is_below, self->summary, cursor->first_key);
    else
        cursor->at =
            cursor->first_key == CN_HPC_LEGACY_ROOT_ID ? 1 : row_of(cursor->first_key);
    return true;
}

static size_t next_of_summary(const struct database *self, struct cn_value_cursor *cursor)
{
    size_t count = 0;

    for (; count < CN_VALUE_BATCH && cursor->at < self->summary_count &&
           self->summary[cursor->at].key <= cursor->last_key;
         cursor->at++)
        cursor->batch[count++] = self->summary[cursor->at];
    return count;
}

static size_t next_of_thread(const struct database *self, struct cn_value_cursor *cursor)
{
    const struct cn_hpc_legacy_thread *thread = &self->threads.list[cursor->owner - 1];
    size_t count = 0;

    for (; cursor->at < thread->row_count && context_of(cursor->at) <= cursor->last_key;
         cursor->at++) {
        for (; cursor->index_at < self->column_count; cursor->index_at++) {
            const struct legacy_column *column = &self->columns[cursor->index_at];
            double value =
                cn_hpc_legacy_threads_value(thread, cursor->at, column->number);

            if (value == 0)
                continue;
            if (count == CN_VALUE_BATCH)
                return count;
            cursor->batch[count++] =
                (struct cn_value){value, context_of(cursor->at), column->prop_id};
        }
        cursor->index_at = 0;
    }
    return count;
}

static size_t next_of_context(const struct database *self, struct cn_value_cursor *cursor)
{
    size_t count = 0;

    if (cursor->owner == CN_HPC_LEGACY_ROOT_ID)
        return 0;
    for (; cursor->index_at < self->column_count; cursor->index_at++) {
        const struct legacy_column *column = &self->columns[cursor->index_at];

        for (; cursor->at < self->threads.count; cursor->at++) {
            double value = cn_hpc_legacy_threads_value(
                &self->threads.list[cursor->at], row_of(cursor->owner), column->number);

            if (value == 0)
                continue;
            if (count == CN_VALUE_BATCH)
                return count;
            cursor->batch[count++] =
                (struct cn_value){value, (uint32_t)cursor->at + 1, column->prop_id};
        }
        cursor->at = 0;
    }
    return count;
}

static enum cn_step plane_next(struct cn_hpc_xml_database *xml,
                               struct cn_value_cursor *cursor, struct cn_value_batch *out,
                               struct cn_error *err)
{
    const struct database *self = self_of(&xml->database.base);
    size_t count;

    (void)err;
    if (cursor->plane == CN_PLANE_OF_CONTEXT)
        count = next_of_context(self, cursor);
    else
        count = cursor->owner == 0 ? next_of_summary(self, cursor)
                                   : next_of_thread(self, cursor);
    if (count == 0)
        return CN_END;
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}

static bool timeline(struct cn_database *db, uint32_t index, struct cn_timeline *out,
                     struct cn_error *err)
{
    const struct database *self = self_of(db);

    if (self->trace_damage.kind != CN_ERR_NONE) {
        *err = self->trace_damage;
        return false;
    }
    *out = (struct cn_timeline){0};
    if (index > 0)
        *out = (struct cn_timeline){.count = self->threads.list[index - 1].sample_count,
                                    .at = self->threads.list[index - 1].samples_off};
    return true;
}

static bool samples(struct cn_database *db, const struct cn_timeline *line,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    const struct database *self = self_of(db);
    struct cn_hpc_legacy_sample sample = {0};
    struct cn_bytes bytes;
    uint64_t time_ns;
    uint32_t context;

    if (!cn_bytes_array(self->threads.traces,
                        line->at + first * cn_hpc_legacy_sample_size, count,
                        cn_hpc_legacy_sample_size, &bytes))
        return cn_fail(err, CN_ERR_FORMAT, "%s: %zu samples at 0x%" PRIx64 " do not fit",
                       CN_HPC_LEGACY_TRACES, count, line->at);
    for (size_t i = 0; i < count; i++) {
        (void)cn_hpc_legacy_sample_decode(
            cn_bytes_element(bytes, i, cn_hpc_legacy_sample_size), &sample);
        if (!cn_u64_mul(sample.time, self->tick_ns, &time_ns))
            return cn_fail(err, CN_ERR_FORMAT, "%s: time %" PRIu64 " is too large",
                           CN_HPC_LEGACY_TRACES, sample.time);
        context = cn_map_find(&self->sample_ids, sample.sample_id, self->unknown_context);
        out[i] = (struct cn_sample){time_ns,
                                    context == self->xml.tree.idle_context ? 0 : context};
    }
    return true;
}

static void close_database(struct cn_database *db)
{
    struct database *self = self_of(db);

    cn_hpc_legacy_threads_done(&self->threads);
    free(self->columns);
    free(self->summary);
    cn_map_done(&self->sample_ids);
    cn_hpc_legacy_unmap(&self->maps);
    cn_hpc_xml_database_close(db);
}

static const struct cn_hpc_xml_version version = {
    .major = CN_HPC_XML_LEGACY_MAJOR,
    .ops = {.profile = get_profile,
            .timeline = timeline,
            .samples = samples,
            .close = close_database},
    .plane_begin = plane_begin,
    .plane_next = plane_next,
};

static void take_value(void *arg, uint32_t context, int64_t metric, double value)
{
    struct database *self = arg;

    if (metric < 0 || metric > UINT16_MAX || value == 0)
        return;
    CN_PUSH(self->summary, self->summary_count, self->summary_capacity,
            (struct cn_value){value, context, (uint16_t)metric});
}

static void take_sample_id(void *arg, uint64_t sample_id, uint32_t context)
{
    struct database *self = arg;

    *cn_map_at(&self->sample_ids, sample_id, 0) = context;
}

static int compare_values(const void *left, const void *right)
{
    const struct cn_value *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->metric > b->metric) - (a->metric < b->metric);
}

static void sort_summary(struct database *self)
{
    size_t unique = 0;

    if (self->summary_count == 0)
        return;
    qsort(self->summary, self->summary_count, sizeof(*self->summary), compare_values);
    for (size_t i = 1; i < self->summary_count; i++)
        if (compare_values(&self->summary[unique], &self->summary[i]) != 0)
            self->summary[++unique] = self->summary[i];
    self->summary_count = unique + 1;
    for (size_t i = 0; i < self->summary_count; i++)
        self->summary_context_count +=
            i == 0 || self->summary[i].key != self->summary[i - 1].key;
}

static void find_columns(struct database *self, const struct cn_hpc_xml_head *head)
{
    self->columns = cn_alloc(head->metric_db_count, sizeof(*self->columns));
    for (size_t i = 0; i < head->metric_db_count; i++) {
        const struct cn_hpc_xml_metric_db *row = &head->metric_dbs[i];

        if (row->id >= 0 && row->id <= UINT16_MAX && row->column >= 0)
            self->columns[self->column_count++] =
                (struct legacy_column){(uint16_t)row->id, (uint64_t)row->column};
    }
    CN_SORT(self->columns, self->column_count, CN_UP(struct legacy_column, prop_id));
}

/* A damaged file of threads does not affect the others. */
static void open_threads(struct database *self, const struct cn_hpc_legacy_files *files)
{
    enum { WARNINGS_MAX = 4 };
    struct cn_database *db = &self->xml.database.base;
    struct cn_error damage;
    unsigned warnings = 0;

    for (size_t i = 0; i < files->value_count; i++)
        if (!cn_hpc_legacy_add_file(&self->threads, files->values[i].bytes,
                                    files->values[i].name, &damage) &&
            warnings++ < WARNINGS_MAX)
            cn_database_warn(db, true, "%s; left out", damage.text);
    if (files->packed.name &&
        !cn_hpc_legacy_add_packed(&self->threads, files->packed.bytes, &damage))
        cn_database_warn(db, true, "%s: %s; left out the threads from there on",
                         files->packed.name, damage.text);
    if (!files->traces.name)
        return;
    db->has_timelines = true;
    if (!cn_hpc_legacy_add_traces(&self->threads, files->traces.bytes,
                                  &self->trace_damage)) {
        (void)cn_fail_in(&self->trace_damage, "%s", files->traces.name);
        cn_database_warn(db, true, "%s; no timelines", self->trace_damage.text);
    }
}

static bool set_times(struct database *self, const struct cn_hpc_xml_head *head,
                      struct cn_error *err)
{
    enum { NS_PER_SECOND = 1000000000 };
    struct cn_database *db = &self->xml.database.base;

    self->tick_ns = 1;
    if (head->ticks_per_second > 0 && head->ticks_per_second < NS_PER_SECOND)
        self->tick_ns = NS_PER_SECOND / head->ticks_per_second;
    if (head->has_times && (!cn_u64_mul(head->begin, self->tick_ns, &db->begin_ns) ||
                            !cn_u64_mul(head->end, self->tick_ns, &db->end_ns)))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s: times %" PRIu64 " to %" PRIu64 " are too large",
                       CN_HPC_XML_FILE, head->begin, head->end);
    return true;
}

static bool finish(struct database *self, const struct cn_hpc_legacy_files *files,
                   const struct cn_hpc_xml_head *head, struct cn_error *err)
{
    struct cn_database *db = &self->xml.database.base;

    sort_summary(self);
    find_columns(self, head);
    open_threads(self, files);
    if (self->threads.count >= UINT32_MAX || self->xml.tree.largest_id > UINT32_MAX - 2)
        return cn_fail(err, CN_ERR_LIMIT, "%zu threads and context id %" PRIu32,
                       self->threads.count, self->xml.tree.largest_id);
    db->profile_count = (uint32_t)self->threads.count + 1;
    db->has_context_values = true;
    self->unknown_context = self->xml.tree.largest_id + 1;
    db->context_limit = self->unknown_context + 1;
    for (size_t i = 0; i < self->threads.count; i++)
        if (self->threads.list[i].row_count >= db->context_limit)
            self->threads.list[i].row_count = db->context_limit - 1;
    return cn_hpc_xml_database_finish(&self->xml, false, err);
}

bool cn_hpc_legacy_open_bytes(struct cn_database **out,
                              const struct cn_hpc_legacy_files *files,
                              struct cn_error *err)
{
    struct database *self = cn_alloc(1, sizeof(*self));
    struct cn_hpc_xml_tree_source source = {
        .text = files->experiment,
        .is_mapped = files->is_mapped,
        .sink = {self, take_value, take_sample_id},
    };
    struct cn_hpc_xml_head head;

    cn_hpc_xml_database_init(&self->xml, &version);
    bool ok = cn_hpc_xml_database_read(&self->xml, &source, &head, err) &&
              set_times(self, &head, err) && finish(self, files, &head, err);
    cn_hpc_xml_head_done(&head);
    if (ok)
        *out = &self->xml.database.base;
    else
        close_database(&self->xml.database.base);
    return ok;
}

bool cn_hpc_legacy_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    char *dir = cn_hpc_directory(path);
    struct cn_hpc_legacy_maps maps = {0};
    struct cn_database *db;
    bool ok = cn_hpc_legacy_map(&maps, dir, err);

    if (ok && !cn_hpc_legacy_open_bytes(&db, &maps.files, err)) {
        cn_hpc_legacy_unmap(&maps);
        ok = cn_fail_in(err, "%s", dir);
    }
    if (ok) {
        self_of(db)->maps = maps;
        db->path = cn_arena_strdup(&db->arena, dir);
        db->contexts_file = CN_HPC_XML_FILE;
        db->timelines_file = CN_HPC_LEGACY_TRACES;
        *out = db;
    }
    free(dir);
    return ok;
}
