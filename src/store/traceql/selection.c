/* The fields that select() names, and names that no span has. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "store/search/names.h"
#include "store/search/query.h"
#include "store/traceql/span.h"
#include "store/traceql/traceql.h"

struct cn_tql_selection {
    const struct cn_tql_program *program;
    struct cn_tql_view *view;
    struct cn_tql_trace trace; /* of the last row, where a field needs it */
    uint32_t *fields;
    size_t count, capacity;
};

static void list_fields(struct cn_tql_selection *selection,
                        const struct cn_tql_node *stage)
{
    for (; stage; stage = stage->next) {
        if (stage->kind == CN_TQL_PIPELINE || stage->kind == CN_TQL_METRICS)
            list_fields(selection, stage->stages);
        for (size_t i = 0; stage->kind == CN_TQL_SELECT && i < stage->field_count; i++)
            CN_PUSH(selection->fields, selection->count, selection->capacity,
                    stage->fields[i]);
    }
}

struct cn_tql_selection *cn_tql_selection_new(struct cn_search *search,
                                              const struct cn_tql_program *program)
{
    struct cn_tql_selection *selection = cn_alloc(1, sizeof(*selection));

    selection->program = program;
    selection->view = cn_tql_view_new(search, program);
    list_fields(selection, program->root);
    return selection;
}

void cn_tql_selection_free(struct cn_tql_selection *selection)
{
    if (!selection)
        return;
    cn_tql_view_free(selection->view);
    cn_tql_trace_done(&selection->trace);
    free(selection->fields);
    free(selection);
}

size_t cn_tql_selection_count(const struct cn_tql_selection *selection)
{
    return selection->count;
}

const char *cn_tql_selection_name(const struct cn_tql_selection *selection, size_t i)
{
    return selection->program->fields[selection->fields[i]].text;
}

/* The span of a row with its trace. */
static bool find_in_trace(struct cn_tql_selection *selection, struct cn_tql_span *span,
                          struct cn_error *err)
{
    struct cn_tql_trace *trace = &selection->trace;
    uint64_t high, low;

    if (!cn_tql_view_trace_id(selection->view, span->segment, span->row, &high, &low,
                              err) ||
        ((trace->count == 0 || trace->high != high || trace->low != low) &&
         !cn_tql_view_trace(selection->view, high, low, trace, err)))
        return false;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->spans[i].id == span->id && trace->spans[i].time_ns == span->time_ns) {
            *span = trace->spans[i];
            break;
        }
    return true;
}

bool cn_tql_selection_value(struct cn_tql_selection *selection, uint32_t segment,
                            uint32_t row, size_t i, struct cn_tql_value *out,
                            struct cn_error *err)
{
    const struct cn_tql_field *field = &selection->program->fields[selection->fields[i]];
    struct cn_tql_span span;

    cn_tql_view_clear(selection->view);
    return cn_tql_view_row(selection->view, segment, row, &span, err) &&
           (!cn_tql_field_needs_trace(field) || find_in_trace(selection, &span, err)) &&
           cn_tql_span_field(selection->view, &span, field, out, err);
}

/* The name of a field in the index, as a condition that the other language warns about. */
static void add_name(struct cn_text *text, const struct cn_tql_field *field)
{
    if (field->intrinsic != CN_TQL_NO_INTRINSIC || field->scope > CN_TQL_OF_SPAN ||
        strcmp(field->name, "service.name") == 0 ||
        field->name[strcspn(field->name, " \t\r\n\v\f()\"'=<>~!")])
        return;
    cn_text_printf(text, "%s@%s exists", text->len > 0 ? " or " : "", field->name);
}

void cn_tql_print_unknown(struct cn_search *search, const struct cn_tql_program *program,
                          struct cn_text *out)
{
    struct cn_text text = {0};
    struct cn_query *query;
    struct cn_error ignored;

    for (size_t i = 0; i < program->field_count; i++)
        add_name(&text, &program->fields[i]);
    if (text.len > 0 && cn_query_parse(&query, cn_text_str(&text), 0, &ignored)) {
        cn_search_print_unknown(search, query, out);
        cn_query_free(query);
    }
    cn_text_done(&text);
}
