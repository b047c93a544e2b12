#include "formats/hpctoolkit/v4/read/trace_reader.h"

#include <inttypes.h>
#include <stdlib.h>

bool cn_hpc_traces_open(struct cn_bytes file, struct cn_hpc_traces *out,
                        struct cn_error *err)
{
    struct cn_hpc_traces traces = {0};
    const struct cn_hpc_span *section = &traces.sections.list[CN_HPC_TRACES];
    struct cn_hpc_traces_header head;

    if (!cn_hpc_sections_open(file, &cn_hpc_trace_kind, &traces.sections, err))
        return false;
    if (!cn_hpc_traces_header_decode(section->bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section CtxTraces is too short for its header: %zu bytes",
                       section->bytes.len);
    if (!cn_hpc_table_open(*section,
                           &(struct cn_hpc_array){.what = "traces",
                                                  .off = head.traces_off,
                                                  .count = head.trace_count,
                                                  .stride = head.trace_len,
                                                  .least = cn_hpc_trace_size},
                           &traces.table, err))
        return false;
    traces.begin_ns = head.begin_ns;
    traces.end_ns = head.end_ns;
    *out = traces;
    return true;
}

static struct cn_hpc_trace trace_at(const struct cn_hpc_traces *traces, uint32_t i)
{
    struct cn_hpc_trace trace = {0};

    (void)cn_hpc_trace_decode(cn_hpc_table_at(&traces->table, i), &trace);
    return trace;
}

static int compare_places(const void *left, const void *right)
{
    const struct cn_hpc_trace_place *a = left, *b = right;

    if (a->profile != b->profile)
        return a->profile < b->profile ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

void cn_hpc_traces_sort(struct cn_hpc_traces *traces, struct cn_arena *arena)
{
    struct cn_hpc_trace_place *places;
    uint32_t count = traces->table.count;
    uint32_t usual = 0;

    while (usual < count && trace_at(traces, usual).profile == usual + 1)
        usual++;
    if (usual == count)
        return;
    places = cn_arena_alloc(arena, count, sizeof(*places));
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct cn_hpc_trace_place){trace_at(traces, i).profile, i};
    qsort(places, count, sizeof(*places), compare_places);
    traces->by_profile = places;
}

/* Which trace belongs to a profile, where they are not in the usual order. */
static bool search_places(const struct cn_hpc_traces *traces, uint32_t profile,
                          uint32_t *out)
{
    uint32_t low = 0, high = traces->table.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (traces->by_profile[middle].profile < profile)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == traces->table.count || traces->by_profile[low].profile != profile)
        return false;
    *out = traces->by_profile[low].index;
    return true;
}

static bool search_trace(const struct cn_hpc_traces *traces, uint32_t profile,
                         uint32_t *out)
{
    if (traces->by_profile)
        return search_places(traces, profile, out);
    *out = profile - 1; /* wraps for profile 0, and is then no index */
    return *out < traces->table.count;
}

bool cn_hpc_traces_at(const struct cn_hpc_traces *traces, uint32_t index,
                      struct cn_timeline *out, struct cn_error *err)
{
    struct cn_hpc_trace trace = trace_at(traces, index);
    uint64_t off = cn_hpc_table_off(&traces->table, index);
    struct cn_bytes samples = {0};

    /* The place of an empty trace does not matter: writers leave it behind the
     * end. */
    if (trace.begin_off != trace.end_off &&
        (trace.end_off < trace.begin_off ||
         !cn_bytes_slice(traces->sections.file.bytes, trace.begin_off,
                         trace.end_off - trace.begin_off, &samples)))
        return cn_fail(err, CN_ERR_FORMAT,
                       "trace %" PRIu32 " at 0x%" PRIx64 ": samples from 0x%" PRIx64
                       " to 0x%" PRIx64 " do not fit the file of %zu",
                       index, off, trace.begin_off, trace.end_off,
                       traces->sections.file.bytes.len + CN_HPC_FOOTER_LEN);
    if (samples.len % cn_hpc_sample_size != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "trace %" PRIu32 " at 0x%" PRIx64
                       ": %zu bytes of samples are no multiple of %u",
                       index, off, samples.len, cn_hpc_sample_size);
    *out = (struct cn_timeline){.count = samples.len / cn_hpc_sample_size,
                                .at = trace.begin_off};
    return true;
}

bool cn_hpc_traces_find(const struct cn_hpc_traces *traces, uint32_t profile,
                        struct cn_timeline *out, struct cn_error *err)
{
    uint32_t index;

    if (search_trace(traces, profile, &index))
        return cn_hpc_traces_at(traces, index, out, err);
    *out = (struct cn_timeline){0};
    return true;
}

bool cn_hpc_traces_samples(const struct cn_hpc_traces *traces,
                           const struct cn_timeline *timeline, uint64_t first,
                           size_t count, struct cn_sample *out, struct cn_error *err)
{
    struct cn_hpc_sample sample = {0};
    struct cn_bytes samples;

    if (!cn_bytes_array(traces->sections.file.bytes,
                        timeline->at + first * cn_hpc_sample_size, count,
                        cn_hpc_sample_size, &samples))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%zu samples at 0x%" PRIx64 " do not fit the file", count,
                       timeline->at + first * cn_hpc_sample_size);
    for (size_t i = 0; i < count; i++) {
        (void)cn_hpc_sample_decode(cn_bytes_element(samples, i, cn_hpc_sample_size),
                                   &sample);
        out[i] = (struct cn_sample){sample.time_ns, sample.context};
    }
    return true;
}
