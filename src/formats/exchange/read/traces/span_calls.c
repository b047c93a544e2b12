#include "formats/exchange/read/traces/span_calls.h"

#include "analyze/calls/from_traces.h"
#include "base/files/file.h"
#include "formats/exchange/read/traces/span_set.h"
#include "model/calls/recording.h"
#include "model/traces/copy.h"
#include "model/traces/span.h"

static bool probe(const char *path, enum cn_span_system system)
{
    struct cn_file file = {0};
    struct cn_error ignored;

    if (!cn_file_open(&file, path, &ignored))
        return false;
    bool found = cn_span_set_probe(file.bytes) == system;
    cn_file_close(&file);
    return found;
}

bool cn_zipkin_probe(const char *path)
{
    return probe(path, CN_SPANS_ZIPKIN);
}

bool cn_otlp_probe(const char *path)
{
    return probe(path, CN_SPANS_OTLP);
}

bool cn_otlp_json_probe(const char *path)
{
    return probe(path, CN_SPANS_OTLP_JSON);
}

static bool walk(struct cn_bytes body, const struct cn_trace_visitor *visitor,
                 struct cn_error *err)
{
    struct cn_span_set set = {.stops_at_damage = true};
    struct cn_trace borrowed, trace = {0};
    enum cn_step step = CN_FAIL;
    bool ok = cn_span_set_read(&set, body, err);

    while (ok && (step = cn_span_set_next(&set, &borrowed, err)) == CN_ITEM) {
        cn_trace_copy(&trace, &borrowed);
        cn_trace_complete(&trace);
        ok = visitor->visit(visitor->arg, &trace, trace.spans[0].time_ns, err);
    }
    if (visitor->damage && visitor->damage->kind == CN_ERR_NONE)
        *visitor->damage = set.damage;
    cn_trace_done(&trace);
    cn_span_set_done(&set);
    return ok && step == CN_END;
}

static bool add_calls(void *arg, const struct cn_trace *trace, uint64_t begin_ns,
                      struct cn_error *err)
{
    (void)begin_ns;
    (void)err;
    cn_trace_calls_add(arg, trace);
    return true;
}

bool cn_span_traces_walk(const char *path, const struct cn_trace_visitor *visitor,
                         struct cn_error *err)
{
    struct cn_file file = {0};

    if (!cn_file_open(&file, path, err))
        return false;
    bool ok = walk(file.bytes, visitor, err);
    cn_file_close(&file);
    return ok;
}

bool cn_span_calls_open(struct cn_recording **out, const char *path, const char *query,
                        struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_trace_visitor visitor = {.visit = add_calls, .damage = &damage};
    struct cn_file file = {0};
    struct cn_trace_calls *calls;

    if (query[0] != '\0')
        return cn_fail(err, CN_ERR_USAGE,
                       "%s: a file of spans cannot be searched; add it to a store first",
                       path);
    if (!cn_file_open(&file, path, err))
        return false;
    visitor.arg = calls = cn_trace_calls_new();
    bool ok = walk(file.bytes, &visitor, err) || cn_fail_in(err, "%s", path);
    if (ok) {
        *out = cn_trace_calls_finish(calls);
        if (damage.kind != CN_ERR_NONE)
            cn_recording_warn(*out, true, "%s; read up to there", damage.text);
        (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    }
    cn_trace_calls_free(calls);
    cn_file_close(&file);
    return ok;
}
