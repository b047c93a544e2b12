/* One trace of a store by methods: what each took, and the next call of one. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/name_filter.h"
#include "base/text.h"
#include "model/traces/trace.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/api/trace_load.h"

enum { METHOD_MAX = 5000 };

struct method {
    uint32_t word, open_count; /* calls of it around the current one */
    uint64_t calls, errors, total_ns, self_ns, longest_ns;
};

struct tally {
    struct method *methods;
    size_t count, capacity;
    struct cn_map of_word;
};

static struct method *method_of(struct tally *tally, uint32_t word)
{
    uint32_t *at = cn_map_at(&tally->of_word, word, CN_NONE);

    if (*at == CN_NONE) {
        *at = (uint32_t)tally->count;
        tally->methods = cn_grow(tally->methods, tally->count, &tally->capacity,
                                 sizeof(*tally->methods));
        tally->methods[tally->count++] = (struct method){.word = word};
    }
    return &tally->methods[*at];
}

static void count_calls(struct tally *tally, const struct cn_trace *trace)
{
    uint64_t *child_ns = cn_alloc(trace->node_count, sizeof(*child_ns));
    uint32_t open = CN_NONE; /* the innermost call around the next one */

    for (uint32_t i = 1; i < trace->node_count; i++)
        child_ns[trace->nodes[i].parent] += trace->nodes[i].duration_ns;
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *node = &trace->nodes[i];
        struct method *method;

        while (open != CN_NONE && trace->nodes[open].end <= i) {
            method_of(tally, trace->nodes[open].method)->open_count--;
            open = trace->nodes[open].parent;
        }
        method = method_of(tally, node->method);
        method->calls++;
        method->errors += (node->flags & CN_TRACE_ERROR) != 0;
        if (node->duration_ns > child_ns[i])
            method->self_ns += node->duration_ns - child_ns[i];
        /* A call inside one of the same method adds nothing to its total. */
        if (method->open_count++ == 0)
            method->total_ns += node->duration_ns;
        if (method->longest_ns < node->duration_ns)
            method->longest_ns = node->duration_ns;
        open = i;
    }
    free(child_ns);
}

static int compare_methods(const void *left, const void *right)
{
    const struct method *a = left, *b = right;

    if (a->self_ns != b->self_ns)
        return (a->self_ns < b->self_ns) - (a->self_ns > b->self_ns);
    return (a->word > b->word) - (a->word < b->word);
}

static void add_method(struct cn_json *json, const struct cn_words *words,
                       const struct method *method)
{
    struct cn_text name = {0};

    cn_words_print_method_name(words, method->word, &name);
    cn_json_object(json);
    cn_json_add_str(json, "method", cn_text_str(&name));
    cn_json_add_u64(json, "calls", method->calls);
    cn_json_add_u64(json, "errors", method->errors);
    cn_json_add_u64(json, "total", method->total_ns);
    cn_json_add_u64(json, "self", method->self_ns);
    cn_json_add_u64(json, "longest", method->longest_ns);
    cn_json_end(json);
    cn_text_done(&name);
}

static bool add_methods(struct cn_request *request, const struct cn_trace *trace,
                        struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct tally tally = {0};
    uint64_t limit;

    if (!cn_request_u64(request, "limit", 1, METHOD_MAX, METHOD_MAX, &limit, err))
        return false;
    count_calls(&tally, trace);
    if (tally.count > 1)
        qsort(tally.methods, tally.count, sizeof(*tally.methods), compare_methods);
    cn_json_object(json);
    cn_json_add_u64(json, "count", tally.count);
    cn_json_key(json, "methods");
    cn_json_array(json);
    for (size_t i = 0; i < tally.count && i < limit; i++)
        add_method(json, trace->words, &tally.methods[i]);
    cn_json_end(json);
    cn_json_end(json);
    free(tally.methods);
    cn_map_done(&tally.of_word);
    return true;
}

struct search {
    const struct cn_trace *trace;
    struct cn_name_filter filter;
    struct cn_map known; /* by method: 1 matches, 0 does not */
    uint64_t longer_ns;
    bool has_errors;
};

static bool matches(struct search *search, const struct cn_trace_node *node)
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
static void add_found(struct search *search, struct cn_json *json, uint64_t at,
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
    cn_json_object(json);
    cn_json_add_bool(json, "isFound", found != CN_NONE);
    cn_json_add_u64(json, "count", count);
    if (found != CN_NONE) {
        cn_json_add_u64(json, "place", rank);
        cn_json_add_u64(json, "node", found);
        cn_json_add_u64(json, "duration", search->trace->nodes[found].duration_ns);
        cn_json_add_call_path(json, search->trace, found);
    }
    cn_json_end(json);
}

static bool find_call(struct cn_request *request, const struct cn_trace *trace,
                      struct cn_error *err)
{
    const char *pattern = cn_request_value(request, "method");
    struct search search = {.trace = trace};
    uint64_t at;
    bool ok;

    search.has_errors = cn_request_flag(request, "errors");
    ok = cn_request_u64(request, "longer", 0, UINT64_MAX, 0, &search.longer_ns, err) &&
         cn_request_u64(request, "at", 0, UINT32_MAX, 0, &at, err) &&
         (!pattern || !*pattern ||
          cn_name_filter_add(&search.filter, pattern, CN_MATCH_REGEX, err));
    if (ok)
        add_found(&search, &request->json, at, cn_request_flag(request, "reverse"));
    cn_name_filter_done(&search.filter);
    cn_map_done(&search.known);
    return ok;
}

bool cn_api_trace_methods(struct cn_served *served, struct cn_request *request,
                          struct cn_error *err)
{
    return cn_api_with_trace(served, request, add_methods, err);
}

bool cn_api_trace_find(struct cn_served *served, struct cn_request *request,
                       struct cn_error *err)
{
    return cn_api_with_trace(served, request, find_call, err);
}
