#include "server/api/route.h"

#include <string.h>

#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/served.h"

static const char prefix[] = "/api/v1/sources";

/* A question, and what it is answered with: one of these is set. */
struct route_question {
    const char *name;
    cn_api_answer *of_source;
    cn_view_answer *of_view;       /* the view that the request asks for */
    cn_query_answer *of_query;     /* its query */
    cn_trace_answer *of_trace;     /* the trace of its key */
    cn_trace_set_answer *of_spans; /* all spans of that trace */
    bool is_sql, is_tables;        /* of the source, in SQL */
    bool is_list;                  /* the answer is an array, not an object */
    bool has_lens; /* it is asked of the source through the lens of the request */
};

static const struct route_question of_databases[] = {
    {"info", .of_source = cn_api_info},
    {"header", .of_source = cn_api_header, .has_lens = true},
    {"overview", .of_source = cn_api_overview, .has_lens = true},
    {"threads", .of_source = cn_api_threads, .is_list = true},
    {"rows", .of_source = cn_api_rows, .has_lens = true},
    {"hot-path", .of_view = cn_api_hot_path, .has_lens = true},
    {"search", .of_source = cn_api_search, .has_lens = true},
    {"flame", .of_source = cn_api_flame, .has_lens = true},
    {"context", .of_source = cn_api_context, .has_lens = true},
    {"source", .of_view = cn_api_source, .has_lens = true},
    {"timeline", .of_source = cn_api_timeline, .has_lens = true},
    {"stack", .of_source = cn_api_stack, .has_lens = true},
    {"range", .of_source = cn_api_range, .has_lens = true},
    {"states", .of_source = cn_api_states},
    {"counters", .of_source = cn_api_counters},
    {"processors", .of_source = cn_api_processors},
    {"calls", .of_source = cn_api_calls},
    {"find", .of_source = cn_api_find},
    {"function", .of_source = cn_api_function, .has_lens = true},
    {"assembly", .of_view = cn_api_assembly},
    {"slowest", .of_source = cn_api_slowest},
    {"flows", .of_source = cn_api_flows},
    {"waits", .of_source = cn_api_waits},
    {"critical-path", .of_source = cn_api_wait_path},
    {"io", .of_source = cn_api_io},
    {"sql", .is_sql = true},
    {"tables", .is_tables = true},
    {0},
};

static const struct route_question of_stores[] = {
    {"info", .of_query = cn_api_store_info},
    {"traces", .of_query = cn_api_traces},
    {"histogram", .of_query = cn_api_histogram},
    {"heat", .of_query = cn_api_heat},
    {"groups", .of_query = cn_api_groups},
    {"names", .of_source = cn_api_names},
    {"trace", .of_trace = cn_api_trace},
    {"flame", .of_query = cn_api_traces_flame},
    {"methods", .of_spans = cn_api_trace_methods},
    {"find", .of_trace = cn_api_trace_find},
    {"services", .of_query = cn_api_services},
    {"critical-path", .of_spans = cn_api_critical_path},
    {"links", .of_spans = cn_api_links},
    {"chart", .of_spans = cn_api_trace_chart},
    {"sql", .is_sql = true},
    {"tables", .is_tables = true},
    {0},
};

static void list_sources(const struct cn_served_list *sources, struct cn_request *request)
{
    cn_json_add_str(&request->json, "version", CN_VERSION);
    cn_json_add_array(&request->json, "sources");
    for (size_t i = 0; i < sources->count; i++)
        cn_api_describe(sources->list[i], (unsigned)i, request);
    cn_json_end(&request->json);
}

/* Source and question of the path "/api/v1/sources/INDEX/QUESTION"; NULL if there is none. */
static const struct route_question *find_question(const struct cn_served_list *sources,
                                                  const char *path,
                                                  struct cn_served **served)
{
    const struct route_question *question;
    uint64_t index;

    if (strncmp(path, prefix, strlen(prefix)) != 0)
        return NULL;
    path += strlen(prefix);
    if (*path++ != '/' || !cn_number_take(&path, sources->count, &index) ||
        *path++ != '/' || index == sources->count)
        return NULL;
    *served = sources->list[index];
    question = (*served)->kind == CN_SERVED_STORE ? of_stores : of_databases;
    while (question->name && strcmp(question->name, path) != 0)
        question++;
    return question->name ? question : NULL;
}

/* What SQL finds is computed outside of the API. */
static bool answer_sql(const struct cn_served_list *sources, cn_list_answer *by,
                       struct cn_served *served, struct cn_request *request,
                       struct cn_error *err)
{
    if (!by)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "SQL is not in this page; run: cairn sql %s", served->path);
    return by(sources, served, request, err);
}

static bool answer(const struct cn_served_list *sources,
                   const struct route_question *question, struct cn_served *served,
                   struct cn_request *request, struct cn_error *err)
{
    if (question->is_sql || question->is_tables)
        return answer_sql(sources,
                          question->is_sql ? sources->answer_sql : sources->answer_tables,
                          served, request, err);
    if (question->of_view)
        return cn_api_with_asked_view(served, request, question->of_view, err);
    if (question->of_query)
        return cn_api_with_query(served, request, question->of_query, err);
    if (question->of_trace)
        return cn_api_with_trace(served, request, question->of_trace, err);
    if (question->of_spans)
        return cn_api_with_trace_set(served, request, question->of_spans, err);
    return question->of_source(served, request, err);
}

/* Answer about the source as the request sees it. */
static bool answer_seen(const struct cn_served_list *sources,
                        const struct route_question *question, struct cn_served *served,
                        struct cn_request *request, struct cn_error *err)
{
    struct cn_lens lens = {0};
    struct cn_served *shown;
    struct cn_cached *entry;
    bool is_given = false, ok;

    if (question->has_lens && !cn_request_lens(request, &lens, &is_given, err))
        return false;
    if (!is_given)
        return answer(sources, question, served, request, err);
    if (!cn_served_lens_borrow(served, &lens, &shown, &entry, err))
        return false;
    ok = answer(sources, question, shown, request, err);
    cn_served_lens_return(served, entry);
    return ok;
}

bool cn_route_api(const struct cn_served_list *sources, struct cn_request *request,
                  struct cn_error *err)
{
    bool is_diff = strcmp(request->path, "/api/v1/diff") == 0;
    bool is_about_all = strcmp(request->path, prefix) == 0, ok = true;
    struct cn_served *served = NULL;
    const struct route_question *question =
        is_diff || is_about_all ? NULL : find_question(sources, request->path, &served);

    if (!is_diff && !is_about_all && !question)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%.200s: no such page", request->path);
    (question && question->is_list ? cn_json_array : cn_json_object)(&request->json);
    if (is_diff)
        ok = cn_api_diff(sources, request, err);
    else if (is_about_all)
        list_sources(sources, request);
    else
        ok = answer_seen(sources, question, served, request, err);
    if (ok)
        cn_json_end(&request->json);
    if (served)
        cn_served_tidy(served);
    return ok;
}

void cn_route_error(struct cn_text *out, const struct cn_error *err)
{
    static const char *const names[CN_ERR_KIND_COUNT] = {
        [CN_ERR_NONE] = "none",
        [CN_ERR_USAGE] = "usage",
        [CN_ERR_IO] = "io",
        [CN_ERR_FORMAT] = "format",
        [CN_ERR_VERSION] = "version",
        [CN_ERR_LIMIT] = "limit",
        [CN_ERR_NOT_FOUND] = "not-found",
        [CN_ERR_INTERRUPTED] = "interrupted",
        [CN_ERR_REJECTED] = "rejected",
        [CN_ERR_BUSY] = "not-ready",
        [CN_ERR_NO_MEMORY] = "no-memory",
    };
    struct cn_json json = {.text = out};

    cn_json_object(&json);
    cn_json_add_object(&json, "error");
    cn_json_add_str(&json, "kind", names[err->kind]);
    cn_json_add_str(&json, "text", err->text);
    cn_json_end(&json);
    cn_json_end(&json);
}

unsigned cn_route_status(enum cn_error_kind kind)
{
    switch (kind) {
    case CN_ERR_NONE:
        return 200;
    case CN_ERR_USAGE:
        return 400;
    case CN_ERR_NOT_FOUND:
        return 404;
    case CN_ERR_INTERRUPTED:
    case CN_ERR_BUSY:
    case CN_ERR_NO_MEMORY:
        return 503;
    case CN_ERR_FORMAT:
    case CN_ERR_VERSION:
    case CN_ERR_LIMIT:
        return 422;
    case CN_ERR_IO:
    case CN_ERR_REJECTED:
        return 500;
    }
    return 500;
}
