#include "server/compat/tempo/query_tags.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "server/compat/common/find.h"
#include "server/compat/common/spans.h"
#include "server/compat/tempo/tempo.h"
#include "server/served/store.h"
#include "store/traceql/traceql.h"

enum { TRACE_MAX = 200, SPAN_MAX = 1000 };

struct query_names {
    struct cn_tempo_names *names;
    const struct cn_tql_found_trace *trace;
};

static void add_list(struct cn_names *out, const struct cn_trace *trace,
                     struct cn_trace_list list)
{
    struct cn_text name = {0};

    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        cn_text_clear(&name);
        cn_words_print(trace->words, trace->attributes[i].key, &name);
        (void)cn_names_add(out, cn_text_str(&name));
    }
    cn_text_done(&name);
}

static bool is_found(const struct cn_tql_found_trace *trace, uint64_t id)
{
    for (size_t i = 0; i < trace->set_count; i++)
        for (size_t k = 0; k < trace->sets[i].span_count; k++)
            if (trace->sets[i].spans[k].id == id)
                return true;
    return false;
}

static void add_span(void *arg, const struct cn_compat_span *span)
{
    const struct query_names *query = arg;
    struct cn_names *scopes = query->names->scopes;
    const struct cn_trace *trace = span->trace;
    const struct cn_trace_scope *scope;

    if (!span->span || !is_found(query->trace, span->id))
        return;
    add_list(&scopes[CN_SCOPE_SPAN], trace, span->attributes);
    if (span->resource)
        add_list(&scopes[CN_SCOPE_RESOURCE], trace, span->resource->attributes);
    scope = cn_trace_span_scope(trace, span->span);
    if (scope)
        add_list(&scopes[CN_SCOPE_INSTRUMENTATION], trace, scope->attributes);
    for (uint32_t i = 0; i < span->span->event_count; i++)
        add_list(&scopes[CN_SCOPE_EVENT], trace,
                 cn_trace_span_events(trace, span->span)[i].attributes);
    for (uint32_t i = 0; i < span->span->link_count; i++)
        add_list(&scopes[CN_SCOPE_LINK], trace,
                 cn_trace_span_links(trace, span->span)[i].attributes);
}

static bool visit(void *arg, const struct cn_trace_set *set, struct cn_error *err)
{
    (void)err;
    cn_compat_each_span(set, add_span, arg);
    return true;
}

static bool add_found(struct cn_compat_call *call, const struct cn_tql_found *found,
                      struct cn_tempo_names *out, struct cn_error *err)
{
    for (size_t i = 0; i < found->count; i++) {
        struct query_names query = {out, &found->traces[i]};
        char id[40];

        (void)snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, found->traces[i].high,
                       found->traces[i].low);
        if (!cn_find_trace(call->store, id, visit, &query, err))
            return false;
    }
    return true;
}

bool cn_tempo_names_of_query(struct cn_compat_call *call, struct cn_tempo_names *out,
                             struct cn_error *err)
{
    struct cn_tql_range range = {.trace_max = TRACE_MAX, .span_max = SPAN_MAX};
    const char *q = cn_compat_value(call, "q");
    struct cn_tql_program *program = NULL;
    struct cn_tql_found found;
    struct cn_error unreadable;

    *out = (struct cn_tempo_names){0};
    if (!cn_tempo_range(call, &range.first_ns, &range.last_ns, err))
        return false;
    if (!q || !cn_tql_parse(&program, q, &unreadable))
        return true;
    out->is_given = !program->is_metrics;
    bool ok = !out->is_given ||
              cn_tql_search(call->store->search, program, &range, &found, err);
    if (ok && out->is_given) {
        ok = add_found(call, &found, out, err);
        cn_tql_found_done(&found);
    }
    cn_tql_program_free(program);
    for (size_t i = 0; i < CN_SCOPE_NONE; i++)
        cn_compat_sort_names(&out->scopes[i]);
    return ok;
}

void cn_tempo_names_done(struct cn_tempo_names *names)
{
    for (size_t i = 0; i < CN_SCOPE_NONE; i++)
        cn_names_done(&names->scopes[i]);
}
