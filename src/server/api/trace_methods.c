/* What each method of a trace took, of all services, and the next call of one. */
#include "base/map.h"
#include "base/name_filter.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/api/trace_load.h"
#include "store/trace/distributed.h"
#include "store/trace/methods.h"

enum { METHOD_MAX = 5000 };

bool cn_api_trace_methods(struct cn_request *request, const struct cn_trace_set *set,
                          struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_trace_methods methods;
    uint64_t limit;

    if (!cn_request_u64(request, "limit", 1, METHOD_MAX, METHOD_MAX, &limit, err))
        return false;
    cn_trace_methods_build(&methods, set, UINT32_MAX, 0);
    cn_json_add_u64(json, "count", methods.count);
    cn_json_add_array(json, "methods");
    for (size_t i = 0; i < methods.count && i < limit; i++) {
        const struct cn_trace_method *method = &methods.list[i];

        cn_json_object(json);
        cn_json_add_str(json, "method", methods.names.list[method->name]);
        cn_json_add_u64(json, "calls", method->calls);
        cn_json_add_u64(json, "errors", method->errors);
        cn_json_add_u64(json, "total", method->total_ns);
        cn_json_add_u64(json, "self", method->self_ns);
        cn_json_add_u64(json, "longest", method->max_ns);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_trace_methods_done(&methods);
    return true;
}

struct methods_search {
    const struct cn_trace *trace;
    struct cn_name_filter filter;
    struct cn_map known; /* by method: 1 matches, 0 does not */
    uint64_t longer_ns;
    bool has_errors;
};

static bool matches(struct methods_search *search, const struct cn_trace_node *node)
{
    struct cn_text name = {0};
    uint32_t *known;

    if (node->duration_ns < search->longer_ns ||
        (search->has_errors && !(node->flags & CN_TRACE_ERROR)))
        return false;
    known = cn_map_at(&search->known, node->method, CN_NONE);
    if (*known == CN_NONE) {
        cn_words_print_method_name(search->trace->words, node->method, &name);
        *known = cn_name_filter_matches(&search->filter, cn_text_str(&name));
        cn_text_done(&name);
    }
    return *known == 1;
}

/* The nearest match after `at`, or before it; the first one follows the last. */
static void add_found(struct methods_search *search, struct cn_json *json, uint64_t at,
                      bool is_reversed)
{
    uint32_t found = CN_NONE, first = CN_NONE, last = CN_NONE, count = 0, rank = 0;

    for (uint32_t i = 0; i < search->trace->node_count; i++) {
        if (!matches(search, &search->trace->nodes[i]))
            continue;
        count++;
        first = first == CN_NONE ? i : first;
        last = i;
        if (is_reversed ? i < at : i > at && found == CN_NONE) {
            found = i;
            rank = count;
        }
    }
    if (found == CN_NONE) {
        found = is_reversed ? last : first;
        rank = is_reversed ? count : 1;
    }
    cn_json_add_bool(json, "isFound", found != CN_NONE);
    cn_json_add_u64(json, "count", count);
    if (found != CN_NONE) {
        cn_json_add_u64(json, "place", rank);
        cn_json_add_u64(json, "node", found);
        cn_json_add_u64(json, "duration", search->trace->nodes[found].duration_ns);
        cn_json_add_call_path(json, search->trace, found);
    }
}

bool cn_api_trace_find(struct cn_request *request, const struct cn_trace *trace,
                       struct cn_error *err)
{
    const char *pattern = cn_request_value(request, "method");
    struct methods_search search = {.trace = trace};
    uint64_t at;

    search.has_errors = cn_request_flag(request, "errors");
    bool ok =
        cn_request_u64(request, "longer", 0, UINT64_MAX, 0, &search.longer_ns, err) &&
        cn_request_u64(request, "at", 0, UINT32_MAX, 0, &at, err) &&
        (!pattern || !*pattern ||
         cn_name_filter_add(&search.filter, pattern, CN_MATCH_REGEX, err));
    if (ok)
        add_found(&search, &request->json, at, cn_request_flag(request, "reverse"));
    cn_name_filter_done(&search.filter);
    cn_map_done(&search.known);
    return ok;
}
