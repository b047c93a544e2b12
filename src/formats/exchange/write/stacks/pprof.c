/* pprof profile: a sample for each thread and stack, functions with files and lines, modules
 * with build ids. Functions are written at their first use, the string table at the end. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/pprof_format.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/stacks/stacks.h"

enum { FLUSH_LEN = 128 << 10 };

struct pprof_writing {
    struct cn_export *x;
    struct cn_pb pb;
    struct cn_names strings, modules, functions;
    struct cn_stacks stacks;
    uint64_t *location_of; /* by function of the stacks; 0: not written */
    uint64_t *locations;   /* of one stack, innermost first */
    size_t location_capacity;
    uint64_t sample_count;
    const char *metric; /* of the tasks so far */
};

static uint64_t string_id(struct pprof_writing *p, const char *str)
{
    return cn_names_add(&p->strings, str);
}

static bool flush(struct pprof_writing *p, size_t limit, struct cn_error *err)
{
    bool ok = true;

    if (p->pb.len > limit) {
        ok = cn_sink_write(&p->x->sink, p->pb.bytes, p->pb.len, err);
        cn_pb_clear(&p->pb);
    }
    return ok;
}

static void add_value_type(struct pprof_writing *p, const char *type, const char *unit)
{
    size_t at = cn_pb_open(&p->pb, cn_pprof_profile_sample_type);

    cn_pb_u64(&p->pb, cn_pprof_value_type_type, string_id(p, type));
    cn_pb_u64(&p->pb, cn_pprof_value_type_unit, string_id(p, unit));
    cn_pb_close(&p->pb, at);
}

static uint64_t mapping_id(struct pprof_writing *p,
                           const struct cn_stack_function *function)
{
    size_t before = p->modules.count, at;

    if (!function->module[0])
        return 0;
    uint64_t id = cn_names_add(&p->modules, function->module) + 1u;
    if (p->modules.count == before)
        return id;
    at = cn_pb_open(&p->pb, cn_pprof_profile_mapping);
    cn_pb_u64(&p->pb, cn_pprof_mapping_id, id);
    cn_pb_u64(&p->pb, cn_pprof_mapping_filename, string_id(p, function->module));
    cn_pb_u64(&p->pb, cn_pprof_mapping_build_id, string_id(p, function->build_id));
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_functions, true);
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_filenames, function->file[0] != '\0');
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_line_numbers, function->line > 0);
    cn_pb_close(&p->pb, at);
    return id;
}

/* A function has one location: both have the same id. */
static uint64_t location_id(struct pprof_writing *p,
                            const struct cn_stack_function *function)
{
    struct cn_text key = {0};
    size_t before = p->functions.count, at, inner;

    cn_text_printf(&key, "%s\n%s\n%s\n%" PRIx64, function->name, function->module,
                   function->file, function->address);
    uint64_t id = cn_names_add(&p->functions, cn_text_str(&key)) + 1u;
    cn_text_done(&key);
    if (p->functions.count == before)
        return id;
    uint64_t mapping = mapping_id(p, function);
    at = cn_pb_open(&p->pb, cn_pprof_profile_function);
    cn_pb_u64(&p->pb, cn_pprof_function_id, id);
    cn_pb_u64(&p->pb, cn_pprof_function_name, string_id(p, function->name));
    cn_pb_u64(&p->pb, cn_pprof_function_system_name, string_id(p, function->name));
    cn_pb_u64(&p->pb, cn_pprof_function_filename, string_id(p, function->file));
    cn_pb_u64(&p->pb, cn_pprof_function_start_line, function->line);
    cn_pb_close(&p->pb, at);
    at = cn_pb_open(&p->pb, cn_pprof_profile_location);
    cn_pb_u64(&p->pb, cn_pprof_location_id, id);
    cn_pb_u64(&p->pb, cn_pprof_location_mapping_id, mapping);
    cn_pb_u64(&p->pb, cn_pprof_location_address, function->address);
    inner = cn_pb_open(&p->pb, cn_pprof_location_line);
    cn_pb_u64(&p->pb, cn_pprof_line_function_id, id);
    cn_pb_u64(&p->pb, cn_pprof_line_line, function->line);
    cn_pb_close(&p->pb, inner);
    cn_pb_close(&p->pb, at);
    return id;
}

/* A label of all samples of a thread: `text`, or if NULL `number`. */
static void add_label(struct pprof_writing *p, struct cn_pb *labels, const char *key,
                      const char *text, uint64_t number)
{
    size_t at = cn_pb_open(labels, cn_pprof_sample_label);

    cn_pb_u64(labels, cn_pprof_label_key, string_id(p, key));
    if (text)
        cn_pb_u64(labels, cn_pprof_label_str, string_id(p, text));
    else
        cn_pb_u64(labels, cn_pprof_label_num, number);
    cn_pb_close(labels, at);
}

static size_t find_locations(struct pprof_writing *p, uint32_t node)
{
    const struct cn_stacks *stacks = &p->stacks;
    size_t count = 0;

    while (node != CN_NONE && !stacks->nodes[node].is_root) {
        uint32_t function = stacks->nodes[node].function;

        if (p->location_of[function] == 0)
            p->location_of[function] = location_id(p, &stacks->functions[function]);
        CN_PUSH(p->locations, count, p->location_capacity, p->location_of[function]);
        node = stacks->nodes[node].parent;
    }
    return count;
}

/* Recordings have two values per sample, calls and time; databases have one metric. */
static bool add_samples(struct pprof_writing *p, const struct cn_pb *labels,
                        struct cn_error *err)
{
    for (uint32_t i = 0; i < p->stacks.count; i++) {
        const struct cn_stack_node *node = &p->stacks.nodes[i];
        uint64_t values[2] = {node->calls, cn_stack_self(node)};

        if (node->is_root || (values[0] == 0 && values[1] == 0))
            continue;
        size_t count = find_locations(p, i);
        size_t at = cn_pb_open(&p->pb, cn_pprof_profile_sample);
        cn_pb_packed(&p->pb, cn_pprof_sample_location_id, p->locations, count);
        cn_pb_packed(&p->pb, cn_pprof_sample_value, p->x->db ? values + 1 : values,
                     p->x->db ? 1 : 2);
        cn_pb_raw(&p->pb, labels->bytes, labels->len);
        cn_pb_close(&p->pb, at);
        p->sample_count++;
        if (!flush(p, FLUSH_LEN, err))
            return false;
    }
    return true;
}

static bool add_task(struct pprof_writing *p, uint32_t slot, struct cn_error *err)
{
    const struct cn_call_query *query = p->x->query;
    const struct cn_task *task = &query->rec->tasks[query->tasks[slot]];
    struct cn_call_query one = *query;
    struct cn_pb labels = {0};

    one.tasks = &query->tasks[slot];
    one.task_count = 1;
    if (!cn_stacks_of_calls(&p->stacks, p->x, &one, true, err))
        return false;
    p->location_of = cn_alloc(p->stacks.function_count, sizeof(*p->location_of));
    add_label(p, &labels, "thread", task->name, 0);
    add_label(p, &labels, "tid", NULL, task->tid);
    add_label(p, &labels, "pid", NULL, task->pid);
    bool ok = add_samples(p, &labels, err);
    /* One task that waited suffices: the others have running time alone as well. */
    if (!p->metric || strcmp(p->metric, "time") == 0)
        p->metric = p->stacks.metric;
    free(p->location_of);
    cn_pb_done(&labels);
    cn_stacks_done(&p->stacks);
    return ok;
}

static bool add_tasks(struct pprof_writing *p, struct cn_error *err)
{
    const struct cn_call_query *query = p->x->query;

    cn_pb_u64(&p->pb, cn_pprof_profile_time_nanos,
              cn_export_start_ns(query) + cn_export_clock_offset_ns(query->rec));
    for (uint32_t i = 0; i < query->task_count; i++)
        if (!add_task(p, i, err))
            return false;
    add_value_type(p, "calls", "count");
    add_value_type(p, p->metric ? p->metric : "time", "nanoseconds");
    cn_export_lose(p->x, "stacks of calls (only sums are written)", p->sample_count);
    return true;
}

static bool add_thread(void *arg, uint32_t index, const struct cn_profile *profile,
                       const char *name, struct cn_error *err)
{
    struct pprof_writing *p = arg;
    const struct cn_kinds *kinds = &p->x->db->kinds;
    struct cn_pb labels = {0};

    add_label(p, &labels, "thread", name, 0);
    for (size_t i = 0; i < profile->identity.count; i++) {
        const struct cn_identity *id = &profile->identity.ids[i];

        if (id->kind < kinds->count)
            add_label(p, &labels, kinds->list[id->kind], NULL, id->logical);
    }
    bool ok =
        cn_stacks_load(&p->stacks, p->x->db, index, err) && add_samples(p, &labels, err);
    cn_pb_done(&labels);
    return ok;
}

static bool add_database(struct pprof_writing *p, struct cn_error *err)
{
    struct cn_database *db = p->x->db;
    bool ok;

    if (!cn_stacks_of_database(&p->stacks, p->x, err))
        return false;
    p->location_of = cn_alloc(p->stacks.function_count, sizeof(*p->location_of));
    add_value_type(p, p->stacks.metric, p->stacks.unit);
    if (db->has_timelines) {
        cn_pb_u64(&p->pb, cn_pprof_profile_time_nanos, db->begin_ns);
        cn_pb_u64(&p->pb, cn_pprof_profile_duration_nanos, db->end_ns - db->begin_ns);
    }
    ok = cn_export_threads(p->x, add_thread, p, err);
    /* A database may have only a summary. */
    if (ok && p->sample_count == 0 && p->stacks.stat_id != CN_NO_ID)
        ok = cn_stacks_load(&p->stacks, db, 0, err) &&
             add_samples(p, &(struct cn_pb){0}, err);
    ok = ok && cn_stacks_lose(&p->stacks, p->x, true, err);
    free(p->location_of);
    cn_stacks_done(&p->stacks);
    return ok;
}

static bool write_profile(struct cn_export *x, struct cn_error *err)
{
    struct pprof_writing p = {.x = x};
    bool ok;

    (void)string_id(&p, "");
    ok = x->db ? add_database(&p, err) : add_tasks(&p, err);
    for (size_t i = 0; i < p.strings.count && ok; i++) {
        cn_pb_str(&p.pb, cn_pprof_profile_string_table, p.strings.list[i]);
        ok = flush(&p, FLUSH_LEN, err);
    }
    ok = ok && flush(&p, 0, err);
    cn_names_done(&p.strings);
    cn_names_done(&p.modules);
    cn_names_done(&p.functions);
    free(p.locations);
    cn_pb_done(&p.pb);
    return ok;
}

const struct cn_format cn_format_pprof = {
    .name = "pprof",
    .summary = "pprof profile.proto, gzipped: stacks of each thread, files, modules",
    .holds = "stacks",
    .is_file = true,
    .is_gzipped = true,
    .probe = cn_pprof_probe,
    .open_database = cn_pprof_open,
    .export_calls = write_profile,
    .export_database = write_profile,
};
