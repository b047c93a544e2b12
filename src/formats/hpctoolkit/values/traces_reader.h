/* The samples of trace.db, of any generation of the format.
 *
 * An array of records says where the samples of each profile are. An encoding describes the
 * bytes; each generation opens its file as a struct cn_hpc_traces.
 *
 * Everything borrows the bytes of the file. Messages do not name the file.
 * Threads: immutable after cn_hpc_traces_sort().
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_TRACES_READER_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_TRACES_READER_H

#include "base/bytes/record.h"
#include "base/files/content.h"
#include "formats/hpctoolkit/table.h"
#include "model/contexts/database.h"

/* What a record says; nothing is checked. */
struct cn_hpc_trace_record {
    uint32_t profile;
    bool is_of_contexts; /* false: its samples are of something else, and not read */
    uint64_t begin_off, end_off;
};

struct cn_hpc_sample_encoding {
    const struct cn_record_layout *record, *sample;
    struct cn_hpc_trace_record (*decode_record)(struct cn_bytes bytes);
    void (*decode_samples)(struct cn_bytes samples, size_t count, struct cn_sample *out);
};

struct cn_hpc_trace_slot {
    uint32_t profile, index;
};

struct cn_hpc_traces {
    const struct cn_hpc_sample_encoding *encoding;
    struct cn_content file; /* without the footer */
    uint64_t file_len;      /* with it */
    struct cn_hpc_table records;
    const struct cn_hpc_trace_slot *by_profile; /* NULL: trace i is of profile i + 1 */
    uint32_t slot_count;
    uint64_t begin_ns, end_ns; /* as declared; 0 if the file does not say */
};

struct cn_hpc_trace_record cn_hpc_traces_record(const struct cn_hpc_traces *traces,
                                                uint32_t index);

/* Writers list one trace for each profile except the summary, in order, but the format
 * does not promise it: build an index if the order is another. */
void cn_hpc_traces_sort(struct cn_hpc_traces *traces, struct cn_arena *arena);

/* The samples of trace `index`, which must exist. They lie inside the file. */
CN_CHECK bool cn_hpc_traces_at(const struct cn_hpc_traces *traces, uint32_t index,
                               struct cn_timeline *out, struct cn_error *err);

/* The samples of a profile; none if no trace belongs to it. Sort first. */
CN_CHECK bool cn_hpc_traces_find(const struct cn_hpc_traces *traces, uint32_t profile,
                                 struct cn_timeline *out, struct cn_error *err);

/* Decode `count` samples from number `first` on, inside the timeline. */
CN_CHECK bool cn_hpc_traces_samples(const struct cn_hpc_traces *traces,
                                    const struct cn_timeline *timeline, uint64_t first,
                                    size_t count, struct cn_sample *out,
                                    struct cn_error *err);

#endif
