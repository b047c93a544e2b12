#include "store/traceql/span.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/contexts/context.h"
#include "store/traceql/data.h"
#include "store/traceql/view.h"

static struct cn_tql_value hex_value(struct cn_arena *arena, const char *text)
{
    return cn_tql_text(cn_bytes_of(cn_arena_strdup(arena, text)));
}

static struct cn_tql_value id_value(struct cn_tql_view *view, uint64_t id)
{
    char text[17];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, id);
    return hex_value(&view->arena, id == 0 ? "" : text);
}

/* Without leading zeros: values that it is compared with have none, either. */
static bool trace_id_value(struct cn_tql_view *view, const struct cn_tql_span *span,
                           struct cn_tql_value *out, struct cn_error *err)
{
    uint64_t high, low;
    char text[33];

    if (!cn_tql_view_trace_id(view, span->segment, span->row, &high, &low, err))
        return false;
    (void)snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, high, low);
    *out = hex_value(&view->arena, text + strspn(text, "0"));
    return true;
}

static int64_t kind_of(const struct cn_tql_value *type)
{
    for (int64_t kind = 1; cn_tql_kind_name(kind); kind++) {
        const char *name = cn_tql_kind_name(kind);

        if (type->type == CN_TQL_STRING && type->text.len == strlen(name) &&
            memcmp(type->text.ptr, name, type->text.len) == 0)
            return kind;
    }
    return 0;
}

static bool of_data(struct cn_tql_view *view, const struct cn_tql_span *span,
                    const struct cn_tql_field *field, struct cn_tql_value *out,
                    struct cn_error *err)
{
    const struct cn_trace *trace;
    uint32_t number;

    if (!cn_tql_view_data(view, span, &trace, &number, err))
        return false;
    *out = cn_tql_data_field(trace, number, field, &view->arena);
    return true;
}

static bool of_trace(struct cn_tql_view *view, const struct cn_tql_span *span,
                     enum cn_tql_intrinsic intrinsic, struct cn_tql_value *out,
                     struct cn_error *err)
{
    const struct cn_tql_trace *trace = span->trace;

    *out = cn_tql_nil();
    if (!trace)
        return true;
    switch ((int)intrinsic) {
    case CN_TQL_I_CHILD_COUNT:
        *out = cn_tql_int(span->child_count);
        return true;
    case CN_TQL_I_TRACE_DURATION:
        *out = cn_tql_duration((int64_t)(trace->end_ns - trace->begin_ns));
        return true;
    case CN_TQL_I_NESTED_LEFT:
        *out = cn_tql_int(span->is_rooted ? span->left : 0);
        return true;
    case CN_TQL_I_NESTED_RIGHT:
        *out = cn_tql_int(span->is_rooted ? span->right : 0);
        return true;
    case CN_TQL_I_NESTED_PARENT:
        *out = cn_tql_int(
            span->parent == CN_NONE ? -1 : (int64_t)trace->spans[span->parent].left);
        if (!span->is_rooted)
            *out = cn_tql_int(0);
        return true;
    default:
        break;
    }
    if (trace->root == CN_NONE)
        return true;
    return cn_tql_view_word(view, &trace->spans[trace->root],
                            intrinsic == CN_TQL_I_ROOT_NAME ? CN_STORE_FIELD_method
                                                            : CN_STORE_FIELD_service,
                            out, err);
}

static bool of_intrinsic(struct cn_tql_view *view, const struct cn_tql_span *span,
                         const struct cn_tql_field *field, struct cn_tql_value *out,
                         struct cn_error *err)
{
    uint64_t id, parent_id;

    switch ((int)field->intrinsic) {
    case CN_TQL_I_DURATION:
        *out = cn_tql_duration((int64_t)span->duration_ns);
        return true;
    case CN_TQL_I_NAME:
        return cn_tql_view_word(view, span, CN_STORE_FIELD_method, out, err);
    case CN_TQL_I_KIND:
        if (!cn_tql_view_word(view, span, CN_STORE_FIELD_type, out, err))
            return false;
        *out = (struct cn_tql_value){.type = CN_TQL_KIND, .integer = kind_of(out)};
        return true;
    case CN_TQL_I_SPAN_ID:
    case CN_TQL_I_PARENT_ID:
        if (!cn_tql_view_ids(view, span, &id, &parent_id, err))
            return false;
        *out = id_value(view, field->intrinsic == CN_TQL_I_SPAN_ID ? id : parent_id);
        return true;
    case CN_TQL_I_TRACE_ID:
        return trace_id_value(view, span, out, err);
    case CN_TQL_NO_INTRINSIC:
    case CN_TQL_I_STATUS:
    case CN_TQL_I_STATUS_MESSAGE:
    case CN_TQL_I_EVENT_NAME:
    case CN_TQL_I_EVENT_TIME:
    case CN_TQL_I_LINK_TRACE:
    case CN_TQL_I_LINK_SPAN:
    case CN_TQL_I_SCOPE_NAME:
    case CN_TQL_I_SCOPE_VERSION:
        return of_data(view, span, field, out, err);
    default:
        return of_trace(view, span, field->intrinsic, out, err);
    }
}

/* The service is a column: it is known without the data, also of stores that have no resources. */
static bool of_service(struct cn_tql_view *view, const struct cn_tql_span *span,
                       const struct cn_tql_field *field, struct cn_tql_value *out,
                       struct cn_error *err)
{
    struct cn_tql_field own = *field;

    if (field->scope == CN_TQL_UNSCOPED) {
        own.scope = CN_TQL_OF_SPAN;
        if (!of_data(view, span, &own, out, err))
            return false;
        if (out->type != CN_TQL_NIL)
            return true;
    }
    return cn_tql_view_word(view, span, CN_STORE_FIELD_service, out, err);
}

bool cn_tql_span_field(struct cn_tql_view *view, const struct cn_tql_span *span,
                       const struct cn_tql_field *field, struct cn_tql_value *out,
                       struct cn_error *err)
{
    *out = cn_tql_nil();
    if (field->is_parent) {
        if (!span->trace || span->parent == CN_NONE)
            return true;
        span = &span->trace->spans[span->parent];
    }
    if (field->intrinsic == CN_TQL_NO_INTRINSIC &&
        (field->scope == CN_TQL_UNSCOPED || field->scope == CN_TQL_OF_RESOURCE) &&
        strcmp(field->name, "service.name") == 0)
        return of_service(view, span, field, out, err);
    return of_intrinsic(view, span, field, out, err);
}

/* Whether the uppermost value decides an AND or OR. */
static bool decides(enum cn_tql_op op, const struct cn_tql_value *value)
{
    return value->type == CN_TQL_BOOL && value->boolean == (op == CN_TQL_OR);
}

bool cn_tql_span_value(struct cn_tql_view *view, const struct cn_tql_span *span,
                       const struct cn_tql_expr *expr, struct cn_tql_value *out,
                       struct cn_error *err)
{
    const struct cn_tql_program *program = view->program;
    struct cn_tql_value stack[CN_TQL_STACK_MAX];
    size_t depth = 0;

    stack[0] = cn_tql_bool(true);
    for (uint32_t i = expr->first; i < expr->first + expr->count; i++) {
        const struct cn_tql_step *step = &program->steps[i];

        switch (step->kind) {
        case CN_TQL_PUSH:
            stack[depth++] = step->value;
            break;
        case CN_TQL_FIELD:
            if (!cn_tql_span_field(view, span, &program->fields[step->field],
                                   &stack[depth], err))
                return false;
            depth++;
            break;
        case CN_TQL_UNARY:
            stack[depth - 1] = cn_tql_apply_unary(step->op, &stack[depth - 1]);
            break;
        case CN_TQL_BINARY:
            depth--;
            stack[depth - 1] =
                cn_tql_apply(step->op, &stack[depth - 1], &stack[depth], step->regex);
            break;
        case CN_TQL_SKIP:
            if (decides(step->op, &stack[depth - 1]))
                i = step->target - 1;
            break;
        }
    }
    *out = stack[0];
    return true;
}

/* Intrinsics that compare() groups by: those with few values. */
static const struct cn_tql_field compared[] = {
    {.intrinsic = CN_TQL_I_NAME, .name = "", .text = "name"},
    {.intrinsic = CN_TQL_I_STATUS, .name = "", .text = "status"},
    {.intrinsic = CN_TQL_I_STATUS_MESSAGE, .name = "", .text = "statusMessage"},
    {.intrinsic = CN_TQL_I_KIND, .name = "", .text = "kind"},
    {.intrinsic = CN_TQL_I_ROOT_NAME, .name = "", .text = "rootName"},
    {.intrinsic = CN_TQL_I_ROOT_SERVICE, .name = "", .text = "rootServiceName"},
    {.scope = CN_TQL_OF_RESOURCE,
     .name = "service.name",
     .text = "resource.service.name"},
};

bool cn_tql_span_each(struct cn_tql_view *view, const struct cn_tql_span *span,
                      cn_tql_visit visit, void *arg, struct cn_error *err)
{
    const struct cn_trace *trace;
    struct cn_tql_value value;
    uint32_t number;

    for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
        if (!cn_tql_span_field(view, span, &compared[i], &value, err))
            return false;
        if (value.type != CN_TQL_NIL)
            visit(arg, compared[i].text, &value);
    }
    if (!cn_tql_view_data(view, span, &trace, &number, err))
        return false;
    cn_tql_data_each(trace, number, &view->arena, visit, arg);
    return true;
}
