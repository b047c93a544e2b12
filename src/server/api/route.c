#include "server/api/route.h"

#include <stdlib.h>
#include <string.h>

#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/served.h"

struct question {
    const char *name;
    cn_api_answer *answer;
};

static const struct question of_databases[] = {
    {"info", cn_api_info},
    {"overview", cn_api_overview},
    {"threads", cn_api_threads},
    {"rows", cn_api_rows},
    {"hot-path", cn_api_hot_path},
    {"search", cn_api_search},
    {"flame", cn_api_flame},
    {"context", cn_api_context},
    {"source", cn_api_source},
    {"timeline", cn_api_timeline},
    {"stack", cn_api_stack},
    {"range", cn_api_range},
    {"states", cn_api_states},
    {"counters", cn_api_counters},
    {"calls", cn_api_calls},
    {"find", cn_api_find},
    {"function", cn_api_function},
    {"assembly", cn_api_assembly},
    {"slowest", cn_api_slowest},
    {"flows", cn_api_flows},
    {0},
};

static const struct question of_stores[] = {
    {"info", cn_api_store_info},
    {"traces", cn_api_traces},
    {"histogram", cn_api_histogram},
    {"groups", cn_api_groups},
    {"names", cn_api_names},
    {"trace", cn_api_trace},
    {"flame", cn_api_traces_flame},
    {"methods", cn_api_trace_methods},
    {"find", cn_api_trace_find},
    {"services", cn_api_services},
    {"critical-path", cn_api_critical_path},
    {"links", cn_api_links},
    {"chart", cn_api_trace_chart},
    {0},
};

static void list_sources(const struct cn_served_list *sources, struct cn_request *request)
{
    cn_json_object(&request->json);
    cn_json_add_str(&request->json, "version", CN_VERSION);
    cn_json_add_array(&request->json, "sources");
    for (size_t i = 0; i < sources->count; i++)
        cn_api_describe(sources->list[i], (unsigned)i, request);
    cn_json_end(&request->json);
    cn_json_end(&request->json);
}

/* Source and question of the path "/INDEX/QUESTION"; NULL if there is none. */
static cn_api_answer *find_question(const struct cn_served_list *sources,
                                    const char *path, struct cn_served **served)
{
    const struct question *question;
    unsigned long index;
    char *end;

    if (path[0] != '/' || path[1] < '0' || path[1] > '9')
        return NULL;
    index = strtoul(path + 1, &end, 10);
    if (*end != '/' || index >= sources->count)
        return NULL;
    *served = sources->list[index];
    question = (*served)->kind == CN_SERVED_STORE ? of_stores : of_databases;
    while (question->name && strcmp(question->name, end + 1) != 0)
        question++;
    return question->answer;
}

bool cn_route_api(const struct cn_served_list *sources, struct cn_request *request,
                  struct cn_error *err)
{
    static const char prefix[] = "/api/v1/sources";
    size_t len = sizeof(prefix) - 1;
    cn_api_answer *answer = NULL;
    struct cn_served *served;
    bool ok;

    if (strcmp(request->path, prefix) == 0) {
        list_sources(sources, request);
        return true;
    }
    if (strcmp(request->path, "/api/v1/diff") == 0)
        return cn_api_diff(sources, request, err);
    if (strncmp(request->path, prefix, len) == 0)
        answer = find_question(sources, request->path + len, &served);
    if (!answer)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%.200s: no such page", request->path);
    ok = answer(served, request, err);
    cn_served_tidy(served);
    return ok;
}

void cn_route_error(struct cn_text *out, const struct cn_error *err)
{
    static const char *const names[] = {"none",      "usage",     "io",
                                        "format",    "version",   "limit",
                                        "not-found", "not-ready", "rejected"};
    struct cn_json json = {.text = out};

    cn_json_object(&json);
    cn_json_add_object(&json, "error");
    cn_json_add_str(&json, "kind", names[err->kind]);
    cn_json_add_str(&json, "text", err->text);
    cn_json_end(&json);
    cn_json_end(&json);
}
