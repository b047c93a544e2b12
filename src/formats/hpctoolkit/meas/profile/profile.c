#include "formats/hpctoolkit/meas/profile/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/profile/directory.h"
#include "formats/hpctoolkit/meas/profile/node_ids.h"
#include "formats/hpctoolkit/meas/profile/node_kinds.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"

enum { NO_MODULE = 0 };

/* How the values of a metric are stored. */
struct profile_scale {
    double period;
    bool is_integer;
};

/* The memory that a profile is decoded into; the next profile reuses it. */
struct profile_own {
    struct cn_hpc_load run_file, trace_file;
    struct cn_text trace_path, damage;
    struct cn_sampled_metric *metrics;
    struct profile_scale *scales; /* by metric */
    struct cn_bytes *modules, *kinds;
    struct cn_sampled_identity *identity;
    struct cn_sampled_node *nodes;
    struct cn_sampled_value *values;
    struct cn_hpc_trace_order order;
    size_t metric_count, metric_capacity, scale_capacity;
    size_t module_count, module_capacity;
    size_t kind_count, kind_capacity, identity_capacity;
    size_t node_capacity, value_capacity;
    struct cn_hpc_node_ids ids;
    uint32_t *module_slots; /* by id: index + 1; 0: none */
    size_t module_slot_count, module_slot_capacity;
    uint16_t *module_ids; /* by index */
    size_t module_ids_capacity;
};

static struct profile_own *own_of(struct cn_sampled_profile *profile)
{
    struct profile_own *own = profile->own;

    if (!own)
        own = profile->own = cn_alloc(1, sizeof(*own));
    return own;
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
        if (cn_bytes_equal(pair.name, "program-name"))
            profile->program = pair.value;
        else if (cn_bytes_equal(pair.name, "program-path"))
            profile->program_path = pair.value;
    }
    return step == CN_END;
}

static bool read_metrics(struct profile_own *own, const struct cn_hpc_run *run,
                         struct cn_error *err)
{
    struct cn_bytes rest = run->metrics_list;
    struct cn_hpc_run_metric_entry entry;
    enum cn_step step;
    size_t count = 0;

    while ((step = cn_hpc_run_metric_next(&rest, &entry, err)) == CN_ITEM) {
        CN_GROW(own->metrics, count, own->metric_capacity);
        CN_GROW(own->scales, count, own->scale_capacity);
        own->metrics[count] = (struct cn_sampled_metric){
            .name = entry.name,
            .description = entry.description,
            .formula = entry.formula,
            .format = entry.format,
            .show = entry.show,
            .shows_percent = entry.shows_percent,
            .is_moved = entry.is_moved,
        };
        own->scales[count++] = (struct profile_scale){
            (double)entry.period, entry.value_format == CN_HPC_VALUES_INTEGER};
    }
    own->metric_count = count;
    return step == CN_END;
}

/* The slot of a load module. */
static uint32_t *module_slot(struct profile_own *own, uint16_t id)
{
    CN_GROW_TO(own->module_slots, (size_t)id + 1, own->module_slot_capacity);
    while (own->module_slot_count <= id)
        own->module_slots[own->module_slot_count++] = 0;
    return &own->module_slots[id];
}

static bool read_modules(struct profile_own *own, const struct cn_hpc_run *run,
                         struct cn_error *err)
{
    struct cn_bytes rest = run->modules_list;
    struct cn_hpc_run_module_entry entry;
    enum cn_step step;

    for (size_t i = 0; i < own->module_count; i++)
        own->module_slots[own->module_ids[i]] = 0;
    own->module_count = 0;
    while ((step = cn_hpc_run_module_next(&rest, &entry, err)) == CN_ITEM) {
        size_t at = own->module_count;

        if (*module_slot(own, entry.id) != 0)
            return cn_fail(err, CN_ERR_FORMAT, "two load modules with the id %u",
                           entry.id);
        CN_GROW(own->modules, at, own->module_capacity);
        CN_GROW(own->module_ids, at, own->module_ids_capacity);
        own->modules[at] = entry.path;
        own->module_ids[at] = entry.id;
        *module_slot(own, entry.id) = (uint32_t)at + 1;
        own->module_count++;
    }
    return step == CN_END;
}

static bool read_kinds(struct profile_own *own, const struct cn_hpc_run *run,
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
            CN_PUSH(own->kinds, own->kind_count, own->kind_capacity,
                    (struct cn_bytes){0});
        }
        own->kinds[kind.id] = kind.name;
    }
    return step == CN_END;
}

static bool read_identity(struct profile_own *own, const struct cn_hpc_run *run,
                          struct cn_error *err)
{
    if (run->id_count > CN_IDENTITY_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "identity of %u ids, can read %d",
                       run->id_count, CN_IDENTITY_MAX);
    CN_GROW_TO(own->identity, run->id_count, own->identity_capacity);
    for (uint16_t i = 0; i < run->id_count; i++) {
        struct cn_hpc_run_id id;

        (void)cn_hpc_run_id_decode(cn_bytes_element(run->ids, i, cn_hpc_run_id_size),
                                   &id);
        uint16_t kind = (uint16_t)cn_bits(id.kind, 0, CN_HPC_KIND_BITS);
        if (kind >= own->kind_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "identity of kind %u, but there are %zu kinds", kind,
                           own->kind_count);
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

/* True below nothing, or below the root. */
static bool is_at_top(const struct profile_own *own, uint32_t parent)
{
    return parent == CN_NONE || (own->nodes[parent].kind == CN_NODE_GLOBAL &&
                                 own->nodes[parent].address == CN_HPC_CODE_ROOT);
}

/* Set the kind of a node of load module 0. A node at the top that is no entry keeps the
 * code as its address, which identifies the root. Returns what the node is if it must not be
 * where it is, or NULL. */
static const char *set_special(struct cn_sampled_node *node, bool is_at_top)
{
    uint64_t code = node->address;

    switch (code) {
    case CN_HPC_CODE_ROOT:
        node->kind = CN_NODE_GLOBAL;
        return node->parent == CN_NONE ? NULL : "a root";
    case CN_HPC_CODE_IDLE:
        node->kind = CN_NODE_GLOBAL;
        return is_at_top ? NULL : "\"no activity\"";
    case CN_HPC_CODE_PARTIAL:
        node->kind = CN_NODE_ENTRY;
        node->address = CN_ENTRY_UNKNOWN;
        return is_at_top ? NULL : "a partial unwind";
    case CN_HPC_CODE_MAIN:
    case CN_HPC_CODE_THREAD:
        if (is_at_top) {
            node->kind = CN_NODE_ENTRY;
            node->address = code == CN_HPC_CODE_MAIN ? CN_ENTRY_MAIN_THREAD
                                                     : CN_ENTRY_APPLICATION_THREAD;
        }
        return NULL;
    case CN_HPC_CODE_UNKNOWN:
        node->kind = CN_NODE_UNKNOWN;
        return NULL;
    default:
        return NULL;
    }
}

static bool read_node(struct profile_own *own, const struct cn_hpc_run_node *record,
                      uint32_t index, struct cn_error *err)
{
    struct cn_sampled_node *node = &own->nodes[index];
    const char *misplaced = NULL;

    *node = (struct cn_sampled_node){
        .address = record->address,
        .parent = cn_hpc_node_ids_find(&own->ids, record->parent),
        .is_unwound = record->flags & CN_HPC_NODE_UNWOUND,
    };
    if (node->parent == CN_NONE && record->parent != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "node %" PRIu32 " has the parent %" PRIu32
                       ", which is no earlier node",
                       record->id, record->parent);
    bool is_top = is_at_top(own, node->parent);
    if (!cn_hpc_node_kind(record->module,
                          node->parent == CN_NONE ? CN_NODE_GLOBAL
                                                  : own->nodes[node->parent].kind,
                          is_top, &node->kind))
        misplaced = "of a kind that does not belong there";
    else if (record->module == NO_MODULE)
        misplaced = set_special(node, is_top);
    if (misplaced)
        return cn_fail(err, CN_ERR_FORMAT,
                       "node %" PRIu32 " is %s, but is below node %" PRIu32, record->id,
                       misplaced, record->parent);
    if (record->module == NO_MODULE ||
        (node->kind != CN_NODE_POINT && node->kind != CN_NODE_RANGE_SAMPLE))
        return true;
    if (*module_slot(own, record->module) == 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "node %" PRIu32 " is in load module %u, which does not exist",
                       record->id, record->module);
    node->module = (uint16_t)(*module_slot(own, record->module) - 1);
    return true;
}

static bool read_nodes(struct profile_own *own, const struct cn_hpc_run *run,
                       struct cn_error *err)
{
    if (run->node_count >= CN_HPC_NODE_ID_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%" PRIu64 " nodes", run->node_count);
    CN_GROW_TO(own->nodes, (size_t)run->node_count, own->node_capacity);
    cn_hpc_node_ids_begin(&own->ids, (size_t)run->node_count);
    for (uint32_t i = 0; i < run->node_count; i++) {
        struct cn_hpc_run_node record;

        (void)cn_hpc_run_node_decode(
            cn_bytes_element(run->nodes, i, cn_hpc_run_node_size), &record);
        if (record.id == 0 || record.id > CN_HPC_NODE_ID_MAX)
            return cn_fail(err, CN_ERR_FORMAT,
                           "node at index %" PRIu32 " has the id %" PRIu32, i, record.id);
        if (!read_node(own, &record, i, err))
            return false;
        if (!cn_hpc_node_ids_add(&own->ids, record.id, i))
            return cn_fail(err, CN_ERR_FORMAT, "two nodes with the id %" PRIu32,
                           record.id);
    }
    return true;
}

static struct cn_hpc_run_value_index index_at(const struct cn_hpc_run *run, uint32_t i)
{
    struct cn_hpc_run_value_index record = {0};

    (void)cn_hpc_run_value_index_decode(
        cn_bytes_element(run->value_index, i, cn_hpc_run_value_index_size), &record);
    return record;
}

static bool read_value(struct profile_own *own, const struct cn_hpc_run *run,
                       uint64_t index, uint32_t node, struct cn_error *err)
{
    struct cn_hpc_run_value record;
    double value;

    (void)cn_hpc_run_value_decode(
        cn_bytes_element(run->values, index, cn_hpc_run_value_size), &record);
    if (record.metric >= own->metric_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "value %" PRIu64 " is of metric %u, but there are %zu", index,
                       record.metric, own->metric_count);
    if (own->metrics[record.metric].formula.len > 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "value %" PRIu64 " is of metric %u, which is a formula", index,
                       record.metric);
    memcpy(&value, &record.bits, sizeof(value));
    if (own->scales[record.metric].is_integer)
        value = (double)record.bits;
    own->values[index] = (struct cn_sampled_value){
        .value = value * own->scales[record.metric].period,
        .node = node,
        .metric = record.metric,
    };
    return true;
}

static bool read_values(struct profile_own *own, const struct cn_hpc_run *run,
                        struct cn_error *err)
{
    struct cn_hpc_run_value_index block = index_at(run, 0), next = block;
    struct cn_hpc_run_value_index last = index_at(run, run->valued_count);

    if (last.node != CN_HPC_VALUES_END || last.first != run->value_count ||
        block.first != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index of %" PRIu64 " values extends from %" PRIu64 " to %" PRIu64,
                       run->value_count, block.first, last.first);
    CN_GROW_TO(own->values, (size_t)run->value_count, own->value_capacity);
    for (uint32_t i = 0; i < run->valued_count; i++, block = next) {
        uint32_t node = cn_hpc_node_ids_find(&own->ids, block.node);

        next = index_at(run, i + 1);
        if (node == CN_NONE)
            return cn_fail(err, CN_ERR_FORMAT,
                           "values of node %" PRIu32 ", which does not exist",
                           block.node);
        if (block.first > next.first || next.first > run->value_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "node %" PRIu32 " has the values %" PRIu64 " to %" PRIu64
                           " of %" PRIu64,
                           block.node, block.first, next.first, run->value_count);
        for (uint64_t k = block.first; k < next.first; k++)
            if (!read_value(own, run, k, node, err))
                return false;
    }
    return true;
}

/* An unreadable trace does not make the profile unreadable. */
static void read_trace(struct profile_own *own, struct cn_bytes trace,
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
        cn_text_str_add(&own->damage, err.text);
        return;
    }
    if (flags & CN_HPC_TRACE_DATA_CENTRIC) {
        cn_text_str_add(&own->damage, "data-centric records are not supported; left out");
        return;
    }
    profile->has_call_samples = flags & CN_HPC_TRACE_CALLS;
    cn_hpc_trace_order_read(&own->order, records, &own->ids);
    if (stray_len > 0)
        cn_text_printf(&own->damage, "0x%zx: %zu bytes after the last whole record",
                       trace.len - stray_len, stray_len);
    profile->samples = own->order.samples;
    profile->sample_count = own->order.count;
}

bool cn_hpc_profile_decode(struct cn_bytes run_bytes, struct cn_bytes trace,
                           struct cn_sampled_profile *profile, struct cn_error *err)
{
    struct profile_own *own = own_of(profile);
    struct cn_hpc_run run;

    if (!cn_hpc_run_open(run_bytes, &run, err) || !read_header(&run, profile, err) ||
        !read_metrics(own, &run, err) || !read_modules(own, &run, err) ||
        !read_kinds(own, &run, err) || !read_identity(own, &run, err) ||
        !read_nodes(own, &run, err) || !read_values(own, &run, err))
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

bool cn_hpc_profile_read(const char *path, bool without_trace,
                         struct cn_sampled_profile *profile, struct cn_error *err)
{
    struct profile_own *own = own_of(profile);
    struct cn_error trace_err = {0};
    struct cn_bytes trace = {0};

    if (!cn_hpc_load(&own->run_file, path, err))
        return false;
    cn_text_clear(&own->trace_path);
    cn_hpc_trace_path_print(path, &own->trace_path);
    if (!without_trace &&
        cn_hpc_load(&own->trace_file, own->trace_path.chars, &trace_err))
        trace = own->trace_file.bytes;
    if (!cn_hpc_profile_decode(own->run_file.bytes, trace, profile, err))
        return false;
    if (trace_err.kind != CN_ERR_NONE && trace_err.kind != CN_ERR_NOT_FOUND) {
        cn_text_str_add(&own->damage, trace_err.text);
        profile->damage = own->damage.chars;
    }
    profile->damage_file = cn_path_name(own->trace_path.chars);
    return true;
}

void cn_hpc_profile_done(struct cn_sampled_profile *profile)
{
    struct profile_own *own = profile->own;

    if (!own)
        return;
    cn_hpc_load_done(&own->run_file);
    cn_hpc_load_done(&own->trace_file);
    cn_text_done(&own->trace_path);
    cn_text_done(&own->damage);
    free(own->metrics);
    free(own->scales);
    free(own->modules);
    free(own->kinds);
    free(own->identity);
    free(own->nodes);
    free(own->values);
    cn_hpc_trace_order_done(&own->order);
    cn_hpc_node_ids_done(&own->ids);
    free(own->module_slots);
    free(own->module_ids);
    free(own);
    *profile = (struct cn_sampled_profile){0};
}
