#include "formats/hpctoolkit/values/traces_reader.h"

#include <inttypes.h>

#include "base/search.h"
#include "base/sort.h"

struct cn_hpc_trace_record cn_hpc_traces_record(const struct cn_hpc_traces *traces,
                                                uint32_t index)
{
    return traces->encoding->decode_record(cn_hpc_table_at(&traces->records, index));
}

void cn_hpc_traces_sort(struct cn_hpc_traces *traces, struct cn_arena *arena)
{
    uint32_t count = traces->records.count, in_order = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct cn_hpc_trace_record record = cn_hpc_traces_record(traces, i);

        in_order += record.is_of_contexts && record.profile == i + 1;
    }
    if (in_order == count)
        return;
    struct cn_hpc_trace_slot *slots = cn_arena_alloc(arena, count, sizeof(*slots));
    for (uint32_t i = 0; i < count; i++) {
        struct cn_hpc_trace_record record = cn_hpc_traces_record(traces, i);

        if (record.is_of_contexts)
            slots[traces->slot_count++] = (struct cn_hpc_trace_slot){record.profile, i};
    }
    CN_SORT(slots, traces->slot_count, CN_UP(struct cn_hpc_trace_slot, profile),
            CN_UP(struct cn_hpc_trace_slot, index));
    traces->by_profile = slots;
}

bool cn_hpc_traces_at(const struct cn_hpc_traces *traces, uint32_t index,
                      struct cn_timeline *out, struct cn_error *err)
{
    struct cn_hpc_trace_record record = cn_hpc_traces_record(traces, index);
    uint64_t off = cn_hpc_table_off(&traces->records, index);
    size_t sample_len = traces->encoding->sample->size;
    uint64_t len = record.end_off - record.begin_off;

    /* The offset of an empty trace does not matter: writers leave it after the end. */
    if (record.begin_off != record.end_off &&
        (record.end_off < record.begin_off ||
         !cn_content_has(traces->file, record.begin_off, len)))
        return cn_fail(err, CN_ERR_FORMAT,
                       "trace %" PRIu32 " at 0x%" PRIx64 ": samples from 0x%" PRIx64
                       " to 0x%" PRIx64 " do not fit the file of %" PRIu64,
                       index, off, record.begin_off, record.end_off, traces->file_len);
    if (len % sample_len != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "trace %" PRIu32 " at 0x%" PRIx64 ": %" PRIu64
                       " bytes of samples are no multiple of %zu",
                       index, off, len, sample_len);
    *out = (struct cn_timeline){.count = len / sample_len, .at = record.begin_off};
    return true;
}

static bool is_below(const void *slots, uint64_t i, uint64_t profile)
{
    return ((const struct cn_hpc_trace_slot *)slots)[i].profile < profile;
}

bool cn_hpc_traces_find(const struct cn_hpc_traces *traces, uint32_t profile,
                        struct cn_timeline *out, struct cn_error *err)
{
    const struct cn_hpc_trace_slot *slots = traces->by_profile;
    uint32_t index = profile - 1; /* wraps for profile 0, and is then no index */

    if (slots) {
        uint64_t at = cn_search(0, traces->slot_count, is_below, slots, profile);
        bool is_there = at < traces->slot_count && slots[at].profile == profile;

        index = is_there ? slots[at].index : traces->records.count;
    }
    if (index < traces->records.count)
        return cn_hpc_traces_at(traces, index, out, err);
    *out = (struct cn_timeline){0};
    return true;
}

bool cn_hpc_traces_samples(const struct cn_hpc_traces *traces,
                           const struct cn_timeline *timeline, uint64_t first,
                           size_t count, struct cn_sample *out, struct cn_error *err)
{
    size_t sample_len = traces->encoding->sample->size;
    uint64_t off = timeline->at + first * sample_len;
    struct cn_bytes samples;

    if (!cn_content_array(traces->file, off, count, sample_len, &samples))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%zu samples at 0x%" PRIx64 " do not fit the file", count, off);
    traces->encoding->decode_samples(samples, count, out);
    return true;
}
