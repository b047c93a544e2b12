/* Traces by their ids, in protobuf or JSON. */
#include <string.h>

#include "base/bytes/json.h"
#include "base/bytes/protobuf.h"
#include "base/text.h"
#include "formats/exchange/write/traces/otlp.h"
#include "server/compat/common/find.h"
#include "server/compat/tempo/tempo.h"
#include "store/trace/distributed.h"

enum { TRACE_FIELD = 1, METRICS_FIELD = 2 }; /* of the answer of version 2 */

static bool add_json(void *arg, const struct cn_trace_set *set, struct cn_error *err)
{
    (void)err;
    for (size_t i = 0; i < set->count; i++)
        if (!set->branches[i].is_copy)
            cn_otlp_mapped_trace(arg, &set->branches[i].trace,
                                 cn_trace_branch_begin_ns(&set->branches[i], 0));
    return true;
}

static bool add_protobuf(void *arg, const struct cn_trace_set *set, struct cn_error *err)
{
    (void)err;
    for (size_t i = 0; i < set->count; i++)
        if (!set->branches[i].is_copy)
            cn_otlp_trace(arg, &set->branches[i].trace,
                          cn_trace_branch_begin_ns(&set->branches[i], 0));
    return true;
}

static bool answer_protobuf(struct cn_compat_call *call, bool is_v2, struct cn_error *err)
{
    struct cn_pb pb = {0};
    size_t at = is_v2 ? cn_pb_open(&pb, TRACE_FIELD) : 0;
    bool ok = cn_find_trace(call->store, call->part, add_protobuf, &pb, err);

    if (is_v2) {
        cn_pb_close(&pb, at);
        cn_pb_close(&pb, cn_pb_open(&pb, METRICS_FIELD));
    }
    call->type = "application/protobuf";
    cn_text_add(call->request->json.text, (const char *)pb.bytes, pb.len);
    cn_pb_done(&pb);
    return ok;
}

/* The range of times is that of the page that asks. A trace is whole wherever its spans are, so it is
 * checked and does not cut. */
static bool answer(struct cn_compat_call *call, bool is_v2, struct cn_error *err)
{
    struct cn_json *json = &call->request->json;
    uint64_t first_ns, last_ns;

    if (!cn_tempo_range(call, &first_ns, &last_ns, err))
        return false;
    if (strstr(call->accept, "protobuf"))
        return answer_protobuf(call, is_v2, err);
    cn_json_object(json);
    if (is_v2)
        cn_json_add_object(json, "trace");
    cn_json_add_array(json, is_v2 ? "resourceSpans" : "batches");
    bool ok = cn_find_trace(call->store, call->part, add_json, json, err);
    cn_json_end(json);
    if (is_v2) {
        cn_json_end(json);
        cn_json_add_object(json, "metrics");
        cn_json_end(json);
    }
    cn_json_end(json);
    return ok;
}

bool cn_tempo_trace(struct cn_compat_call *call, struct cn_error *err)
{
    return answer(call, false, err);
}

bool cn_tempo_trace_v2(struct cn_compat_call *call, struct cn_error *err)
{
    return answer(call, true, err);
}
