#include "formats/hpctoolkit/meta/meta.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "formats/hpctoolkit/scopes.h"
#include "model/contexts/database.h"

/* Paths of copied files are built in memory: at most this many times the file. */
enum { SHARING_MAX = 4 };

/* A field of a record in one of the tables. */
static uint64_t get(const struct cn_hpc_table *table,
                    const struct cn_record_layout *layout, uint32_t index,
                    const struct cn_field *field)
{
    return cn_field_get(layout, field, cn_hpc_table_at(table, index).ptr);
}

static bool find_string(const struct cn_hpc_meta *meta, uint64_t off, const char *what,
                        const char **out, struct cn_error *err)
{
    return cn_hpc_span_string(meta->sections[CN_HPC_STRINGS], off, what, out, err);
}

static bool fail_in(const struct cn_hpc_meta *meta, unsigned shape,
                    const struct cn_hpc_table *table, uint32_t index,
                    struct cn_error *err)
{
    return cn_fail_in(err, "%s %" PRIu32 " at 0x%" PRIx64,
                      meta->encoding->shapes[shape]->name, index,
                      cn_hpc_table_off(table, index));
}

static const struct cn_record_layout *layout_of(const struct cn_hpc_meta *meta,
                                                unsigned shape)
{
    return cn_hpc_meta_layout(meta->encoding, shape);
}

bool cn_hpc_meta_module(const struct cn_hpc_meta *meta, uint32_t index,
                        struct cn_module *out, struct cn_error *err)
{
    const struct cn_record_layout *layout = layout_of(meta, CN_HPC_MODULE_SHAPE);
    struct cn_module module = {0};

    if (!find_string(meta, get(&meta->modules, layout, index, meta->module.path), "path",
                     &module.path, err))
        return fail_in(meta, CN_HPC_MODULE_SHAPE, &meta->modules, index, err);
    *out = module;
    return true;
}

static bool read_file(const struct cn_hpc_meta *meta, uint32_t index,
                      struct cn_source_file *out, struct cn_error *err)
{
    const struct cn_record_layout *layout = layout_of(meta, CN_HPC_FILE_SHAPE);
    uint64_t flags = get(&meta->files, layout, index, meta->source.flags);
    struct cn_source_file file = {.is_copied = flags & CN_HPC_FILE_COPIED};

    if (!find_string(meta, get(&meta->files, layout, index, meta->source.path), "path",
                     &file.path, err))
        return fail_in(meta, CN_HPC_FILE_SHAPE, &meta->files, index, err);
    *out = file;
    return true;
}

bool cn_hpc_meta_file(const struct cn_hpc_meta *meta, uint32_t index,
                      struct cn_source_file *out, struct cn_error *err)
{
    if (!read_file(meta, index, out, err))
        return false;
    if (out->is_copied && meta->copied_paths)
        out->path = meta->copied_paths[index];
    return true;
}

bool cn_hpc_meta_function(const struct cn_hpc_meta *meta, uint32_t index,
                          struct cn_function *out, struct cn_error *err)
{
    const struct cn_record_layout *layout = layout_of(meta, CN_HPC_FUNCTION_SHAPE);
    const struct cn_hpc_table *table = &meta->functions;
    uint64_t name_off = get(table, layout, index, meta->function.name);
    struct cn_function function = {
        .name = "",
        .offset = get(table, layout, index, meta->function.entry),
        .line = (uint32_t)get(table, layout, index, meta->function.line),
    };

    if ((name_off != 0 && !find_string(meta, name_off, "name", &function.name, err)) ||
        !cn_hpc_table_find_optional(&meta->modules,
                                    get(table, layout, index, meta->function.module),
                                    "module", &function.module, err) ||
        !cn_hpc_table_find_optional(&meta->files,
                                    get(table, layout, index, meta->function.file),
                                    "file", &function.file, err))
        return fail_in(meta, CN_HPC_FUNCTION_SHAPE, table, index, err);
    if (meta->encoding->is_proto) {
        if (function.module == CN_NONE || function.offset == UINT64_MAX)
            function.offset = 0;
        if (function.file == CN_NONE)
            function.line = 0;
    }
    *out = function;
    return true;
}

static void find_fields(struct cn_hpc_meta *meta)
{
    const struct cn_record_layout *module = layout_of(meta, CN_HPC_MODULE_SHAPE);
    const struct cn_record_layout *file = layout_of(meta, CN_HPC_FILE_SHAPE);
    const struct cn_record_layout *function = layout_of(meta, CN_HPC_FUNCTION_SHAPE);

    meta->module.path = cn_record_field(module, "path_off");
    meta->source.path = cn_record_field(file, "path_off");
    meta->source.flags = cn_record_field(file, "flags");
    meta->function.name = cn_record_field(function, "name_off");
    meta->function.module = cn_record_field(function, "module_off");
    meta->function.entry = cn_record_field(function, "entry_off");
    meta->function.file = cn_record_field(function, "file_off");
    meta->function.line = cn_record_field(function, "line");
}

static bool make_paths(struct cn_hpc_meta *meta, struct cn_arena *arena,
                       struct cn_error *err)
{
    uint64_t budget = (uint64_t)SHARING_MAX * meta->file.len;
    struct cn_source_file file;

    meta->copied_paths =
        cn_arena_alloc(arena, meta->files.count, sizeof(*meta->copied_paths));
    for (uint32_t i = 0; i < meta->files.count; i++) {
        if (!read_file(meta, i, &file, err))
            return false;
        if (!file.is_copied)
            continue;
        if (strlen(file.path) > budget)
            return cn_fail(err, CN_ERR_FORMAT,
                           "file %" PRIu32 " at 0x%" PRIx64
                           ": paths share their bytes more than %d times",
                           i, cn_hpc_table_off(&meta->files, i), SHARING_MAX);
        budget -= strlen(file.path);
        meta->copied_paths[i] = cn_arena_printf(arena, "%s%s", meta->encoding->copies,
                                                file.path + strspn(file.path, "/"));
    }
    return true;
}

/* Entry points, or the list of contexts without any. */
static bool find_roots(struct cn_hpc_meta *meta, struct cn_hpc_walk *walk,
                       struct cn_error *err)
{
    const struct cn_hpc_item *head = &walk->head;

    if (layout_of(meta, CN_HPC_ENTRY_SHAPE))
        return cn_hpc_walk_table(walk, CN_HPC_CONTEXTS, &meta->entries, err);
    if (!cn_hpc_walk_header(walk, CN_HPC_CONTEXTS, err))
        return false;
    uint64_t len = cn_hpc_item_get(head, "roots_len");
    meta->roots.off = cn_hpc_roots_off(head);
    return len == 0 ||
           cn_hpc_span_slice(walk->section, meta->roots.off, len, &meta->roots.bytes) ||
           cn_fail(err, CN_ERR_FORMAT,
                   "root contexts of %" PRIu64 " bytes at 0x%" PRIx64
                   " do not fit their section",
                   len, meta->roots.off);
}

bool cn_hpc_meta_open(struct cn_hpc_meta *meta, struct cn_arena *arena,
                      struct cn_error *err)
{
    struct cn_hpc_walk walk = {.meta = meta};

    find_fields(meta);
    return cn_hpc_walk_table(&walk, CN_HPC_MODULES, &meta->modules, err) &&
           cn_hpc_walk_table(&walk, CN_HPC_FILES, &meta->files, err) &&
           cn_hpc_walk_table(&walk, CN_HPC_FUNCTIONS, &meta->functions, err) &&
           (!meta->encoding->copies || make_paths(meta, arena, err)) &&
           find_roots(meta, &walk, err);
}

/* The head of a database being read. */
struct meta_reader {
    struct cn_hpc_walk walk;
    struct cn_database *db;
    struct cn_error *err;
    const char **kinds;
    size_t kind_count, kind_capacity;
    struct cn_names scope_names;
    struct cn_scope *scopes;
    size_t scope_count, scope_capacity;
    struct cn_metric *metrics;
    size_t metric_count, metric_capacity;
    uint64_t metric; /* that has the following */
    struct cn_scope_instance *instances;
    size_t instance_count, instance_capacity;
    struct cn_statistic *statistics;
    size_t statistic_count, statistic_capacity;
};

static void end_metric(struct meta_reader *r)
{
    struct cn_arena *arena = &r->db->arena;

    if (r->instance_count > 0 || r->statistic_count > 0) {
        struct cn_metric *metric = &r->metrics[r->metric];

        metric->instance_count = r->instance_count;
        metric->instances =
            cn_arena_dup(arena, r->instances, r->instance_count, sizeof(*r->instances));
        metric->statistic_count = r->statistic_count;
        metric->statistics = cn_arena_dup(arena, r->statistics, r->statistic_count,
                                          sizeof(*r->statistics));
    }
    r->instance_count = r->statistic_count = 0;
}

static bool add_scope(struct meta_reader *r, struct cn_scope scope)
{
    if (r->scope_count == UINT16_MAX)
        return cn_fail(r->err, CN_ERR_LIMIT, "more than %d scopes", UINT16_MAX);
    CN_PUSH(r->scopes, r->scope_count, r->scope_capacity, scope);
    return true;
}

/* A scope of a metric, which is an element of a table or has a name. */
static bool add_instance(struct meta_reader *r, const struct cn_hpc_item *item)
{
    uint32_t scope = item->parts[0].target;

    if (item->parts[0].text) {
        scope = cn_names_add(&r->scope_names, item->parts[0].text);
        if (scope == r->scope_count &&
            !add_scope(r, cn_hpc_scope_of(item->parts[0].text)))
            return false;
    }
    CN_PUSH(r->instances, r->instance_count, r->instance_capacity,
            (struct cn_scope_instance){(uint16_t)scope,
                                       (uint16_t)cn_hpc_item_get(item, "prop_id")});
    return true;
}

/* A statistic, of a scope that it points to or that contains it. */
static void add_statistic(struct meta_reader *r, const struct cn_hpc_item *item)
{
    uint32_t scope = item->parts[1].target;

    if (scope == CN_NONE)
        scope = r->instances[r->walk.places[1].index].scope;
    CN_PUSH(r->statistics, r->statistic_count, r->statistic_capacity,
            (struct cn_statistic){
                .scope = (uint16_t)scope,
                .stat_id = (uint16_t)cn_hpc_item_get(item, "stat_id"),
                .combine = (uint8_t)cn_hpc_item_get(item, "combine"),
                .formula = item->parts[0].text,
            });
}

static bool add_kind(struct meta_reader *r, const char *name)
{
    if (r->kind_count == CN_KINDS_MAX)
        return cn_fail(r->err, CN_ERR_LIMIT, "more than %d identifier kinds",
                       CN_KINDS_MAX);
    CN_PUSH(r->kinds, r->kind_count, r->kind_capacity, name);
    return true;
}

static bool on_record(void *arg, const struct cn_hpc_item *item)
{
    struct meta_reader *r = arg;

    if (item->shape == CN_HPC_INSTANCE_SHAPE || item->shape == CN_HPC_STATISTIC_SHAPE) {
        if (r->metric != r->walk.places[0].index)
            end_metric(r);
        r->metric = r->walk.places[0].index;
    }
    switch (item->shape) {
    case CN_HPC_GENERAL:
        r->db->title = item->parts[0].text;
        r->db->description = item->parts[1].text ? item->parts[1].text : "";
        return true;
    case CN_HPC_KIND_SHAPE:
        return add_kind(r, item->parts[0].text);
    case CN_HPC_SCOPE_SHAPE:
        return add_scope(
            r,
            (struct cn_scope){item->parts[0].text, (uint8_t)cn_hpc_item_get(item, "type"),
                              (uint8_t)cn_hpc_item_get(item, "propagation")});
    case CN_HPC_METRIC_SHAPE:
        CN_PUSH(r->metrics, r->metric_count, r->metric_capacity,
                (struct cn_metric){.name = item->parts[0].text});
        return true;
    case CN_HPC_INSTANCE_SHAPE:
        return add_instance(r, item);
    case CN_HPC_STATISTIC_SHAPE:
        add_statistic(r, item);
        return true;
    default:
        return true;
    }
}

bool cn_hpc_meta_read(const struct cn_hpc_meta *meta, struct cn_database *db,
                      struct cn_error *err)
{
    struct meta_reader r = {
        .walk = {.meta = meta, .record = on_record}, .db = db, .err = err};
    struct cn_arena *arena = &db->arena;

    r.walk.arg = &r;
    bool ok = cn_hpc_walk_section(&r.walk, CN_HPC_GENERAL, err) &&
              cn_hpc_walk_section(&r.walk, CN_HPC_ID_NAMES, err) &&
              cn_hpc_walk_section(&r.walk, CN_HPC_METRICS, err);
    if (ok) {
        end_metric(&r);
        db->kinds = (struct cn_kinds){
            cn_arena_dup(arena, r.kinds, r.kind_count, sizeof(*r.kinds)), r.kind_count};
        db->metrics = (struct cn_metrics){
            .scopes = cn_arena_dup(arena, r.scopes, r.scope_count, sizeof(*r.scopes)),
            .scope_count = r.scope_count,
            .list = cn_arena_dup(arena, r.metrics, r.metric_count, sizeof(*r.metrics)),
            .count = r.metric_count,
        };
    }
    cn_names_done(&r.scope_names);
    free(r.kinds);
    free(r.scopes);
    free(r.metrics);
    free(r.instances);
    free(r.statistics);
    return ok;
}
