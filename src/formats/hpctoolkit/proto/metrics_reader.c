#include "formats/hpctoolkit/proto/metrics_reader.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "formats/hpctoolkit/proto/meta_reader.h"
#include "formats/hpctoolkit/scopes.h"

/* The least length of each, with its string. */
enum {
    METRIC_MIN = cn_hpc_proto_metric_size + 1,
    SCOPE_MIN = cn_hpc_proto_scope_size + 1,
    STATISTIC_MIN = cn_hpc_proto_statistic_size + 1,
};

struct reader {
    struct cn_hpc_span rest;
    struct cn_arena *arena;
    struct cn_names scopes;
};

static bool check_count(const struct reader *r, uint64_t count, uint64_t least,
                        const char *what, struct cn_error *err)
{
    if (count <= r->rest.bytes.len / least)
        return true;
    return cn_fail(err, CN_ERR_FORMAT,
                   "%" PRIu64 " %s at 0x%" PRIx64
                   " do not fit the %zu bytes left of their section",
                   count, what, r->rest.off, r->rest.bytes.len);
}

static bool read_statistic(struct reader *r, uint16_t scope, struct cn_statistic *out,
                           struct cn_error *err)
{
    struct cn_hpc_proto_statistic record;
    struct cn_bytes bytes;

    if (!cn_hpc_span_take(&r->rest, cn_hpc_proto_statistic_size, "statistic", &bytes,
                          err) ||
        !cn_hpc_proto_statistic_decode(bytes, &record) ||
        !cn_hpc_span_take_string(&r->rest, "formula", &out->formula, err))
        return false;
    out->scope = scope;
    out->stat_id = record.stat_id;
    out->combine = record.combine;
    return true;
}

/* The head and name of a scope; its statistics follow. */
static bool read_scope(struct reader *r, struct cn_hpc_proto_scope *record,
                       uint16_t *scope, struct cn_error *err)
{
    struct cn_bytes bytes;
    const char *name;
    uint32_t number;

    if (!cn_hpc_span_take(&r->rest, cn_hpc_proto_scope_size, "scope", &bytes, err) ||
        !cn_hpc_proto_scope_decode(bytes, record) ||
        !cn_hpc_span_take_string(&r->rest, "name of a scope", &name, err) ||
        !check_count(r, record->statistic_count, STATISTIC_MIN, "statistics", err))
        return false;
    number = cn_names_add(&r->scopes, name);
    if (number >= UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d scopes", UINT16_MAX);
    *scope = (uint16_t)number;
    return true;
}

/* Count the statistics of the scopes that follow, without moving on. */
static bool count_statistics(struct reader *r, size_t scope_count, size_t *out,
                             struct cn_error *err)
{
    struct cn_hpc_span begin = r->rest;
    struct cn_hpc_proto_scope record;
    struct cn_statistic ignored;
    uint16_t scope;
    size_t total = 0;

    for (size_t i = 0; i < scope_count; i++) {
        if (!read_scope(r, &record, &scope, err))
            return false;
        total += record.statistic_count;
        for (size_t k = 0; k < record.statistic_count; k++)
            if (!read_statistic(r, scope, &ignored, err))
                return false;
    }
    r->rest = begin;
    *out = total;
    return true;
}

static bool read_scopes(struct reader *r, size_t scope_count, struct cn_metric *metric,
                        struct cn_error *err)
{
    struct cn_scope_instance *instances;
    struct cn_statistic *statistics;
    struct cn_hpc_proto_scope record;
    size_t total, used = 0;

    if (!check_count(r, scope_count, SCOPE_MIN, "scopes", err) ||
        !count_statistics(r, scope_count, &total, err))
        return false;
    instances = cn_arena_alloc(r->arena, scope_count, sizeof(*instances));
    statistics = cn_arena_alloc(r->arena, total, sizeof(*statistics));
    for (size_t i = 0; i < scope_count; i++) {
        if (!read_scope(r, &record, &instances[i].scope, err))
            return false;
        instances[i].prop_id = record.prop_id;
        for (size_t k = 0; k < record.statistic_count; k++)
            if (!read_statistic(r, instances[i].scope, &statistics[used++], err))
                return false;
    }
    metric->instances = instances;
    metric->instance_count = scope_count;
    metric->statistics = statistics;
    metric->statistic_count = total;
    return true;
}

static bool read_metric(struct reader *r, struct cn_metric *out, struct cn_error *err)
{
    struct cn_hpc_proto_metric record;
    struct cn_bytes bytes;

    return cn_hpc_span_take(&r->rest, cn_hpc_proto_metric_size, "metric", &bytes, err) &&
           cn_hpc_proto_metric_decode(bytes, &record) &&
           cn_hpc_span_take_string(&r->rest, "name", &out->name, err) &&
           read_scopes(r, record.scope_count, out, err);
}

static bool read_all(struct reader *r, struct cn_metrics *out, struct cn_error *err)
{
    struct cn_hpc_proto_metrics_header head;
    struct cn_metric *list;
    struct cn_scope *scopes;
    struct cn_bytes bytes;

    if (!cn_hpc_span_take(&r->rest, cn_hpc_proto_metrics_header_size, "number of metrics",
                          &bytes, err) ||
        !cn_hpc_proto_metrics_header_decode(bytes, &head) ||
        !check_count(r, head.metric_count, METRIC_MIN, "metrics", err))
        return false;
    list = cn_arena_alloc(r->arena, head.metric_count, sizeof(*list));
    for (uint32_t i = 0; i < head.metric_count; i++) {
        uint64_t off = r->rest.off;

        if (!read_metric(r, &list[i], err))
            return cn_fail_in(err, "metric %" PRIu32 " at 0x%" PRIx64, i, off);
    }
    scopes = cn_arena_alloc(r->arena, r->scopes.count, sizeof(*scopes));
    for (size_t i = 0; i < r->scopes.count; i++)
        scopes[i] = cn_hpc_scope_of(cn_arena_strdup(r->arena, r->scopes.list[i]));
    *out = (struct cn_metrics){scopes, list, r->scopes.count, head.metric_count};
    return true;
}

bool cn_hpc_proto_metrics_read(const struct cn_hpc_proto_meta *meta,
                               struct cn_arena *arena, struct cn_metrics *out,
                               struct cn_error *err)
{
    struct reader r = {.rest = meta->sections[CN_HPC_PROTO_METRICS], .arena = arena};
    struct cn_metrics metrics;
    bool ok = read_all(&r, &metrics, err);

    cn_names_done(&r.scopes);
    if (ok)
        *out = metrics;
    return ok;
}
