#include "server/route.h"

#include <stdlib.h>
#include <string.h>

#include "server/api.h"
#include "server/request.h"
#include "server/served.h"

#define API_PREFIX "/api/v1/"

static const struct {
    const char *name;
    cn_api_fn answer;
} questions[] = {
    {"info", cn_api_info},         {"threads", cn_api_threads},
    {"rows", cn_api_rows},         {"hot-path", cn_api_hot_path},
    {"search", cn_api_search},     {"flame", cn_api_flame},
    {"context", cn_api_context},   {"source", cn_api_source},
    {"timeline", cn_api_timeline}, {"stack", cn_api_stack},
    {"range", cn_api_range},       {"calls", cn_api_calls},
    {"find", cn_api_find},
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

static cn_api_fn find_question(const char *name)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
        if (strcmp(questions[i].name, name) == 0)
            return questions[i].answer;
    return NULL;
}

bool cn_route_api(const struct cn_served_list *things, struct cn_request *request,
                  struct cn_error *err)
{
    static const char sources[] = API_PREFIX "sources";
    const char *rest = request->path + sizeof(sources) - 1;
    unsigned long number;
    cn_api_fn answer;
    char *end;

    if (strcmp(request->path, sources) == 0) {
        list_sources(things, request);
        return true;
    }
    if (strncmp(request->path, sources, sizeof(sources) - 1) != 0 || rest[0] != '/' ||
        rest[1] < '0' || rest[1] > '9')
        return cn_fail(err, CN_ERR_NOT_FOUND, "%.200s: there is no such page",
                       request->path);
    number = strtoul(rest + 1, &end, 10);
    answer = *end == '/' ? find_question(end + 1) : NULL;
    if (number >= things->count || !answer)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%.200s: there is no such page",
                       request->path);
    return answer(things->list[number], request, err);
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
