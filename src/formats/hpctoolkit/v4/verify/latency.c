/* The rules of latency.db. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/v4/read/latency_reader.h"
#include "formats/hpctoolkit/v4/verify/parts.h"

/* The calls of all contexts by bucket: those of threads must add up to the summary. */
struct totals {
    double summary[CN_HPC_LATENCY_BUCKET_MAX], threads[CN_HPC_LATENCY_BUCKET_MAX];
};

static bool check_row(struct cn_hpc_v4_check *v, const struct cn_hpc_latency *latency,
                      const struct cn_hpc_latency_plane *plane,
                      const struct cn_hpc_latency_row *row, double *totals,
                      struct cn_error *err)
{
    int last = -1;

    for (uint64_t i = row->first; i < row->end; i++) {
        struct cn_hpc_latency_count count;

        if (!cn_hpc_latency_count(latency, plane, i, &count, err))
            return false;
        if (count.bucket <= last)
            cn_findings_error(&v->m.c.f, "latency-sorted", 0,
                              "context %" PRIu32 ": bucket %u after %d", row->context,
                              count.bucket, last);
        if (!isfinite(count.calls) || count.calls <= 0)
            cn_findings_error(&v->m.c.f, "latency-calls", 0,
                              "context %" PRIu32 ": %g calls in bucket %u", row->context,
                              count.calls, count.bucket);
        last = count.bucket;
        totals[count.bucket] += count.calls;
    }
    return true;
}

static bool check_plane(struct cn_hpc_v4_check *v, const struct cn_hpc_latency *latency,
                        uint32_t profile, double *totals, struct cn_error *err)
{
    struct cn_hpc_latency_plane plane = cn_hpc_latency_plane(latency, profile);

    for (uint32_t i = 0; i < plane.context_count; i++) {
        struct cn_hpc_latency_row row;

        if (!cn_hpc_latency_row(latency, &plane, i, &row, err) ||
            !check_row(v, latency, &plane, &row, totals, err))
            return cn_fail_in(err, "profile %" PRIu32, profile);
        if (v->m.c.contexts && row.context != 0 &&
            (row.context >= v->m.c.contexts->limit ||
             !cn_hpc_set_has(v->m.c.contexts, row.context)))
            cn_findings_error(&v->m.c.f, "latency-context", 0,
                              "profile %" PRIu32 ": context %" PRIu32
                              " is not in meta.db",
                              profile, row.context);
    }
    return true;
}

static void compare_totals(struct cn_hpc_v4_check *v, const struct totals *totals,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (totals->summary[i] != totals->threads[i])
            cn_findings_error(&v->m.c.f, "latency-summary", 0,
                              "bucket %" PRIu32
                              ": the summary has %g calls, all threads have %g",
                              i, totals->summary[i], totals->threads[i]);
}

void cn_hpc_v4_check_latency(struct cn_hpc_v4_check *v)
{
    struct cn_hpc_latency latency = {0};
    struct cn_error err = {0};
    bool ok = true;

    cn_findings_begin(&v->m.c.f, CN_HPC_LATENCY_NAME);
    if (!v->files->has_latency)
        return;
    if (!cn_hpc_latency_open(&latency, v->files->latency, &err)) {
        cn_findings_error(&v->m.c.f, "latency", 0, "%s", err.text);
        return;
    }
    if (v->m.c.profile_count > 0 && latency.profile_count != v->m.c.profile_count)
        cn_findings_error(&v->m.c.f, "latency-profiles", 0,
                          "%" PRIu32 " profiles, profile.db has %" PRIu32,
                          latency.profile_count, v->m.c.profile_count);
    struct totals *totals = cn_alloc(1, sizeof(*totals));
    ok = cn_block_file_check(&latency.file, latency.file.blocks, &err);
    for (uint32_t i = 0; ok && i < latency.profile_count; i++)
        ok =
            check_plane(v, &latency, i, i == 0 ? totals->summary : totals->threads, &err);
    if (ok)
        compare_totals(v, totals, latency.bucket_count);
    else
        cn_findings_error(&v->m.c.f, "latency", 0, "%s", err.text);
    free(totals);
    cn_hpc_latency_close(&latency);
}
