#include "server/api/route.h"

#include <stdlib.h>
#include <string.h>

#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/served.h"

#define API_PREFIX "/api/v1/"

struct question {
    const char *name;
    cn_api_answer *answer;
};

static const struct question of_databases[] = {
    {"info", cn_api_info},
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
    {"calls", cn_api_calls},
    {"find", cn_api_find},
    {"function", cn_api_function},
    {0},
};

static const struct question of_stores[] = {
    {"info", cn_api_store_info},     {"traces", cn_api_traces},
    {"histogram", cn_api_histogram}, {"groups", cn_api_groups},
    {"names", cn_api_names},         {"trace", cn_api_trace},
    {"flame", cn_api_traces_flame},  {"methods", cn_api_trace_methods},
    {"find", cn_api_trace_find},     {0},
};

static void list_sources(const struct cn_served_list *things, struct cn_request *request)
{
    cn_json_object(&request->json);
    cn_json_add_str(&request->json, "version", CN_VERSION);
    cn_json_key(&request->json, "sources");
    cn_json_array(&request->json);
    for (size_t i = 0; i < things->count; i++)
        cn_api_describe(things->list[i], (unsigned)i, request);
    cn_json_end(&request->json);
    cn_json_end(&request->json);
}

static cn_api_answer *find_question(const struct cn_served *served, const char *name)
{
    const struct question *question =
        served->kind == CN_SERVED_STORE ? of_stores : of_databases;

    while (question->name && strcmp(question->name, name) != 0)
        question++;
    return question->answer;
}

bool cn_route_api(const struct cn_served_list *things, struct cn_request *request,
                  struct cn_error *err)
{
    static const char sources[] = API_PREFIX "sources";
    const char *rest = request->path + sizeof(sources) - 1;
    unsigned long number;
    cn_api_answer *answer;
    char *end;
    bool ok;

    if (strcmp(request->path, sources) == 0) {
        list_sources(things, request);
        return true;
    }
    if (strncmp(request->path, sources, sizeof(sources) - 1) != 0 || rest[0] != '/' ||
        rest[1] < '0' || rest[1] > '9')
        return cn_fail(err, CN_ERR_NOT_FOUND, "%.200s: there is no such page",
                       request->path);
    number = strtoul(rest + 1, &end, 10);
    answer = *end == '/' && number < things->count
                 ? find_question(things->list[number], end + 1)
                 : NULL;
    if (!answer)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%.200s: there is no such page",
                       request->path);
    ok = answer(things->list[number], request, err);
    cn_served_tidy(things->list[number]);
    return ok;
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
        return 503;
    case CN_ERR_FORMAT:
    case CN_ERR_VERSION:
    case CN_ERR_LIMIT:
        return 422;
    case CN_ERR_IO:
        return 500;
    }
    return 500;
}

const char *cn_route_error_name(enum cn_error_kind kind)
{
    static const char *const names[] = {"none",    "usage", "io",        "format",
                                        "version", "limit", "not-found", "not-ready"};

    return names[kind];
}
