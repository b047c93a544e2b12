/* pprof's profile: a stack and its values for each thread and place, functions with
 * files and lines, modules with build ids. Samples are written as they are found;
 * functions when first used; strings, which everything numbers, at the end. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/pprof_format.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/stacks/stacks.h"

enum { FLUSH_LEN = 128 << 10 };

struct profile {
    struct cn_export *x;
    struct cn_pb pb;
    struct cn_names strings, modules, functions;
    uint64_t *locations; /* of the stack being written, innermost first */
    size_t location_capacity;
    uint64_t *location_of; /* by place of the stacks at hand; 0: not known yet */
    uint64_t sample_count;
    bool has_calls; /* values are calls and time, else one metric */
};

static uint64_t string_id(struct profile *p, const char *str)
{
    return cn_names_add(&p->strings, str);
}

static bool flush(struct profile *p, size_t limit, struct cn_error *err)
{
    bool ok = true;

    if (p->pb.len > limit) {
        ok = cn_sink_write(&p->x->sink, p->pb.bytes, p->pb.len, err);
        cn_pb_clear(&p->pb);
    }
    return ok;
}

static void add_value_type(struct profile *p, uint32_t field, const char *type,
                           const char *unit)
{
    size_t at = cn_pb_open(&p->pb, field);

    cn_pb_u64(&p->pb, cn_pprof_value_type_type, string_id(p, type));
    cn_pb_u64(&p->pb, cn_pprof_value_type_unit, string_id(p, unit));
    cn_pb_close(&p->pb, at);
}

static uint64_t mapping_id(struct profile *p, const struct cn_stack_place *place)
{
    size_t before = p->modules.count, at;
    uint64_t id;

    if (!place->module[0])
        return 0;
    id = cn_names_add(&p->modules, place->module) + 1u;
    if (p->modules.count == before)
        return id;
    at = cn_pb_open(&p->pb, cn_pprof_profile_mapping);
    cn_pb_u64(&p->pb, cn_pprof_mapping_id, id);
    cn_pb_u64(&p->pb, cn_pprof_mapping_filename, string_id(p, place->module));
    cn_pb_u64(&p->pb, cn_pprof_mapping_build_id, string_id(p, place->build_id));
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_functions, true);
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_filenames, place->file[0] != '\0');
    cn_pb_u64(&p->pb, cn_pprof_mapping_has_line_numbers, place->line > 0);
    cn_pb_close(&p->pb, at);
    return id;
}

/* A function is one place: both have the same number. */
static uint64_t location_id(struct profile *p, const struct cn_stack_place *place)
{
    struct cn_text key = {0};
    size_t before = p->functions.count, at, inner;
    uint64_t id, mapping;

    cn_text_printf(&key, "%s\n%s\n%s\n%" PRIx64, place->name, place->module, place->file,
                   place->address);
    id = cn_names_add(&p->functions, cn_text_str(&key)) + 1u;
    cn_text_done(&key);
    if (p->functions.count == before)
        return id;
    mapping = mapping_id(p, place);
    at = cn_pb_open(&p->pb, cn_pprof_profile_function);
    cn_pb_u64(&p->pb, cn_pprof_function_id, id);
    cn_pb_u64(&p->pb, cn_pprof_function_name, string_id(p, place->name));
    cn_pb_u64(&p->pb, cn_pprof_function_system_name, string_id(p, place->name));
    cn_pb_u64(&p->pb, cn_pprof_function_filename, string_id(p, place->file));
    cn_pb_u64(&p->pb, cn_pprof_function_start_line, place->line);
    cn_pb_close(&p->pb, at);
    at = cn_pb_open(&p->pb, cn_pprof_profile_location);
    cn_pb_u64(&p->pb, cn_pprof_location_id, id);
    cn_pb_u64(&p->pb, cn_pprof_location_mapping_id, mapping);
    cn_pb_u64(&p->pb, cn_pprof_location_address, place->address);
    inner = cn_pb_open(&p->pb, cn_pprof_location_line);
    cn_pb_u64(&p->pb, cn_pprof_line_function_id, id);
    cn_pb_u64(&p->pb, cn_pprof_line_line, place->line);
    cn_pb_close(&p->pb, inner);
    cn_pb_close(&p->pb, at);
    return id;
}

/* The labels of all samples of a thread, encoded once. */
static void add_number_label(struct profile *p, struct cn_pb *labels, const char *key,
                             uint64_t number)
{
    size_t at = cn_pb_open(labels, cn_pprof_sample_label);

    cn_pb_u64(labels, cn_pprof_label_key, string_id(p, key));
    cn_pb_u64(labels, cn_pprof_label_num, number);
    cn_pb_close(labels, at);
}

static void add_text_label(struct profile *p, struct cn_pb *labels, const char *key,
                           const char *value)
{
    size_t at = cn_pb_open(labels, cn_pprof_sample_label);

    cn_pb_u64(labels, cn_pprof_label_key, string_id(p, key));
    cn_pb_u64(labels, cn_pprof_label_str, string_id(p, value));
    cn_pb_close(labels, at);
}

static size_t find_locations(struct profile *p, const struct cn_stacks *stacks,
                             uint32_t node)
{
    size_t count = 0;

    while (node != CN_NONE && !stacks->nodes[node].is_root) {
        uint32_t place = stacks->nodes[node].place;

        if (p->location_of[place] == 0)
            p->location_of[place] = location_id(p, &stacks->places[place]);
        p->locations =
            cn_grow(p->locations, count, &p->location_capacity, sizeof(*p->locations));
        p->locations[count++] = p->location_of[place];
        node = stacks->nodes[node].parent;
    }
    return count;
}

static bool add_samples(struct profile *p, const struct cn_stacks *stacks,
                        const struct cn_pb *labels, struct cn_error *err)
{
    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct cn_stack_node *node = &stacks->nodes[i];
        uint64_t value = cn_stack_value(node->self);
        uint64_t both[2] = {node->calls, value};
        size_t count, at;

        if (node->is_root || (value == 0 && node->calls == 0))
            continue;
        count = find_locations(p, stacks, i);
        at = cn_pb_open(&p->pb, cn_pprof_profile_sample);
        cn_pb_packed(&p->pb, cn_pprof_sample_location_id, p->locations, count);
        cn_pb_packed(&p->pb, cn_pprof_sample_value, p->has_calls ? both : both + 1,
                     p->has_calls ? 2 : 1);
        cn_pb_raw(&p->pb, labels->bytes, labels->len);
        cn_pb_close(&p->pb, at);
        p->sample_count++;
        if (!flush(p, FLUSH_LEN, err))
            return false;
    }
    return true;
}

static bool add_task(struct profile *p, uint32_t slot, struct cn_error *err)
{
    const struct cn_call_query *query = p->x->query;
    const struct cn_task *task = &query->rec->tasks[query->tasks[slot]];
    struct cn_call_query one = *query;
    struct cn_stacks stacks;
    struct cn_pb labels = {0};
    bool ok;

    one.tasks = &query->tasks[slot];
    one.task_count = 1;
    if (!cn_stacks_of_calls(&stacks, p->x, &one, true, err))
        return false;
    p->location_of = cn_alloc(stacks.place_count, sizeof(*p->location_of));
    add_text_label(p, &labels, "thread", task->name);
    add_number_label(p, &labels, "tid", task->tid);
    add_number_label(p, &labels, "pid", task->pid);
    ok = add_samples(p, &stacks, &labels, err);
    free(p->location_of);
    cn_pb_done(&labels);
    cn_stacks_done(&stacks);
    return ok;
}

static bool add_tasks(struct profile *p, struct cn_error *err)
{
    const struct cn_recording *rec = p->x->query->rec;

    add_value_type(p, cn_pprof_profile_sample_type, "calls", "count");
    add_value_type(p, cn_pprof_profile_sample_type, "time", "nanoseconds");
    cn_pb_u64(&p->pb, cn_pprof_profile_time_nanos,
              cn_export_start_ns(p->x->query) + cn_export_clock_offset_ns(rec));
    p->has_calls = true;
    for (uint32_t i = 0; i < p->x->query->task_count; i++)
        if (!add_task(p, i, err))
            return false;
    return true;
}

static bool add_thread(struct profile *p, struct cn_stacks *stacks, uint32_t index,
                       struct cn_error *err)
{
    struct cn_database *db = p->x->db;
    struct cn_profile about;
    struct cn_pb labels = {0};
    struct cn_text name = {0};
    bool ok;

    if (!cn_database_profile(db, index, &about, err))
        return false;
    if (about.is_summary)
        return true;
    cn_identity_print(&about.identity, &db->kinds, &name);
    add_text_label(p, &labels, "thread", cn_text_str(&name));
    for (size_t i = 0; i < about.identity.count; i++) {
        const struct cn_identity *id = &about.identity.ids[i];

        if (id->kind < db->kinds.count)
            add_number_label(p, &labels, db->kinds.list[id->kind], id->logical);
    }
    ok = cn_stacks_load(stacks, db, index, err) && add_samples(p, stacks, &labels, err);
    cn_pb_done(&labels);
    cn_text_done(&name);
    return ok;
}

static bool add_database(struct profile *p, struct cn_error *err)
{
    struct cn_database *db = p->x->db;
    struct cn_stacks stacks;
    bool ok = true;

    if (!cn_stacks_of_database(&stacks, db, p->x->options->metric, err))
        return false;
    p->location_of = cn_alloc(stacks.place_count, sizeof(*p->location_of));
    add_value_type(p, cn_pprof_profile_sample_type, stacks.metric, stacks.unit);
    if (db->has_timelines) {
        cn_pb_u64(&p->pb, cn_pprof_profile_time_nanos, db->begin_ns);
        cn_pb_u64(&p->pb, cn_pprof_profile_duration_nanos, db->end_ns - db->begin_ns);
    }
    for (uint32_t i = 1; i < db->profile_count && ok; i++)
        ok = add_thread(p, &stacks, i, err);
    /* A database may have nothing but its summary. */
    if (ok && p->sample_count == 0 && stacks.stat_id != CN_NO_ID)
        ok = cn_stacks_load(&stacks, db, 0, err) &&
             add_samples(p, &stacks, &(struct cn_pb){0}, err);
    if (ok)
        ok = cn_stacks_lose(&stacks, p->x, true, err);
    free(p->location_of);
    cn_stacks_done(&stacks);
    return ok;
}

static bool write_profile(struct cn_export *x, struct cn_error *err)
{
    struct profile p = {.x = x};
    bool ok;

    (void)string_id(&p, "");
    ok = x->db ? add_database(&p, err) : add_tasks(&p, err);
    for (size_t i = 0; i < p.strings.count && ok; i++) {
        cn_pb_str(&p.pb, cn_pprof_profile_string_table, p.strings.list[i]);
        ok = flush(&p, FLUSH_LEN, err);
    }
    ok = ok && flush(&p, 0, err);
    if (!x->db)
        cn_export_lose(x, "stacks of calls, of which only the sums are kept",
                       p.sample_count);
    cn_names_done(&p.strings);
    cn_names_done(&p.modules);
    cn_names_done(&p.functions);
    free(p.locations);
    cn_pb_done(&p.pb);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_profile, true, err);
}

static bool write_database(struct cn_database *db, const char *path,
                           const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_database(db, path, options, write_profile, true, err);
}

const struct cn_format cn_format_pprof = {
    .name = "pprof",
    .summary = "profile.proto of pprof, gzipped: stacks of each thread, files, modules",
    .holds = "stacks",
    .is_file = true,
    .probe = cn_pprof_probe,
    .open_database = cn_pprof_open,
    .write_calls = write_calls,
    .write_database = write_database,
};
