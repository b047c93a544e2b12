#include "formats/hpctoolkit/meas/profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/profile/load.h"
#include "formats/hpctoolkit/meas/profile/node_ids.h"
#include "formats/hpctoolkit/meas/profile/node_kinds.h"
#include "formats/hpctoolkit/meas/profile/placeholders.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"
#include "formats/hpctoolkit/meas/profile/trace_order.h"

enum { MODULE_ID_COUNT = UINT16_MAX + 1, NO_MODULE = 0 };

/* What a profile is decoded into; kept from one to the next. */
struct own {
    struct cn_hpc_load run_file, trace_file;
    struct cn_text trace_path, damage;
    struct cn_sampled_metric *metrics;
    double *periods;
    bool *are_integers;
    struct cn_bytes *modules, *kinds;
    struct cn_sampled_identity *identity;
    struct cn_sampled_node *nodes;
    struct cn_sampled_value *values;
    struct cn_hpc_trace_order order;
    size_t metric_count, metric_capacity, period_capacity, integer_capacity;
    size_t module_count, module_capacity;
    size_t kind_count, kind_capacity, identity_capacity;
    size_t node_capacity, value_capacity;
    struct cn_hpc_node_ids ids;
    uint32_t *module_numbers; /* by id: index + 1, 0 when there is none */
    uint16_t *module_ids;     /* that have a number */
    size_t module_ids_capacity;
};

static struct own *own_of(struct cn_sampled_profile *profile)
{
    struct own *own = profile->own;

    if (!own) {
        own = cn_alloc(1, sizeof(*own));
        own->module_numbers = cn_alloc(MODULE_ID_COUNT, sizeof(*own->module_numbers));
        profile->own = own;
    }
    return own;
}

/* Room for `count` elements whose old contents do not matter. */
static void *make_room(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count <= *capacity)
        return array;
    free(array);
    *capacity = count * 2;
    return cn_alloc(*capacity, size);
}

static bool read_header(const struct cn_hpc_run *run, struct cn_sampled_profile *profile,
                        struct cn_error *err)
{
    struct cn_bytes rest = run->header_list;
    struct cn_hpc_run_pair pair;
    enum cn_step step;

    profile->program = (struct cn_bytes){0};
    profile->program_path = (struct cn_bytes){0};
    while ((step = cn_hpc_run_pair_next(&rest, &pair, err)) == CN_ITEM) {
        if (cn_hpc_text_is(pair.name, "program-name"))
            profile->program = pair.value;
        else if (cn_hpc_text_is(pair.name, "program-path"))
            profile->program_path = pair.value;
    }
    return step == CN_END;
}

static bool read_metrics(struct own *own, const struct cn_hpc_run *run,
                         struct cn_error *err)
{
    struct cn_bytes rest = run->metrics_list;
    struct cn_hpc_run_metric_entry entry;
    enum cn_step step;
    size_t count = 0;

    while ((step = cn_hpc_run_metric_next(&rest, &entry, err)) == CN_ITEM) {
        own->metrics =
            cn_grow(own->metrics, count, &own->metric_capacity, sizeof(*own->metrics));
        own->periods =
            cn_grow(own->periods, count, &own->period_capacity, sizeof(*own->periods));
        own->are_integers = cn_grow(own->are_integers, count, &own->integer_capacity,
                                    sizeof(*own->are_integers));
        own->metrics[count] = (struct cn_sampled_metric){
            .name = entry.name,
            .description = entry.description,
            .formula = entry.formula,
            .format = entry.format,
            .show = entry.show,
            .shows_percent = entry.shows_percent,
            .is_moved = entry.is_moved,
        };
        own->periods[count] = (double)entry.period;
        own->are_integers[count] = entry.value_format == CN_HPC_VALUES_INTEGER;
        count++;
    }
    own->metric_count = count;
    return step == CN_END;
}

static bool read_modules(struct own *own, const struct cn_hpc_run *run,
                         struct cn_error *err)
{
    struct cn_bytes rest = run->modules_list;
    struct cn_hpc_run_module_entry entry;
    enum cn_step step;

    for (size_t i = 0; i < own->module_count; i++)
        own->module_numbers[own->module_ids[i]] = 0;
    own->module_count = 0;
    while ((step = cn_hpc_run_module_next(&rest, &entry, err)) == CN_ITEM) {
        size_t at = own->module_count;

        if (own->module_numbers[entry.id] != 0)
            return cn_fail(err, CN_ERR_FORMAT, "two load modules with the id %u",
                           entry.id);
        own->modules =
            cn_grow(own->modules, at, &own->module_capacity, sizeof(*own->modules));
        own->module_ids = cn_grow(own->module_ids, at, &own->module_ids_capacity,
                                  sizeof(*own->module_ids));
        own->modules[at] = entry.path;
        own->module_ids[at] = entry.id;
        own->module_numbers[entry.id] = (uint32_t)at + 1;
        own->module_count++;
    }
    return step == CN_END;
}

static bool read_kinds(struct own *own, const struct cn_hpc_run *run,
                       struct cn_error *err)
{
    struct cn_bytes rest = run->kinds_list;
    struct cn_hpc_run_kind kind;
    enum cn_step step;

    own->kind_count = 0;
    while ((step = cn_hpc_run_kind_next(&rest, &kind, err)) == CN_ITEM) {
        if (kind.id >= CN_KINDS_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "kind %u of identities, can read %d",
                           kind.id, CN_KINDS_MAX);
        while (own->kind_count <= kind.id) {
            own->kinds = cn_grow(own->kinds, own->kind_count, &own->kind_capacity,
                                 sizeof(*own->kinds));
            own->kinds[own->kind_count++] = (struct cn_bytes){0};
        }
        own->kinds[kind.id] = kind.name;
    }
    return step == CN_END;
}

static bool read_identity(struct own *own, const struct cn_hpc_run *run,
                          struct cn_error *err)
{
    if (run->id_count > CN_IDENTITY_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "identity of %u ids, can read %d",
                       run->id_count, CN_IDENTITY_MAX);
    own->identity = make_room(own->identity, run->id_count, &own->identity_capacity,
                              sizeof(*own->identity));
    for (uint16_t i = 0; i < run->id_count; i++) {
        struct cn_hpc_run_id id;
        uint16_t kind;

        (void)cn_hpc_run_id_decode(cn_bytes_element(run->ids, i, cn_hpc_run_id_size),
                                   &id);
        kind = (uint16_t)cn_bits(id.kind, 0, CN_HPC_KIND_BITS);
        if (kind >= own->kind_count)
            return cn_fail(err, CN_ERR_FORMAT, "identity of kind %u, names end at %zu",
                           kind, own->kind_count);
        own->identity[i] = (struct cn_sampled_identity){
            .physical = id.physical,
            .logical = id.logical,
            .kind = kind,
            .numbering =
                (uint8_t)cn_bits(id.kind, CN_HPC_KIND_BITS, CN_HPC_NUMBERING_BITS),
        };
    }
    return true;
}

/* What stands at the top: below nothing, or below the root. */
static bool is_at_top(const struct own *own, uint32_t parent)
{
    return parent == CN_NONE || (own->nodes[parent].kind == CN_NODE_GLOBAL &&
                                 own->nodes[parent].address == CN_HPC_CODE_ROOT);
}

static bool misplaced(const struct cn_hpc_run_node *record, const char *what,
                      struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT,
                   "node %" PRIu32 " is %s, but lies below node %" PRIu32, record->id,
                   what, record->parent);
}

/* A node of load module 0. Its address stays the code for nodes at the top, so
 * that the root can be told from the others. */
static bool read_special(const struct own *own, const struct cn_hpc_run_node *record,
                         struct cn_sampled_node *node, struct cn_error *err)
{
    bool is_top = is_at_top(own, node->parent);

    node->kind = CN_NODE_PLACEHOLDER;
    switch (record->address) {
    case CN_HPC_CODE_ROOT:
        node->kind = CN_NODE_GLOBAL;
        return node->parent == CN_NONE || misplaced(record, "a root", err);
    case CN_HPC_CODE_IDLE:
        node->kind = CN_NODE_GLOBAL;
        return is_top || misplaced(record, "\"no activity\"", err);
    case CN_HPC_CODE_PARTIAL:
        node->kind = CN_NODE_ENTRY;
        node->address = CN_ENTRY_UNKNOWN;
        return is_top || misplaced(record, "a partial unwind", err);
    case CN_HPC_CODE_MAIN:
    case CN_HPC_CODE_THREAD:
        if (!is_top)
            return true;
        node->kind = CN_NODE_ENTRY;
        node->address = record->address == CN_HPC_CODE_MAIN ? CN_ENTRY_MAIN_THREAD
                                                            : CN_ENTRY_APPLICATION_THREAD;
        return true;
    case CN_HPC_CODE_UNKNOWN:
        node->kind = CN_NODE_UNKNOWN;
        return true;
    default:
        return true;
    }
}

static bool read_node(struct own *own, const struct cn_hpc_run_node *record,
                      uint32_t number, struct cn_error *err)
{
    struct cn_sampled_node *node = &own->nodes[number];

    *node = (struct cn_sampled_node){
        .address = record->address,
        .parent = cn_hpc_node_ids_find(&own->ids, record->parent),
        .kind = CN_NODE_POINT,
        .is_unwound = record->flags & CN_HPC_NODE_UNWOUND,
    };
    if (node->parent == CN_NONE && record->parent != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "node %" PRIu32 " has the parent %" PRIu32
                       ", which no earlier node is",
                       record->id, record->parent);
    if (!cn_hpc_node_kind(record->module,
                          node->parent == CN_NONE ? CN_NODE_GLOBAL
                                                  : own->nodes[node->parent].kind,
                          is_at_top(own, node->parent), &node->kind))
        return misplaced(record, "of no kind that belongs there", err);
    if (record->module == NO_MODULE)
        return read_special(own, record, node, err);
    if (node->kind != CN_NODE_POINT && node->kind != CN_NODE_RANGE_SAMPLE)
        return true;
    if (own->module_numbers[record->module] == 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "node %" PRIu32 " lies in load module %u, which is not there",
                       record->id, record->module);
    node->module = (uint16_t)(own->module_numbers[record->module] - 1);
    return true;
}

static bool read_nodes(struct own *own, const struct cn_hpc_run *run,
                       struct cn_error *err)
{
    if (run->node_count >= CN_HPC_NODE_ID_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%" PRIu64 " nodes", run->node_count);
    own->nodes = make_room(own->nodes, (size_t)run->node_count, &own->node_capacity,
                           sizeof(*own->nodes));
    cn_hpc_node_ids_begin(&own->ids, (size_t)run->node_count);
    for (uint32_t i = 0; i < run->node_count; i++) {
        struct cn_hpc_run_node record;

        (void)cn_hpc_run_node_decode(
            cn_bytes_element(run->nodes, i, cn_hpc_run_node_size), &record);
        if (record.id == 0 || record.id > CN_HPC_NODE_ID_MAX)
            return cn_fail(err, CN_ERR_FORMAT,
                           "node number %" PRIu32 " has the id %" PRIu32, i, record.id);
        if (!read_node(own, &record, i, err))
            return false;
        if (!cn_hpc_node_ids_add(&own->ids, record.id, i))
            return cn_fail(err, CN_ERR_FORMAT, "two nodes with the id %" PRIu32,
                           record.id);
    }
    return true;
}

static bool read_value(struct own *own, const struct cn_hpc_run *run, uint64_t number,
                       uint32_t node, struct cn_error *err)
{
    struct cn_hpc_run_value record;
    double value;

    (void)cn_hpc_run_value_decode(
        cn_bytes_element(run->values, number, cn_hpc_run_value_size), &record);
    if (record.metric >= own->metric_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "value %" PRIu64 " is of metric %u, but there are %zu", number,
                       record.metric, own->metric_count);
    if (own->metrics[record.metric].formula.len > 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "value %" PRIu64 " is of metric %u, which is a formula", number,
                       record.metric);
    memcpy(&value, &record.bits, sizeof(value));
    if (own->are_integers[record.metric])
        value = (double)record.bits;
    own->values[number] = (struct cn_sampled_value){
        .value = value * own->periods[record.metric],
        .node = node,
        .metric = record.metric,
    };
    return true;
}

static struct cn_hpc_run_value_index index_at(const struct cn_hpc_run *run, uint32_t i)
{
    struct cn_hpc_run_value_index record = {0};

    (void)cn_hpc_run_value_index_decode(
        cn_bytes_element(run->value_index, i, cn_hpc_run_value_index_size), &record);
    return record;
}

static bool read_block(struct own *own, const struct cn_hpc_run *run, uint32_t i,
                       struct cn_error *err)
{
    struct cn_hpc_run_value_index block = index_at(run, i), next = index_at(run, i + 1);
    uint32_t node = cn_hpc_node_ids_find(&own->ids, block.node);

    if (node == CN_NONE)
        return cn_fail(err, CN_ERR_FORMAT,
                       "values of node %" PRIu32 ", which is not there", block.node);
    if (block.first > next.first || next.first > run->value_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "node %" PRIu32 " has the values %" PRIu64 " to %" PRIu64
                       " of %" PRIu64,
                       block.node, block.first, next.first, run->value_count);
    for (uint64_t k = block.first; k < next.first; k++)
        if (!read_value(own, run, k, node, err))
            return false;
    return true;
}

static bool read_values(struct own *own, const struct cn_hpc_run *run,
                        struct cn_error *err)
{
    struct cn_hpc_run_value_index first = index_at(run, 0);
    struct cn_hpc_run_value_index last = index_at(run, run->valued_count);

    if (last.node != CN_HPC_VALUES_END || last.first != run->value_count ||
        (first.first != 0))
        return cn_fail(err, CN_ERR_FORMAT,
                       "index of %" PRIu64 " values reaches from %" PRIu64 " to %" PRIu64,
                       run->value_count, first.first, last.first);
    own->values = make_room(own->values, (size_t)run->value_count, &own->value_capacity,
                            sizeof(*own->values));
    for (uint32_t i = 0; i < run->valued_count; i++)
        if (!read_block(own, run, i, err))
            return false;
    return true;
}

/* A trace that cannot be read costs the trace, not the profile. */
static void read_trace(struct own *own, struct cn_bytes trace,
                       struct cn_sampled_profile *profile)
{
    struct cn_error err = {0};
    struct cn_bytes records;
    uint64_t flags;
    size_t stray_len;

    profile->sample_count = 0;
    if (trace.len == 0)
        return;
    if (!cn_hpc_trace_file_open(trace, &flags, &records, &stray_len, &err)) {
        cn_text_printf(&own->damage, "trace: %s", err.text);
        return;
    }
    if (flags & CN_HPC_TRACE_DATA_CENTRIC) {
        cn_text_str_add(&own->damage,
                        "trace: records of data, not of time, are left out");
        return;
    }
    if (stray_len > 0)
        cn_text_printf(&own->damage, "trace: %zu bytes after the last whole record",
                       stray_len);
    profile->has_call_samples = flags & CN_HPC_TRACE_CALLS;
    cn_hpc_trace_order_read(&own->order, records, &own->ids);
    profile->samples = own->order.samples;
    profile->sample_count = own->order.count;
}

static bool decode(struct own *own, const struct cn_hpc_run *run,
                   struct cn_sampled_profile *profile, struct cn_error *err)
{
    return read_header(run, profile, err) && read_metrics(own, run, err) &&
           read_modules(own, run, err) && read_kinds(own, run, err) &&
           read_identity(own, run, err) && read_nodes(own, run, err) &&
           read_values(own, run, err);
}

bool cn_hpc_profile_decode(struct cn_bytes run_bytes, struct cn_bytes trace,
                           struct cn_sampled_profile *profile, struct cn_error *err)
{
    struct own *own = own_of(profile);
    struct cn_hpc_run run;

    if (!cn_hpc_run_open(run_bytes, &run, err) || !decode(own, &run, profile, err))
        return false;
    cn_text_clear(&own->damage);
    profile->metrics = own->metrics;
    profile->modules = own->modules;
    profile->kinds = own->kinds;
    profile->metric_count = own->metric_count;
    profile->module_count = own->module_count;
    profile->kind_count = own->kind_count;
    profile->metrics_id = run.metrics_list;
    profile->modules_id = run.modules_list;
    profile->identity = own->identity;
    profile->identity_count = run.id_count;
    profile->nodes = own->nodes;
    profile->values = own->values;
    profile->node_count = (size_t)run.node_count;
    profile->value_count = (size_t)run.value_count;
    read_trace(own, trace, profile);
    profile->damage = own->damage.len > 0 ? own->damage.chars : NULL;
    return true;
}

static void name_trace(struct own *own, const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t len = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);

    cn_text_clear(&own->trace_path);
    cn_text_add(&own->trace_path, path, len);
    cn_text_str_add(&own->trace_path, ".hpctrace");
}

bool cn_hpc_profile_read(const char *path, bool without_trace,
                         struct cn_sampled_profile *profile, struct cn_error *err)
{
    struct own *own = own_of(profile);
    struct cn_error trace_err = {0};
    struct cn_bytes trace = {0};

    if (!cn_hpc_load(&own->run_file, path, err))
        return false;
    name_trace(own, path);
    if (!without_trace &&
        cn_hpc_load(&own->trace_file, own->trace_path.chars, &trace_err))
        trace = own->trace_file.bytes;
    if (!cn_hpc_profile_decode(own->run_file.bytes, trace, profile, err))
        return false;
    if (trace_err.kind != CN_ERR_NONE && trace_err.kind != CN_ERR_NOT_FOUND) {
        cn_text_printf(&own->damage, "trace: %s", trace_err.text);
        profile->damage = own->damage.chars;
    }
    return true;
}

void cn_hpc_profile_done(struct cn_sampled_profile *profile)
{
    struct own *own = profile->own;

    if (!own)
        return;
    cn_hpc_load_done(&own->run_file);
    cn_hpc_load_done(&own->trace_file);
    cn_text_done(&own->trace_path);
    cn_text_done(&own->damage);
    free(own->metrics);
    free(own->periods);
    free(own->are_integers);
    free(own->modules);
    free(own->kinds);
    free(own->identity);
    free(own->nodes);
    free(own->values);
    cn_hpc_trace_order_done(&own->order);
    cn_hpc_node_ids_done(&own->ids);
    free(own->module_numbers);
    free(own->module_ids);
    free(own);
    *profile = (struct cn_sampled_profile){0};
}
