#include "cli/why/traces.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/from_traces.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/sort.h"
#include "model/calls/recording.h"
#include "model/traces/facts.h"
#include "store/search/names.h"
#include "store/search/query.h"
#include "store/search/traces.h"
#include "store/segment/reader.h"
#include "store/trace/distributed.h"

enum {
    GROUP_LOADED = 1000,
    INNER_LOADED = 4000,
    ONE_MAX = 16,        /* rows of one trace */
    CALLS_NOTED = 64,    /* of a trace: attributes of more calls are not compared */
    VALUE_LEN_MAX = 120, /* longer values are cut */
};

static uint64_t call_key(uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns * UINT64_C(0x9e3779b97f4a7c15) ^ end_ns;
}

/* One copy of each string. */
static uint32_t keep(struct cn_why_traces *traces, const char *str)
{
    char text[VALUE_LEN_MAX + 1];
    size_t len = strnlen(str, VALUE_LEN_MAX);

    memcpy(text, str, len);
    text[len] = '\0';
    return cn_names_add(&traces->strings, text);
}

/* Adds the calls of the method, with what is below them, to calls. */
struct why_adding {
    struct cn_why_traces *traces;
    struct cn_trace_calls *calls;
    struct cn_why_options *options;
    const char *method;
    struct cn_text text;
    struct why_caller {
        const struct cn_trace *trace;
        uint32_t node;
    } * callers; /* of the current call, by depth */
    size_t caller_count, caller_capacity;
    uint32_t depth; /* of the current call of the method; CN_NONE */
    unsigned noted; /* calls of this trace */
    struct cn_map
        facts;      /* key and value: the last call that has them, by its number from 1 */
    bool is_failed; /* a call of the current call of the method, or it */
};

/* Add a value of the call of the method that was noted last, once. */
static void add_fact(void *arg, const char *key, const char *value, const double *number)
{
    struct why_adding *adding = arg;
    struct cn_why_traces *traces = adding->traces;
    uint32_t key_number = keep(traces, key), value_number = keep(traces, value);
    uint32_t *last =
        cn_map_at(&adding->facts, (uint64_t)key_number << 32 | value_number, 0);

    if (*last == traces->count)
        return;
    *last = (uint32_t)traces->count;
    CN_PUSH(traces->facts, traces->fact_count, traces->fact_capacity,
            (struct cn_why_fact){
                .key = traces->strings.list[key_number],
                .value = traces->strings.list[value_number],
                .number = number ? *number : 0,
                .is_number = number != NULL,
            });
}

/* Begin to note what is known about a call of the method: what its callers have. */
static void note_call(struct why_adding *adding, const struct cn_trace *trace,
                      uint32_t node, uint64_t time_ns)
{
    struct cn_why_traces *traces = adding->traces;
    struct cn_why_options *options = adding->options;
    const struct cn_trace_node *at = &trace->nodes[node];
    struct cn_why_trace noted = {trace->id_high, trace->id_low, traces->fact_count, 0};

    if (options->has_at && trace->id_high == traces->one_high &&
        trace->id_low == traces->one_low && at->duration_ns > traces->one_ns) {
        traces->one_ns = at->duration_ns;
        options->at_ns = time_ns + at->start_ns;
        options->at_end_ns = options->at_ns + at->duration_ns;
    }
    CN_PUSH(traces->list, traces->count, traces->capacity, noted);
    (void)cn_map_at(
        &traces->by_call,
        call_key(time_ns + at->start_ns, time_ns + at->start_ns + at->duration_ns),
        (uint32_t)traces->count);
    for (size_t i = 0; i < adding->caller_count; i++)
        cn_trace_facts_visit(adding->callers[i].trace, adding->callers[i].node, add_fact,
                             adding);
    adding->is_failed = false;
}

/* End the current call of the method, if there is one. */
static void end_call(struct why_adding *adding)
{
    struct cn_why_traces *traces = adding->traces;

    if (adding->depth == CN_NONE)
        return;
    cn_trace_calls_end(adding->calls);
    adding->depth = CN_NONE;
    if (adding->noted > CALLS_NOTED)
        return;
    add_fact(adding, "error", adding->is_failed ? "yes" : "no", NULL);
    traces->list[traces->count - 1].fact_count =
        traces->fact_count - traces->list[traces->count - 1].first_fact;
}

static bool is_of_method(struct why_adding *adding, const struct cn_trace *trace,
                         uint32_t node)
{
    if (trace->nodes[node].method == 0)
        return false;
    cn_text_clear(&adding->text);
    cn_words_print_method_name(trace->words, trace->nodes[node].method, &adding->text);
    return strcmp(cn_text_str(&adding->text), adding->method) == 0;
}

static bool add_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                     uint32_t depth)
{
    struct why_adding *adding = arg;
    uint64_t time_ns = branch->row.time_ns;

    if (adding->depth != CN_NONE && depth <= adding->depth)
        end_call(adding);
    if (adding->depth == CN_NONE) {
        adding->caller_count = depth;
        if (!is_of_method(adding, &branch->trace, node)) {
            CN_PUSH(adding->callers, adding->caller_count, adding->caller_capacity,
                    (struct why_caller){&branch->trace, node});
            return true;
        }
        adding->depth = depth;
        if (adding->noted++ < CALLS_NOTED)
            note_call(adding, &branch->trace, node, time_ns);
    }
    if (adding->noted <= CALLS_NOTED)
        cn_trace_facts_visit(&branch->trace, node, add_fact, adding);
    adding->is_failed |= (branch->trace.nodes[node].flags & CN_TRACE_ERROR) != 0;
    cn_trace_calls_enter(adding->calls, &branch->trace, node, time_ns,
                         depth - adding->depth);
    return true;
}

/* Add one trace, of which `hits` are the spans. */
static bool add_trace(struct why_adding *adding, const struct cn_store *store,
                      struct cn_segment_loader *loader, const struct cn_search_hit *hits,
                      size_t count, struct cn_error *err)
{
    struct cn_trace_set set;

    for (size_t i = 0; i < count; i++)
        if (!cn_segment_check_words(cn_store_segment(store, hits[i].segment), err))
            return false;
    if (!cn_trace_set_load_hits(&set, store, loader, hits, count, err))
        return false;
    adding->depth = CN_NONE;
    adding->noted = 0;
    cn_trace_set_walk(&set, add_call, adding);
    end_call(adding);
    cn_trace_set_done(&set);
    return true;
}

/* Load the traces of the hits; releases them. */
static bool load(struct cn_why_traces *traces, const struct cn_store_query *query,
                 struct cn_search_hits hits, const char *method,
                 struct cn_why_options *options, struct cn_error *err)
{
    const struct cn_store *store = cn_search_store(query->search);
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct why_adding adding = {.traces = traces,
                                .calls = cn_trace_calls_new(),
                                .options = options,
                                .method = method};
    struct cn_search_hits spans = {0};
    size_t end;
    bool ok;

    cn_trace_calls_nest(adding.calls);
    if (hits.count > 0)
        CN_SORT(hits.list, hits.count, CN_UP(struct cn_search_hit, time_ns),
                CN_UP(struct cn_search_hit, segment), CN_UP(struct cn_search_hit, row));
    ok = cn_search_spans_of(query->search, hits.list, hits.count, &spans, err);
    for (size_t i = 0; ok && i < spans.count; i = end) {
        for (end = i + 1; end < spans.count && spans.list[end].key == spans.list[i].key;)
            end++;
        ok = add_trace(&adding, store, loader, &spans.list[i], end - i, err);
    }
    traces->loaded = hits.count;
    traces->rec = cn_trace_calls_finish(adding.calls);
    traces->rec->path = cn_arena_strdup(&traces->rec->arena, traces->path);
    cn_trace_calls_free(adding.calls);
    cn_text_done(&adding.text);
    cn_map_done(&adding.facts);
    free(adding.callers);
    cn_segment_loader_free(loader);
    cn_search_hits_done(&spans);
    cn_search_hits_done(&hits);
    return ok;
}

static bool is_same_hit(const struct cn_search_hit *a, const struct cn_search_hit *b)
{
    return a->segment == b->segment && a->row == b->row;
}

/* Append hits [first, end) to a list, evenly at most `most` of them. */
static void choose(struct cn_search_hits *out, const struct cn_search_hits *from,
                   size_t first, size_t end, size_t most)
{
    size_t count = end - first, taken = count < most ? count : most;

    for (size_t i = 0; i < taken; i++)
        out->list[out->count++] =
            from->list[first + (size_t)((double)i * (double)count / (double)taken)];
}

/* Choose traces by duration; `hits` are sorted, the longest first. */
static void choose_groups(struct cn_why_traces *traces, const struct cn_search_hits *hits,
                          bool is_of_one, struct cn_why_options *options,
                          struct cn_search_hits *out)
{
    double last = (double)(hits->count - 1);
    size_t low = hits->count - 1 - (size_t)(last * options->typical_from);
    size_t high = hits->count - 1 - (size_t)(last * options->typical_to);
    size_t slow = (size_t)ceil((double)hits->count * options->slowest);

    if (slow < CN_WHY_SLOW_MIN)
        slow = CN_WHY_SLOW_MIN;
    options->typical_from_ns = hits->list[low].key;
    options->typical_to_ns = hits->list[high].key;
    options->slow_from_ns = hits->list[slow - 1].key;
    if (options->slow_from_ns <= options->typical_to_ns)
        options->slow_from_ns = options->typical_to_ns + 1;
    while (slow > 0 && hits->list[slow - 1].key < options->slow_from_ns)
        slow--;
    traces->slow_count = slow;
    traces->wanted = low + 1 - (high > slow ? high : slow);
    if (!is_of_one) {
        traces->wanted += slow;
        choose(out, hits, 0, slow, GROUP_LOADED);
    }
    choose(out, hits, high > slow ? high : slow, low + 1, GROUP_LOADED);
}

/* The traces that match by time, given by the spans without a caller. */
static bool search_traces(struct cn_store_query *query,
                          const struct cn_search_order *order,
                          struct cn_search_hits *hits, struct cn_error *err)
{
    struct cn_search_traces found;

    if (!cn_search_traces(query->search, query->query, order, &found, err))
        return false;
    hits->list = cn_alloc(found.count, sizeof(*hits->list));
    for (size_t i = 0; i < found.count; i++)
        hits->list[hits->count++] = found.list[i].root;
    cn_search_traces_done(&found);
    return true;
}

/* Append "FIELD = "METHOD"". */
static void add_term(struct cn_text *text, const char *field, const char *method)
{
    cn_text_printf(text, "%s = \"", field);
    for (; *method; method++) {
        if (*method == '"' || *method == '\\')
            cn_text_char(text, '\\');
        cn_text_char(text, *method);
    }
    cn_text_char(text, '"');
}

/* The spans that begin with a method, by duration, of the traces that match the query. */
static bool search_spans(struct cn_store_query *query, const char *path, const char *text,
                         const char *method, struct cn_search_hits *hits,
                         struct cn_error *err)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_DURATION, .limit = UINT64_MAX};
    struct cn_text term = {0};
    struct cn_query *spans = NULL;
    bool ok;

    add_term(&term, "root", method);
    ok = cn_store_query_open(query, path, text ? text : "", err);
    if (ok &&
        !(cn_query_parse(&spans, cn_text_str(&term), query->query->now_ns, err) &&
          cn_search_rows_of(query->search, query->query, spans, &order, hits, err))) {
        cn_store_query_close(query);
        ok = false;
    }
    cn_query_free(spans);
    cn_text_done(&term);
    return ok;
}

/* The traces that match the query and call the method, by time. */
static bool search_callers(struct cn_store_query *query, const char *path,
                           const char *text, const char *method,
                           struct cn_search_hits *hits, struct cn_error *err)
{
    struct cn_search_order order = {.limit = UINT64_MAX};
    struct cn_text whole = {0};
    bool ok;

    if (text && *text)
        cn_text_printf(&whole, "(%s) AND ", text);
    add_term(&whole, "method", method);
    ok = cn_store_query_open(query, path, cn_text_str(&whole), err);
    if (ok && !search_traces(query, &order, hits, err)) {
        cn_store_query_close(query);
        ok = false;
    }
    cn_text_done(&whole);
    return ok;
}

/* Add the hits of one trace, and set its id: the whole store is searched, not the query. */
static bool add_one(struct cn_why_traces *traces, const struct cn_store_query *query,
                    const char *id, struct cn_why_options *options,
                    struct cn_search_hits *chosen, struct cn_error *err)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_DURATION, .limit = ONE_MAX};
    struct cn_search_hits hits = {0};
    struct cn_query *one = NULL;
    struct cn_store_row row;
    char *text = cn_strprintf("id = %s", id);
    bool ok = cn_query_parse(&one, text, query->query->now_ns, err) &&
              cn_search_rows(query->search, one, &order, &hits, err);

    free(text);
    cn_query_free(one);
    if (ok && hits.count == 0)
        ok = cn_fail(err, CN_ERR_NOT_FOUND, "there is no trace %s", id);
    for (size_t i = 0; i < hits.count && ok; i++) {
        size_t at = 0;

        while (at < chosen->count && !is_same_hit(&chosen->list[at], &hits.list[i]))
            at++;
        if (at == chosen->count)
            chosen->list[chosen->count++] = hits.list[i];
    }
    ok = ok && cn_search_hit_row(query->search, &hits.list[0], &row, err);
    if (ok) {
        options->has_at = true;
        traces->one_high = row.trace_high;
        traces->one_low = row.trace_low;
    }
    cn_search_hits_done(&hits);
    return ok;
}

bool cn_why_traces_open(struct cn_why_traces *traces, const char *path,
                        const char *query_text, const char *method, const char *id,
                        struct cn_why_options *options, struct cn_error *err)
{
    struct cn_store_query query;
    struct cn_search_hits hits = {0}, chosen = {0};
    bool ok;

    *traces = (struct cn_why_traces){.path = path};
    if (!search_spans(&query, path, query_text, method, &hits, err))
        return false;
    cn_search_print_unknown(query.search, query.query, &traces->unknown);
    traces->is_root = hits.count >= CN_WHY_CALLS_MIN;
    if (!traces->is_root) {
        cn_search_hits_done(&hits);
        cn_store_query_close(&query);
        hits = (struct cn_search_hits){0};
        if (!search_callers(&query, path, query_text, method, &hits, err))
            return false;
    }
    traces->found = hits.count;
    chosen.list =
        cn_alloc(2 * GROUP_LOADED + INNER_LOADED + ONE_MAX, sizeof(*chosen.list));
    if (traces->is_root)
        choose_groups(traces, &hits, id != NULL, options, &chosen);
    else
        choose(&chosen, &hits, 0, hits.count, INNER_LOADED);
    if (!traces->is_root)
        traces->wanted = hits.count;
    cn_search_hits_done(&hits);
    ok = !id || add_one(traces, &query, id, options, &chosen, err);
    if (!ok)
        cn_search_hits_done(&chosen);
    ok = ok && load(traces, &query, chosen, method, options, err) &&
         cn_search_check(query.search, err);
    cn_store_query_close(&query);
    return ok || cn_fail_in(err, "%s", path);
}

void cn_why_traces_close(struct cn_why_traces *traces)
{
    cn_recording_close(traces->rec);
    free(traces->list);
    free(traces->facts);
    cn_map_done(&traces->by_call);
    cn_names_done(&traces->strings);
    cn_text_done(&traces->unknown);
    *traces = (struct cn_why_traces){0};
}

static const struct cn_why_trace *find_trace(const struct cn_why_traces *traces,
                                             const struct cn_why_call *call)
{
    uint32_t at =
        cn_map_find(&traces->by_call, call_key(call->begin_ns, call->end_ns), 0);

    return at > 0 ? &traces->list[at - 1] : NULL;
}

void cn_why_traces_values(void *arg, const struct cn_why_call *call,
                          struct cn_traits *traits)
{
    const struct cn_why_traces *traces = arg;
    const struct cn_why_trace *trace = find_trace(traces, call);

    for (size_t i = 0; trace && i < trace->fact_count; i++) {
        const struct cn_why_fact *fact = &traces->facts[trace->first_fact + i];

        cn_traits_add(traits, fact->key, fact->value,
                      fact->is_number ? &fact->number : NULL);
    }
}

void cn_why_traces_command(void *arg, const struct cn_why_call *call,
                           struct cn_text *text)
{
    const struct cn_why_traces *traces = arg;
    const struct cn_why_trace *trace = find_trace(traces, call);

    cn_text_str_add(text, "cairn store show ");
    cn_utf8_add_printable(text, traces->path);
    if (trace)
        cn_text_printf(text, " %016" PRIx64 "%016" PRIx64, trace->id_high, trace->id_low);
}
