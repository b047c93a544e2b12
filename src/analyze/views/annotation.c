#include "analyze/views/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/views/code_costs.h"
#include "base/alloc.h"
#include "base/files/file.h"
#include "symbols/program/resolver.h"
#include "symbols/sources.h"

enum { SOURCE_LEN_MAX = 8 << 20 };

bool cn_annotation_function(struct cn_database *db, const struct cn_context_index *index,
                            uint32_t node, uint32_t *out, struct cn_error *err)
{
    for (; node != CN_NONE; node = index->nodes[node].parent) {
        struct cn_context context;

        if (!cn_context_at(db, index->nodes[node].at, &context, err))
            return false;
        if (context.kind != CN_CONTEXT_FUNCTION || context.relation == CN_INLINED_CALL ||
            !context.has_function || context.function == CN_NONE)
            continue;
        *out = context.function;
        return true;
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "the function of this row is unknown");
}

bool cn_annotation_column(const struct cn_costs *costs, size_t *out, struct cn_error *err)
{
    for (*out = 0; *out < costs->column_count; ++*out)
        if (costs->columns[*out].side == CN_SELF && !costs->columns[*out].is_hidden &&
            costs->columns[*out].fraction == 0)
            return true;
    return cn_fail(err, CN_ERR_NOT_FOUND, "this metric has no self costs");
}

static bool open_code(struct cn_annotation *annotation, struct cn_database *db,
                      const struct cn_function *function, struct cn_error *err)
{
    struct cn_module module;

    if (function->module == CN_NONE)
        return cn_fail(err, CN_ERR_NOT_FOUND, "the binary of %s is unknown",
                       function->name);
    if (!cn_database_module(db, function->module, &module, err))
        return false;
    annotation->module = module.path;
    annotation->build_id = module.build_id;
    annotation->resolver = cn_resolver_new();
    return cn_assembly_open(&annotation->assembly, annotation->resolver, module.path,
                            module.build_id ? module.build_id : "", function->offset,
                            err);
}

/* Costs inside an instruction are those of the instruction. */
static void add_costs(struct cn_annotation *annotation, uint32_t function,
                      const struct cn_code_costs *found)
{
    annotation->costs = cn_alloc(annotation->assembly.count, sizeof(*annotation->costs));
    for (size_t i = 0; i < found->count; i++) {
        const struct cn_code_cost *cost = &found->list[i];
        uint32_t at = cn_assembly_find(&annotation->assembly, cost->offset);

        annotation->costs[at] += cost->value;
        if (cost->is_inlined || cost->function != function)
            annotation->inlined += cost->value;
        else
            annotation->self += cost->value;
    }
}

/* Copy the lines of a file that instructions belong to. */
static void read_lines(struct cn_annotation *annotation, const char *file,
                       struct cn_bytes text)
{
    const struct cn_assembly *assembly = &annotation->assembly;
    size_t line_count = 0, capacity = 0;
    struct cn_bytes *lines = NULL;
    bool has_next = true;

    while (has_next) {
        CN_GROW(lines, line_count, capacity);
        has_next = cn_bytes_take_until(&text, '\n', &lines[line_count++]);
    }
    for (size_t i = 0; i < assembly->count; i++) {
        const struct cn_assembly_line *at = &assembly->list[i];

        if (at->file != file || at->line == 0 || at->line > line_count ||
            !cn_annotation_begins_line(assembly, i))
            continue;
        annotation->sources[i] =
            cn_arena_copy(&annotation->arena, (const char *)lines[at->line - 1].ptr,
                          lines[at->line - 1].len);
    }
    free(lines);
}

static bool was_read(const struct cn_assembly *assembly, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (assembly->list[i].file == assembly->list[before].file)
            return true;
    return false;
}

/* Names of files are unique strings of the resolver. */
static void add_sources(struct cn_annotation *annotation)
{
    const struct cn_assembly *assembly = &annotation->assembly;
    struct cn_sources sources = {0};

    annotation->sources = cn_alloc(assembly->count, sizeof(*annotation->sources));
    for (size_t i = 0; i < assembly->count; i++) {
        const char *name = assembly->list[i].file, *path;
        struct cn_file file = {0};
        struct cn_error ignored;

        if (!cn_annotation_begins_line(assembly, i) || was_read(assembly, i))
            continue;
        path = cn_sources_find(&sources, name);
        if (path && cn_file_open(&file, path, &ignored) &&
            file.bytes.len <= SOURCE_LEN_MAX)
            read_lines(annotation, name, file.bytes);
        cn_file_close(&file);
    }
    cn_sources_done(&sources);
}

bool cn_annotation_open(struct cn_annotation *annotation, struct cn_costs *costs,
                        const struct cn_context_index *index, size_t column,
                        uint32_t function, struct cn_error *err)
{
    struct cn_code_costs found = {0};
    struct cn_function record;
    bool has_costs, ok;

    *annotation = (struct cn_annotation){0};
    if (!cn_database_function(costs->db, function, &record, err) ||
        !open_code(annotation, costs->db, &record, err) ||
        !cn_code_costs_exist(costs->db, index, &has_costs, err))
        return false;
    if (!has_costs)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "costs of instructions are unknown; perf.data files and "
                       "recordings of cairn sample have them");
    ok = cn_code_costs_find(
        &found, costs, index, column,
        (struct cn_code_range){record.module, annotation->assembly.offset,
                               annotation->assembly.offset + annotation->assembly.size},
        err);
    if (ok)
        add_costs(annotation, function, &found);
    cn_code_costs_done(&found);
    if (ok)
        add_sources(annotation);
    return ok;
}

void cn_annotation_close(struct cn_annotation *annotation)
{
    cn_assembly_done(&annotation->assembly);
    cn_resolver_free(annotation->resolver);
    free(annotation->costs);
    free(annotation->sources);
    cn_arena_done(&annotation->arena);
    *annotation = (struct cn_annotation){0};
}
