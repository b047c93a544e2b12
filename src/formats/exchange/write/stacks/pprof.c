/* pprof profile: a sample for each thread and stack with a value for each metric, functions with
 * files and lines, modules with build ids. The module of the program is written first, functions at
 * their first use, the string table at the end. A profile that was read from pprof is copied. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/unpack.h"
#include "base/map.h"
#include "base/path.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/pprof_format.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/stacks/stacks.h"
#include "model/contexts/bucket.h"
#include "model/memory/metrics.h"

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

    /* Of a database: the metrics, the one that is shown by default last, as pprof has it. */
    const struct cn_metric **metrics;
    size_t metric_count;
    uint64_t *values; /* of a thread, by node and metric */
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

/* The type of a metric "NAME (UNIT)"; `unit` if its name has none, or seconds. */
static void add_metric_type(struct pprof_writing *p, const char *metric, const char *unit)
{
    char *type = cn_strdup(metric), *own = strrchr(type, '(');
    size_t len = strlen(type);
    enum cn_heap_metric heap = cn_heap_metric_find(metric);

    if (cn_heap_metric_is_count(heap))
        unit = "count";
    if (own && own > type + 1 && own[-1] == ' ' && type[len - 1] == ')') {
        type[len - 1] = own[-1] = '\0';
        if (strcmp(own + 1, "sec") != 0)
            unit = heap < CN_HEAP_METRIC_COUNT ? "bytes" : own + 1;
    }
    add_value_type(p, cn_heap_metric_pprof(heap) ? cn_heap_metric_pprof(heap) : type,
                   unit);
    free(type);
}

static uint64_t mapping_id(struct pprof_writing *p, const char *module,
                           const char *build_id)
{
    size_t before = p->modules.count, at;
    bool has_file = false, has_line = false;

    if (!module[0])
        return 0;
    uint64_t id = cn_names_add(&p->modules, module) + 1u;
    if (p->modules.count == before)
        return id;
    for (size_t i = 0; i < p->stacks.function_count; i++) {
        const struct cn_stack_function *function = &p->stacks.functions[i];

        if (strcmp(function->module, module) == 0) {
            has_file |= function->file[0] != '\0';
            has_line |= function->line > 0;
        }
    }
    at = cn_pb_open(&p->pb, cn_pprof_profile_mapping);
    cn_pb_u64(&p->pb, cn_pprof_mapping_id, id);
    cn_pb_u64(&p->pb, cn_pprof_mapping_filename, string_id(p, module));
    cn_pb_u64(&p->pb, cn_pprof_mapping_build_id, string_id(p, build_id));
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_functions, true);
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_filenames, has_file);
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_line_numbers, has_line);
    cn_pb_close(&p->pb, at);
    return id;
}

/* True if the module may be the program: pprof takes the first mapping for that. */
static bool may_be_program(const char *module)
{
    return module[0] && module[0] != '[' && !strstr(cn_path_name(module), ".so");
}

/* Write the mapping of the program first: the module of main(), else the first that is no
 * library. */
static void add_program(struct pprof_writing *p)
{
    const struct cn_stack_function *found = NULL;

    for (size_t i = 0; i < p->stacks.function_count; i++) {
        const struct cn_stack_function *function = &p->stacks.functions[i];
        bool is_main = strcmp(function->name, "main") == 0 ||
                       strcmp(function->name, "main.main") == 0;

        if (!may_be_program(function->module))
            continue;
        if (!found || is_main)
            found = function;
        if (is_main)
            break;
    }
    if (found)
        (void)mapping_id(p, found->module, found->build_id);
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
    uint64_t mapping = mapping_id(p, function->module, function->build_id);
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
    uint32_t first = node;
    size_t count = 0;

    while (node != CN_NONE && (node == first || !stacks->nodes[node].is_root)) {
        uint32_t function = stacks->nodes[node].function;

        if (p->location_of[function] == 0)
            p->location_of[function] = location_id(p, &stacks->functions[function]);
        CN_PUSH(p->locations, count, p->location_capacity, p->location_of[function]);
        node = stacks->nodes[node].parent;
    }
    return count;
}

/* Recordings have two values per sample, calls and time; databases one for each metric. */
static bool add_samples(struct pprof_writing *p, const struct cn_pb *labels,
                        struct cn_error *err)
{
    size_t value_count = p->x->db ? p->metric_count : 2;

    for (uint32_t i = 0; i < p->stacks.count; i++) {
        const struct cn_stack_node *node = &p->stacks.nodes[i];
        uint64_t calls[2] = {node->calls, cn_stack_self(node)}, any = 0;
        const uint64_t *values = p->x->db ? p->values + i * value_count : calls;

        for (size_t k = 0; k < value_count; k++)
            any |= values[k];
        if (any == 0 || (node->is_root && !p->x->db && calls[1] == 0))
            continue;
        size_t count = find_locations(p, i);
        size_t at = cn_pb_open(&p->pb, cn_pprof_profile_sample);
        cn_pb_packed(&p->pb, cn_pprof_sample_location_id, p->locations, count);
        cn_pb_packed(&p->pb, cn_pprof_sample_value, values, value_count);
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
    add_program(p);
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

/* Load the values of one profile of the database. */
static bool load_values(struct pprof_writing *p, uint32_t profile, struct cn_error *err)
{
    for (size_t k = 0; k < p->metric_count; k++) {
        if (!cn_stacks_choose(&p->stacks, p->x->db, p->metrics[k], err) ||
            !cn_stacks_load(&p->stacks, p->x->db, profile, err))
            return false;
        for (size_t i = 0; i < p->stacks.count; i++)
            p->values[i * p->metric_count + k] = cn_stack_self(&p->stacks.nodes[i]);
    }
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
    bool ok = load_values(p, index, err) && add_samples(p, &labels, err);
    cn_pb_done(&labels);
    return ok;
}

/* Choose the metrics: all that add up, except numbers of calls by duration; with --metric the one
 * of the stacks. */
static void choose_metrics(struct pprof_writing *p)
{
    const struct cn_metrics *metrics = &p->x->db->metrics;
    struct cn_zero_ids *extremes = cn_alloc(1, sizeof(*extremes));
    const struct cn_metric *shown = NULL;

    cn_zero_ids_init(extremes, metrics, false);
    p->metrics = cn_alloc(metrics->count, sizeof(*p->metrics));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        struct cn_bucket_range range;
        struct cn_stacks stacks;
        struct cn_error ignored;

        if (strcmp(metric->name, p->stacks.metric) == 0)
            shown = metric;
        else if (!p->x->options->metric && metric->instance_count > 0 &&
                 !cn_metric_bucket(metric, &range) &&
                 !cn_zero_ids_has(extremes, metric->instances[0].prop_id) &&
                 cn_stacks_choose(&stacks, p->x->db, metric, &ignored))
            p->metrics[p->metric_count++] = metric;
    }
    p->metrics[p->metric_count++] = shown;
    free(extremes);
}

static bool add_types(struct pprof_writing *p, struct cn_error *err)
{
    choose_metrics(p);
    for (size_t k = 0; k < p->metric_count; k++) {
        if (!cn_stacks_choose(&p->stacks, p->x->db, p->metrics[k], err))
            return false;
        add_metric_type(p, p->stacks.metric, p->stacks.unit);
    }
    return true;
}

static bool add_database(struct pprof_writing *p, struct cn_error *err)
{
    struct cn_database *db = p->x->db;
    bool ok;

    if (!cn_stacks_of_database(&p->stacks, p->x, err))
        return false;
    p->location_of = cn_alloc(p->stacks.function_count, sizeof(*p->location_of));
    ok = add_types(p, err);
    p->values = cn_alloc(p->stacks.count * p->metric_count, sizeof(*p->values));
    add_program(p);
    if (db->has_timelines) {
        cn_pb_u64(&p->pb, cn_pprof_profile_time_nanos, db->begin_ns);
        cn_pb_u64(&p->pb, cn_pprof_profile_duration_nanos, db->end_ns - db->begin_ns);
    }
    ok = ok && cn_export_threads(p->x, add_thread, p, err);
    /* A database may have only a summary. */
    if (ok && p->sample_count == 0 && p->stacks.stat_id != CN_NO_ID)
        ok = load_values(p, 0, err) && add_samples(p, &(struct cn_pb){0}, err);
    ok = ok && cn_stacks_lose(&p->stacks, p->x, true, p->metric_count, err);
    free(p->location_of);
    free(p->metrics);
    free(p->values);
    cn_stacks_done(&p->stacks);
    return ok;
}

static bool copy_profile(struct cn_export *x, struct cn_error *err)
{
    struct cn_unpacked file = {0};
    bool ok = cn_unpacked_open(&file, x->db->path, err) &&
              cn_sink_write(&x->sink, file.bytes.ptr, file.bytes.len, err);

    cn_unpacked_close(&file);
    return ok;
}

/* pprof -comments prints them. */
static void add_comment(void *arg, const char *name, const char *text)
{
    struct pprof_writing *p = arg;
    struct cn_text line = {0};

    cn_text_printf(&line, "%s: %s", name, text);
    cn_pb_u64(&p->pb, cn_pprof_profile_comment, string_id(p, cn_text_str(&line)));
    cn_text_done(&line);
}

static bool write_profile(struct cn_export *x, struct cn_error *err)
{
    struct pprof_writing p = {.x = x};
    bool ok;

    if (cn_export_copies(x))
        return copy_profile(x, err);
    (void)string_id(&p, "");
    ok = x->db ? add_database(&p, err) : add_tasks(&p, err);
    cn_export_header(x, add_comment, &p);
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
    .keeps_metrics = true,
    .probe = cn_pprof_probe,
    .open_database = cn_pprof_open,
    .export_calls = write_profile,
    .export_database = write_profile,
};
