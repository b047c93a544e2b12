/* Values of attributes and intrinsics. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes/json.h"
#include "base/bytes/json_reader.h"
#include "base/text.h"
#include "model/traces/span.h"
#include "server/compat/common/find.h"
#include "server/compat/common/values.h"
#include "server/compat/tempo/tempo.h"
#include "server/served/store.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/traceql/traceql.h"

enum { VALUE_MAX = 5000 };

/* What is listed: groups of spans by a name of store/groups, or words that are always the same. */
struct values_of {
    struct cn_text by;        /* empty: none */
    const char *const *words; /* NULL: none; after the last one NULL */
    const char *condition;    /* of the language of store/search; "": none */
    const char *attribute;    /* whose type tells those of the values; NULL: texts */
    bool is_keyword;          /* the values are words of TraceQL */
};

static void choose_attribute(const struct cn_tql_field *field, struct values_of *out)
{
    static const char *const prefixes[] = {
        [CN_TQL_UNSCOPED] = "@",
        [CN_TQL_OF_SPAN] = "@",
        [CN_TQL_OF_RESOURCE] = "@resource.",
        [CN_TQL_OF_EVENT] = "@event.",
        [CN_TQL_OF_LINK] = "@link.",
        [CN_TQL_OF_INSTRUMENTATION] = "@scope.",
    };

    if (strcmp(field->name, "service.name") == 0 &&
        (field->scope == CN_TQL_OF_RESOURCE || field->scope == CN_TQL_UNSCOPED)) {
        cn_text_str_add(&out->by, "service");
        return;
    }
    cn_text_printf(&out->by, "%s%s", prefixes[field->scope], field->name);
    out->attribute = field->name;
}

static void choose(const struct cn_tql_field *field, struct values_of *out)
{
    static const char *const states[] = {"ok", "error", "unset", NULL};
    static const char no_caller[] = "parent = 0";

    out->condition = "";
    switch ((int)field->intrinsic) {
    case CN_TQL_NO_INTRINSIC:
        choose_attribute(field, out);
        return;
    case CN_TQL_I_NAME:
        cn_text_str_add(&out->by, "method");
        return;
    case CN_TQL_I_KIND:
        cn_text_str_add(&out->by, "type");
        out->is_keyword = true;
        return;
    case CN_TQL_I_STATUS:
        out->words = states;
        out->is_keyword = true;
        return;
    case CN_TQL_I_STATUS_MESSAGE:
        cn_text_str_add(&out->by, "@status.message");
        return;
    case CN_TQL_I_EVENT_NAME:
        cn_text_str_add(&out->by, "@event");
        return;
    case CN_TQL_I_SCOPE_NAME:
        cn_text_str_add(&out->by, "@scope.name");
        return;
    case CN_TQL_I_SCOPE_VERSION:
        cn_text_str_add(&out->by, "@scope.version");
        return;
    case CN_TQL_I_ROOT_NAME:
    case CN_TQL_I_ROOT_SERVICE:
        cn_text_str_add(&out->by,
                        field->intrinsic == CN_TQL_I_ROOT_NAME ? "method" : "service");
        out->condition = no_caller;
        return;
    default: /* numbers and ids: too many to be listed */
        return;
    }
}

/* The query that spans must match: `q`, if it can be read, and times. What an editor sends while it
 * is typed often cannot. */
static bool take_query(const struct cn_compat_call *call, const struct values_of *of,
                       struct cn_tql_program **program, struct cn_query **out,
                       struct cn_error *err)
{
    const char *q = cn_compat_value(call, "q");
    struct cn_tql_range range = {0};
    struct cn_error unreadable;
    struct cn_find find = {0};

    if (!cn_tempo_range(call, &range.first_ns, &range.last_ns, err))
        return false;
    if (q && cn_tql_parse(program, q, &unreadable) && !(*program)->is_metrics)
        return cn_tql_query(out, call->store->search, *program, &range, err);
    cn_text_str_add(&find.query, of->condition);
    cn_find_add_times(&find, range.first_ns, range.last_ns);
    bool ok = cn_query_parse(out, cn_text_str(&find.query), 0, err);
    cn_find_done(&find);
    return ok;
}

static bool list(const struct cn_compat_call *call, const struct values_of *of,
                 struct cn_names *out, struct cn_error *err)
{
    struct cn_tql_program *program = NULL;
    struct cn_query *query = NULL;
    uint64_t limit;

    if (!cn_compat_u64(call, "limit", UINT32_MAX, VALUE_MAX, &limit, err))
        return false;
    limit = limit > 0 && limit < VALUE_MAX ? limit : VALUE_MAX;
    for (size_t i = 0; of->words && of->words[i]; i++)
        (void)cn_names_add(out, of->words[i]);
    bool ok =
        of->by.len == 0 || (take_query(call, of, &program, &query, err) &&
                            cn_compat_values(call->store, query, cn_text_str(&of->by),
                                             (size_t)limit, out, err));
    cn_query_free(query);
    cn_tql_program_free(program);
    return ok;
}

/* The type of an attribute in a list of a span. */
static bool find_type(const struct cn_trace *trace, struct cn_trace_list attributes,
                      const char *name, enum cn_trace_value_type *out)
{
    const struct cn_trace_value *value =
        cn_trace_list_find(trace, attributes, cn_bytes_of(name));

    if (value)
        *out = cn_trace_value_type(trace, value);
    return value != NULL;
}

static bool find_in_span(const struct cn_trace *trace, const struct cn_trace_span *span,
                         const char *name, enum cn_trace_value_type *out)
{
    const struct cn_trace_resource *resource = cn_trace_span_resource(trace, span);
    const struct cn_trace_scope *scope = cn_trace_span_scope(trace, span);

    if (find_type(trace, cn_trace_span_attributes(trace, span), name, out) ||
        (resource && find_type(trace, resource->attributes, name, out)) ||
        (scope && find_type(trace, scope->attributes, name, out)))
        return true;
    for (uint32_t i = 0; i < span->event_count; i++)
        if (find_type(trace, cn_trace_span_events(trace, span)[i].attributes, name, out))
            return true;
    for (uint32_t i = 0; i < span->link_count; i++)
        if (find_type(trace, cn_trace_span_links(trace, span)[i].attributes, name, out))
            return true;
    return false;
}

/* The index has texts: the newest span with the attribute tells what it is. */
static enum cn_trace_value_type type_of(struct cn_served_store *store,
                                        const struct values_of *of)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_TIME, .limit = 1};
    enum cn_trace_value_type type = CN_VALUE_IS_TEXT;
    struct cn_search_hits hits = {0};
    struct cn_query *query = NULL;
    struct cn_find find = {0};
    struct cn_trace trace = {0};
    struct cn_error ignored;

    cn_find_add_attribute(&find, cn_text_str(&of->by) + 1, NULL);
    if (cn_query_parse(&query, cn_text_str(&find.query), 0, &ignored) &&
        cn_search_rows(store->search, query, &order, &hits, &ignored) && hits.count > 0 &&
        cn_segment_load(store->loader,
                        cn_store_segment(store->store, hits.list[0].segment),
                        hits.list[0].row, &trace, &ignored))
        for (uint32_t i = 0; i < trace.span_count; i++)
            if (find_in_span(&trace, &trace.spans[i], of->attribute, &type))
                break;
    cn_search_hits_done(&hits);
    cn_query_free(query);
    cn_find_done(&find);
    cn_trace_done(&trace);
    return type;
}

static const char *type_name(enum cn_trace_value_type type, const char *value)
{
    struct cn_bytes text = cn_bytes_of(value);
    int64_t integer;
    double real;

    if (type == CN_VALUE_IS_INT && cn_json_as_i64(text, &integer))
        return "int";
    if (type == CN_VALUE_IS_DOUBLE && cn_json_as_f64(text, &real))
        return "float";
    if (type == CN_VALUE_IS_BOOL &&
        (strcmp(value, "true") == 0 || strcmp(value, "false") == 0))
        return "bool";
    return "string";
}

static void add_typed(struct cn_compat_call *call, const struct values_of *of,
                      const struct cn_names *names)
{
    struct cn_json *json = &call->request->json;
    enum cn_trace_value_type type =
        of->attribute && names->count > 0 ? type_of(call->store, of) : CN_VALUE_IS_TEXT;

    for (size_t i = 0; i < names->count; i++) {
        cn_json_object(json);
        cn_json_add_str(json, "type",
                        of->is_keyword ? "keyword" : type_name(type, names->list[i]));
        cn_json_add_str(json, "value", names->list[i]);
        cn_json_end(json);
    }
}

static bool answer(struct cn_compat_call *call, const struct cn_tql_field *field,
                   bool is_v2, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    struct values_of of = {0};
    struct cn_names names = {0};

    choose(field, &of);
    bool ok = list(call, &of, &names, err);
    cn_json_object(json);
    cn_json_add_array(json, "tagValues");
    if (is_v2)
        add_typed(call, &of, &names);
    for (size_t i = 0; !is_v2 && i < names.count; i++)
        cn_json_str(json, names.list[i]);
    cn_json_end(json);
    cn_tempo_add_metrics(json);
    cn_json_end(json);
    cn_names_done(&names);
    cn_text_done(&of.by);
    return ok;
}

/* Names are those of TraceQL. */
bool cn_tempo_values_v2(struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_arena arena = {0};
    struct cn_tql_field field = {0};
    bool ok = cn_tql_field_parse(&field, &arena, call->part, err) &&
              answer(call, &field, true, err);

    cn_arena_done(&arena);
    return ok;
}

/* Names have no scope, and may be anything; these are intrinsics. */
bool cn_tempo_values(struct cn_compat_call *call, struct cn_error *err)
{
    static const struct {
        const char *name;
        enum cn_tql_intrinsic intrinsic;
    } known[] = {
        {"name", CN_TQL_I_NAME},           {"status", CN_TQL_I_STATUS},
        {"status.code", CN_TQL_I_STATUS},  {"kind", CN_TQL_I_KIND},
        {"root.name", CN_TQL_I_ROOT_NAME}, {"root.service.name", CN_TQL_I_ROOT_SERVICE},
    };
    struct cn_tql_field field = {.name = call->part};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(call->part, known[i].name) == 0)
            field.intrinsic = known[i].intrinsic;
    return answer(call, &field, false, err);
}
