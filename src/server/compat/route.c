#include "server/compat/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/run/clock.h"
#include "base/text.h"
#include "server/api/request.h"
#include "server/api/route.h"
#include "server/compat/common/call.h"
#include "server/compat/jaeger/jaeger.h"
#include "server/compat/tempo/tempo.h"
#include "server/compat/zipkin/zipkin.h"
#include "server/served/served.h"
#include "store/segment/weights.h"

static const struct cn_compat_api *const apis[] = {&cn_zipkin_api, &cn_jaeger_api,
                                                   &cn_tempo_api};
enum { API_COUNT = sizeof(apis) / sizeof(apis[0]) };

/* Where an address leads to. */
struct target {
    const struct cn_compat_api *api;
    const struct cn_compat_route *route; /* NULL: the API has no such path */
    const char *path;                    /* inside the API */
    char *part;
    uint64_t source; /* UINT64_MAX: the first store */
};

/* The API whose prefix a path has; the path goes on after it, and after the number of a source. */
static bool take_prefix(struct target *target)
{
    for (size_t i = 0; i < API_COUNT; i++) {
        size_t len = strlen(apis[i]->prefix);
        const char *rest = target->path + len, *number = rest + 1;

        if (strncmp(target->path, apis[i]->prefix, len) != 0 || *rest != '/')
            continue;
        target->api = apis[i];
        target->path = rest;
        if (cn_number_take(&number, UINT32_MAX, &target->source) && *number == '/')
            target->path = number;
        else
            target->source = UINT64_MAX;
        return true;
    }
    return false;
}

static bool find_target(struct target *target, const char *path, const char *accept)
{
    bool is_tempo = strstr(accept, "protobuf") != NULL;

    *target = (struct target){.path = path, .source = UINT64_MAX};
    if (take_prefix(target)) {
        target->route = cn_compat_find(target->api->routes, target->path, &target->part);
        return true;
    }
    for (size_t i = 0; i < API_COUNT && !target->route; i++) {
        target->api = apis[is_tempo ? API_COUNT - 1 - i : i];
        target->route = cn_compat_find(target->api->routes, path, &target->part);
    }
    return target->route != NULL;
}

bool cn_compat_is_address(const char *path)
{
    struct target target;
    bool is_address = find_target(&target, path, "");

    free(target.part);
    return is_address;
}

static bool choose_store(const struct cn_served_list *sources, uint64_t wanted,
                         struct cn_served **out, struct cn_error *err)
{
    for (size_t i = 0; i < sources->count; i++) {
        *out = sources->list[i];
        if ((wanted == UINT64_MAX || wanted == i) && (*out)->kind == CN_SERVED_STORE)
            return true;
    }
    return cn_fail(err, CN_ERR_NOT_FOUND,
                   wanted == UINT64_MAX ? "no store of traces is served here"
                                        : "this source is not a store of traces");
}

/* These APIs have no place for it in their answers. */
static void note_sampled(struct cn_compat_call *call)
{
    struct cn_store_sampling sampling = cn_store_sampling(call->store->store);
    struct cn_text text = {0};

    if (sampling.segments == 0)
        return;
    cn_store_sampling_print(&text, &sampling);
    (void)snprintf(call->request->sampled, sizeof(call->request->sampled), "%s",
                   cn_text_str(&text));
    cn_text_done(&text);
}

/* The store is locked during an answer, as for other requests. */
static bool answer(const struct cn_served_list *sources, const struct target *target,
                   struct cn_compat_call *call, struct cn_error *err)
{
    struct cn_served *served;

    if (!target->route)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%.200s: no such path in this API",
                       target->path);
    if (target->route->is_static)
        return target->route->answer(call, err);
    if (!choose_store(sources, target->source, &served, err))
        return false;
    cn_served_lock(served);
    call->store = &served->store;
    bool ok =
        cn_served_store_refresh(&served->store, err) && target->route->answer(call, err);
    note_sampled(call);
    cn_served_unlock(served);
    cn_served_tidy(served);
    return ok;
}

void cn_compat_answer_request(const struct cn_served_list *sources,
                              struct cn_request *request, const char *accept,
                              unsigned *status, const char **type)
{
    struct cn_compat_call call = {.request = request,
                                  .accept = accept,
                                  .now_ns = cn_clock_date_ns(),
                                  .status = 200,
                                  .type = "application/json"};
    struct cn_error err = {0};
    struct target target;

    if (!find_target(&target, request->path, accept))
        return;
    request->path = target.path;
    call.part = target.part;
    if (!answer(sources, &target, &call, &err)) {
        struct cn_text *text = request->json.text;

        cn_text_clear(text);
        request->json = (struct cn_json){.text = text};
        call.type = "application/json";
        call.status = cn_route_status(err.kind);
        target.api->write_error(&call, &err);
    }
    free(target.part);
    *status = call.status;
    *type = call.type;
}
