/* The source file of a context, with the cost of each line. Only copies inside the database are
 * shown, and files that the debug information of the function's binary names, as with its
 * instructions: nothing else on the machine can be read. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/views/annotation.h"
#include "base/alloc.h"
#include "base/files/file.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"
#include "symbols/sources.h"

enum { SOURCE_LEN_MAX = 8 << 20, LINE_MAX_COUNT = 200000 };

/* The file of a context, or of its function. */
static bool file_of(struct cn_database *db, const struct cn_context *context,
                    uint32_t *file, uint32_t *line, struct cn_error *err)
{
    struct cn_function function;

    *file = context->has_source ? context->file : CN_NONE;
    *line = context->has_source ? context->line : 0;
    if (*file != CN_NONE || !context->has_function || context->function == CN_NONE)
        return true;
    if (!cn_database_function(db, context->function, &function, err))
        return false;
    *file = function.file;
    *line = function.line;
    return true;
}

bool cn_api_has_source(struct cn_database *db, const struct cn_context *context,
                       bool *has, struct cn_error *err)
{
    struct cn_source_file source = {0};
    uint32_t file, line;

    if (!file_of(db, context, &file, &line, err) ||
        (file != CN_NONE && !cn_database_file(db, file, &source, err)))
        return false;
    *has = source.is_copied;
    return true;
}

/* The self costs of the lines of a file. */
struct line_costs {
    uint32_t file;
    size_t column, count;
    double *list;       /* by line - 1 */
    bool has_functions; /* some costs are known for each function, not for lines */
};

static bool is_inside_function(const struct cn_context *context)
{
    return context->kind == CN_CONTEXT_LOOP || context->kind == CN_CONTEXT_LINE ||
           context->kind == CN_CONTEXT_INSTRUCTION;
}

/* By node: the kind of a context, and whether its cost is also that of loops, lines or instructions
 * inside it. */
struct source_node_kind {
    uint8_t kind;
    bool has_inner;
};

static bool find_kinds(struct source_node_kind *kinds, struct cn_database *db,
                       const struct cn_context_index *index, struct cn_error *err)
{
    for (size_t i = 0; i < index->count; i++) {
        uint32_t parent = index->nodes[i].parent;
        struct cn_context context;

        if (!cn_context_at(db, index->nodes[i].at, &context, err))
            return false;
        kinds[i].kind = (uint8_t)context.kind;
        if (parent != CN_NONE && is_inside_function(&context))
            kinds[parent].has_inner = true;
    }
    return true;
}

/* Add up the contexts in the file, each cost once: self costs of functions and loops contain those
 * of their lines, and those of lines contain their instructions. The line of a function is where it
 * is defined, not where its cost was measured. */
static bool add_up(struct line_costs *lines, struct cn_costs *costs,
                   const struct cn_context_index *index,
                   const struct source_node_kind *kinds, struct cn_error *err)
{
    double values[CN_COST_COLUMN_MAX];

    for (size_t i = 0; i < index->count; i++) {
        uint32_t file, line, parent = index->nodes[i].parent;
        struct cn_context context;

        if (kinds[i].kind == CN_CONTEXT_INSTRUCTION
                ? parent != CN_NONE && kinds[parent].kind == CN_CONTEXT_LINE
                : kinds[i].kind != CN_CONTEXT_LINE && kinds[i].has_inner)
            continue;
        if (!cn_context_at(costs->db, index->nodes[i].at, &context, err) ||
            !file_of(costs->db, &context, &file, &line, err))
            return false;
        if (file != lines->file || line == 0 || line > lines->count)
            continue;
        if (!cn_costs_of_context(costs, context.id, values, err))
            return false;
        if (isnan(values[lines->column]) || values[lines->column] == 0)
            continue;
        if (context.kind == CN_CONTEXT_FUNCTION)
            lines->has_functions = true;
        else
            lines->list[line - 1] += values[lines->column];
    }
    return true;
}

static size_t count_lines(struct cn_bytes text)
{
    struct cn_bytes line;
    size_t count = 0;

    for (; text.len > 0 && count < LINE_MAX_COUNT; count++)
        (void)cn_bytes_take_until(&text, '\n', &line);
    return count;
}

static void add_lines(struct cn_json *json, struct cn_bytes text, size_t line_count)
{
    struct cn_text shown = {0};
    struct cn_bytes line;

    cn_json_add_array(json, "lines");
    for (size_t i = 0; i < line_count; i++) {
        (void)cn_bytes_take_until(&text, '\n', &line);
        cn_text_clear(&shown);
        cn_text_add(&shown, (const char *)line.ptr, line.len);
        cn_json_str(json, cn_text_str(&shown));
    }
    cn_json_end(json);
    cn_text_done(&shown);
}

static bool show(struct cn_served *served, struct cn_json *json, struct cn_costs *costs,
                 uint32_t file, struct cn_bytes text, struct cn_error *err)
{
    struct line_costs lines = {.file = file, .count = count_lines(text)};
    const struct cn_context_index *index = &served->structure.frames.index;
    bool ok = cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err);

    while (lines.column < costs->column_count &&
           costs->columns[lines.column].side != CN_SELF)
        lines.column++;
    const struct cn_cost_column *column =
        lines.column < costs->column_count ? &costs->columns[lines.column] : NULL;
    lines.list = cn_alloc(lines.count, sizeof(*lines.list));
    struct source_node_kind *kinds = cn_alloc(index->count, sizeof(*kinds));
    ok = ok && (!column || (find_kinds(kinds, costs->db, index, err) &&
                            add_up(&lines, costs, index, kinds, err)));
    cn_json_add_str(json, "column", column ? column->metric : "");
    if (column)
        cn_json_add_base(json, costs->db, column->metric);
    cn_json_add_f64(json, "total", column ? column->total : NAN);
    cn_json_add_bool(json, "isPerFunction", lines.has_functions);
    add_lines(json, text, lines.count);
    cn_json_add_array(json, "costs");
    for (size_t i = 0; i < lines.count; i++) {
        if (lines.list[i] == 0)
            continue;
        cn_json_array(json);
        cn_json_u64(json, i + 1);
        cn_json_f64(json, lines.list[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
    free(kinds);
    free(lines.list);
    return ok;
}

/* True if a file is inside the folder, with all symbolic links resolved. */
static bool lies_inside(const char *folder, const char *name)
{
    char path[PATH_MAX], real_folder[PATH_MAX], real_file[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
        !realpath(folder, real_folder) || !realpath(path, real_file))
        return false;
    size_t len = strlen(real_folder);
    return strncmp(real_folder, real_file, len) == 0 && real_file[len] == '/';
}

static bool check_len(struct cn_file *file, const char *path, struct cn_error *err)
{
    if (file->bytes.len <= SOURCE_LEN_MAX)
        return true;
    cn_file_close(file);
    return cn_fail(err, CN_ERR_LIMIT, "%s is longer than %d bytes", path, SOURCE_LEN_MAX);
}

/* True if the binary of the function around a context was compiled from this file. */
static bool is_named(struct cn_served *served, struct cn_served_view *view,
                     const struct cn_context *context, const char *path)
{
    const struct cn_context_index *index = &served->structure.frames.index;
    struct cn_annotation annotation = {0};
    struct cn_error ignored;
    uint32_t function;
    size_t column;
    bool is_found = false;

    if (cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, &ignored) &&
        cn_annotation_column(&view->costs, &column, &ignored) &&
        cn_annotation_function(served->db, index,
                               cn_context_index_find(index, context->id), &function,
                               &ignored) &&
        cn_annotation_open(&annotation, &view->costs, index, column, function, &ignored))
        for (size_t i = 0; i < annotation.assembly.count && !is_found; i++)
            is_found = annotation.assembly.list[i].file &&
                       strcmp(annotation.assembly.list[i].file, path) == 0;
    cn_annotation_close(&annotation);
    return is_found;
}

static bool open_source(struct cn_served *served, struct cn_served_view *view,
                        const struct cn_context *context,
                        const struct cn_source_file *file, struct cn_file *out,
                        struct cn_error *err)
{
    struct cn_sources sources = {0};

    /* Databases are not trusted: their paths must not lead out of them. */
    if (file->is_copied && lies_inside(served->db->path, file->path))
        return cn_file_open_at(out, served->db->path, file->path, err) &&
               check_len(out, file->path, err);
    const char *path = is_named(served, view, context, file->path)
                           ? cn_sources_find(&sources, file->path)
                           : NULL;
    bool ok = path ? cn_file_open(out, path, err) && check_len(out, path, err)
                   : cn_fail(err, CN_ERR_NOT_FOUND, "%s: the database has no copy of it",
                             file->path);
    cn_sources_done(&sources);
    return ok;
}

bool cn_api_source(struct cn_served *served, struct cn_served_view *view,
                   struct cn_request *request, struct cn_error *err)
{
    struct cn_source_file source;
    struct cn_context context;
    struct cn_file file = {0};
    uint32_t index, line;
    uint64_t row;

    if (!cn_request_context(request, served->db, &row, &context, err) ||
        !file_of(served->db, &context, &index, &line, err))
        return false;
    if (index == CN_NONE)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "the source file of this context is unknown");
    if (!cn_database_file(served->db, index, &source, err) ||
        !open_source(served, view, &context, &source, &file, err))
        return false;
    cn_json_add_str(&request->json, "path", source.path);
    cn_json_add_u64(&request->json, "line", line);
    bool ok = show(served, &request->json, &view->costs, index, file.bytes, err);
    cn_file_close(&file);
    return ok;
}
