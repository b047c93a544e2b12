/* The machine code of the function of a context, with the self cost of each instruction. */
#include "analyze/views/annotation.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

static void add_instructions(struct cn_json *json, const struct cn_annotation *annotation)
{
    cn_json_add_array(json, "instructions");
    for (size_t i = 0; i < annotation->assembly.count; i++) {
        const struct cn_assembly_line *line = &annotation->assembly.list[i];

        cn_json_object(json);
        cn_json_add_u64(json, "offset", line->offset);
        cn_json_add_str(json, "text", line->text);
        if (annotation->costs[i] != 0)
            cn_json_add_f64(json, "cost", annotation->costs[i]);
        if (line->jump != CN_NO_JUMP)
            cn_json_add_u64(json, "jump", line->jump);
        if (line->callee)
            cn_json_add_str(json, "callee", line->callee);
        if (line->inlined)
            cn_json_add_str(json, "inlined", line->inlined);
        if (cn_annotation_begins_line(&annotation->assembly, i)) {
            cn_json_add_str(json, "file", line->file);
            cn_json_add_u64(json, "line", line->line);
            cn_json_add_str(json, "source", annotation->sources[i]);
        }
        cn_json_end(json);
    }
    cn_json_end(json);
}

bool cn_api_assembly(struct cn_served *served, struct cn_served_view *view,
                     struct cn_request *request, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_annotation annotation = {0};
    struct cn_context context;
    struct cn_function record;
    uint32_t function;
    uint64_t row;
    size_t column;

    if (!cn_request_context(request, served->db, &row, &context, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_annotation_column(&view->costs, &column, err))
        return false;
    const struct cn_context_index *index = &served->structure.frames.index;
    bool ok = cn_annotation_function(served->db, index,
                                     cn_context_index_find(index, context.id), &function,
                                     err) &&
              cn_database_function(served->db, function, &record, err) &&
              cn_annotation_open(&annotation, &view->costs, index, column, function, err);
    if (ok) {
        cn_json_add_str(json, "function", record.name);
        cn_json_add_str(json, "module", annotation.module);
        cn_json_add_str(json, "buildId", annotation.build_id);
        cn_json_add_str(json, "column", view->costs.columns[column].metric);
        cn_json_add_base(json, view->costs.db, view->costs.columns[column].metric);
        cn_json_add_f64(json, "total", view->costs.columns[column].total);
        cn_json_add_f64(json, "self", annotation.self);
        cn_json_add_f64(json, "inlined", annotation.inlined);
        add_instructions(json, &annotation);
    }
    cn_annotation_close(&annotation);
    return ok;
}
