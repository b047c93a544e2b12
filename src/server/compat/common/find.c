#include "server/compat/common/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/date.h"
#include "base/duration.h"
#include "model/traces/links.h"
#include "server/served/store.h"
#include "store/search/query.h"
#include "store/search/traces.h"
#include "store/trace/distributed.h"

void cn_find_done(struct cn_find *find)
{
    cn_text_done(&find->query);
}

static void add_quoted(struct cn_text *out, const char *value)
{
    cn_text_char(out, '"');
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            cn_text_char(out, '\\');
        cn_text_char(out, *value);
    }
    cn_text_char(out, '"');
}

void cn_find_add(struct cn_find *find, const char *field, const char *sign,
                 const char *value)
{
    cn_text_printf(&find->query, "%s%s %s ", find->query.len > 0 ? " " : "", field, sign);
    add_quoted(&find->query, value);
}

static void add_flag(struct cn_find *find, const char *condition)
{
    cn_text_printf(&find->query, "%s%s", find->query.len > 0 ? " " : "", condition);
}

/* What other stores have as attributes. False if it is an attribute here as well. */
static bool add_known(struct cn_find *find, const char *name, const char *value)
{
    if (strcmp(name, "error") == 0 && (!value || strcmp(value, "true") == 0))
        add_flag(find, "errors");
    else if (strcmp(name, "error") == 0 && strcmp(value, "false") == 0)
        add_flag(find, "NOT errors");
    else if (strcmp(name, "otel.status_code") == 0 && value &&
             strcasecmp(value, "error") == 0)
        add_flag(find, "errors");
    else if (strcmp(name, "otel.status_code") == 0 && value)
        cn_find_add(find, "@status.code", "=",
                    strcasecmp(value, "ok") == 0 ? "ok" : value);
    else if (strcmp(name, "span.kind") == 0 && value)
        cn_find_add(find, "type", "=", value);
    else
        return false;
    return true;
}

void cn_find_add_attribute(struct cn_find *find, const char *name, const char *value)
{
    struct cn_text field = {0};

    if (add_known(find, name, value))
        return;
    cn_text_char(&field, '@');
    add_quoted(&field, name);
    if (value)
        cn_find_add(find, cn_text_str(&field), "=", value);
    else
        cn_text_printf(&find->query, "%s%s exists", find->query.len > 0 ? " " : "",
                       cn_text_str(&field));
    cn_text_done(&field);
}

void cn_find_add_name(struct cn_find *find, const char *name)
{
    find->name = name;
    cn_find_add(find, "root", "=", name);
}

static void add_time(struct cn_find *find, const char *word, uint64_t ns)
{
    struct cn_text text = {0};

    /* Later dates cannot be written in a query. */
    cn_date_print(&text, ns < INT64_MAX ? ns : INT64_MAX, 9);
    cn_text_printf(&find->query, "%s%s \"%s\"", find->query.len > 0 ? " " : "", word,
                   cn_text_str(&text));
    cn_text_done(&text);
}

void cn_find_add_times(struct cn_find *find, uint64_t first_ns, uint64_t last_ns)
{
    if (first_ns > 0)
        add_time(find, "since", first_ns);
    if (last_ns < UINT64_MAX)
        add_time(find, "until", last_ns);
}

static void add_duration(struct cn_find *find, const char *sign, uint64_t ns)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%" PRIu64 "ns", ns);
    cn_find_add(find, "duration", sign, cn_text_str(&text));
    cn_text_done(&text);
}

void cn_find_add_durations(struct cn_find *find, uint64_t min_ns, uint64_t max_ns)
{
    if (min_ns > 0)
        add_duration(find, ">=", min_ns);
    if (max_ns < UINT64_MAX)
        add_duration(find, "<=", max_ns);
}

/* One span of each trace that was found. */
struct find_chosen {
    struct cn_search_hit *hits;
    uint64_t (*ids)[2];
    size_t count;
};

/* The newest ones are compared first: spans of a trace are near each other. */
static bool is_known(const struct find_chosen *chosen, const struct cn_store_row *row)
{
    for (size_t i = chosen->count; i-- > 0;)
        if (chosen->ids[i][1] == row->trace_low && chosen->ids[i][0] == row->trace_high)
            return true;
    return false;
}

/* Names match a query also by their ends, as those of methods do. */
static bool has_name(struct cn_search *search, const struct cn_search_hit *hit,
                     const struct cn_store_row *row, const char *name, bool *out,
                     struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = !name || cn_search_hit_word(search, hit, row->method, &text, err);

    *out = !name || strcmp(cn_text_str(&text), name) == 0;
    cn_text_done(&text);
    return ok;
}

static bool choose(struct cn_search *search, const struct cn_search_hits *hits,
                   const struct cn_find *find, struct find_chosen *chosen,
                   struct cn_error *err)
{
    struct cn_store_row row;
    bool is_named;

    chosen->count = 0;
    for (size_t i = 0; i < hits->count && chosen->count < find->limit; i++) {
        if (!cn_search_hit_row(search, &hits->list[i], &row, err))
            return false;
        if ((row.trace_high | row.trace_low) == 0 || is_known(chosen, &row))
            continue;
        if (!has_name(search, &hits->list[i], &row, find->name, &is_named, err))
            return false;
        if (!is_named)
            continue;
        chosen->ids[chosen->count][0] = row.trace_high;
        chosen->ids[chosen->count][1] = row.trace_low;
        chosen->hits[chosen->count++] = hits->list[i];
    }
    return true;
}

/* Read more spans until there are enough traces. */
static bool choose_all(struct cn_search *search, const struct cn_query *query,
                       const struct cn_find *find, struct find_chosen *chosen,
                       struct cn_error *err)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_TIME,
                                    .limit = find->limit * 8 + 64};
    struct cn_search_hits hits;
    bool ok, is_all;

    do {
        if (!cn_search_rows(search, query, &order, &hits, err))
            return false;
        is_all = hits.count < order.limit;
        ok = choose(search, &hits, find, chosen, err);
        cn_search_hits_done(&hits);
        order.limit *= 8;
    } while (ok && !is_all && chosen->count < find->limit);
    return ok;
}

/* Spans of a trace follow each other, with its number as their key. */
static bool visit_each(struct cn_served_store *store, const struct cn_find *find,
                       const struct cn_search_hits *spans, cn_find_visit *visit,
                       void *arg, struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0, end; ok && i < spans->count; i = end) {
        struct cn_trace_set set = {0};

        end = i;
        while (end < spans->count && spans->list[end].key == spans->list[i].key)
            end++;
        ok = cn_trace_set_load_hits(&set, store->store, store->loader, spans->list + i,
                                    end - i, err) &&
             visit(arg, &set, err);
        cn_trace_set_done(&set);
        if (ok && find->answer && find->answer->len > CN_FIND_ANSWER_MAX)
            ok = cn_fail(err, CN_ERR_LIMIT,
                         "the answer is longer than %d MiB; ask for fewer traces",
                         CN_FIND_ANSWER_MAX >> 20);
    }
    return ok;
}

bool cn_find_traces(struct cn_served_store *store, const struct cn_find *find,
                    cn_find_visit *visit, void *arg, struct cn_error *err)
{
    struct find_chosen chosen = {
        .hits = cn_alloc(find->limit + 1, sizeof(*chosen.hits)),
        .ids = cn_alloc(find->limit + 1, sizeof(*chosen.ids)),
    };
    struct cn_search_hits spans = {0};
    struct cn_query *query = NULL;
    bool ok =
        cn_query_parse(&query, cn_text_str(&find->query), 0, err) &&
        (find->limit == 0 || choose_all(store->search, query, find, &chosen, err)) &&
        (chosen.count == 0 ||
         cn_search_spans_of(store->search, chosen.hits, chosen.count, &spans, err));

    ok = ok && visit_each(store, find, &spans, visit, arg, err);
    cn_search_hits_done(&spans);
    cn_query_free(query);
    free(chosen.hits);
    free(chosen.ids);
    return ok;
}

bool cn_find_trace(struct cn_served_store *store, const char *id, cn_find_visit *visit,
                   void *arg, struct cn_error *err)
{
    size_t len = strspn(id, "0123456789abcdefABCDEF");
    char text[64], digits[CN_TRACE_ID_DIGITS + 1];
    struct cn_trace_set set = {0};
    struct cn_query *query = NULL;

    if (len == 0 || len > CN_TRACE_ID_DIGITS || id[len] != '\0')
        return cn_fail(err, CN_ERR_USAGE,
                       "'%.40s' is not a trace id of 1 to 32 hexadecimal digits", id);
    memset(digits, '0', CN_TRACE_ID_DIGITS);
    memcpy(digits + CN_TRACE_ID_DIGITS - len, id, len + 1);
    (void)snprintf(text, sizeof(text), "id = %s", digits);
    bool ok = cn_query_parse(&query, text, 0, err) &&
              cn_trace_set_load(&set, store->search, query, err);
    cn_query_free(query);
    if (ok && set.count == 0)
        ok = cn_fail(err, CN_ERR_NOT_FOUND, "trace not found");
    ok = ok && visit(arg, &set, err);
    cn_trace_set_done(&set);
    return ok;
}
