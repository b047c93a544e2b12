/* What the end of a trace waited for. */
#include "store/trace/critical_path.h"
#include "model/traces/json.h"
#include "model/traces/span.h"
#include "model/traces/trace.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/api/trace_load.h"
#include "store/trace/distributed.h"

enum { STEP_MAX = 10000 };

static void add_step(struct cn_json *json, const struct cn_trace_set *set,
                     const struct cn_critical_path *path,
                     const struct cn_critical_step *step)
{
    cn_json_object(json);
    cn_json_add_u64(json, "start", step->begin_ns - path->begin_ns);
    cn_json_add_u64(json, "duration", step->end_ns - step->begin_ns);
    if (step->branch != CN_NONE) {
        const struct cn_trace *trace = &set->branches[step->branch].trace;
        const struct cn_trace_span *span = cn_trace_span_around(trace, step->node);

        cn_json_add_span_id(json, "span", span ? span->id : 0);
        cn_json_add_word(json, "service", trace->words, span ? span->service : 0);
        cn_json_add_method(json, "method", trace->words, trace->nodes[step->node].method);
    }
    cn_json_end(json);
}

bool cn_api_critical_path(struct cn_request *request, const struct cn_trace_set *set,
                          struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_critical_path path;

    (void)err;
    cn_critical_path_find(&path, set);
    cn_json_add_id(json, "time", path.end_ns == 0 ? 0 : path.begin_ns);
    cn_json_add_u64(json, "duration", path.end_ns == 0 ? 0 : path.end_ns - path.begin_ns);
    cn_json_add_u64(json, "count", path.count);
    cn_json_add_array(json, "steps");
    for (size_t i = 0; i < path.count && i < STEP_MAX; i++)
        add_step(json, set, &path, &path.steps[i]);
    cn_json_end(json);
    cn_critical_path_done(&path);
    return true;
}
