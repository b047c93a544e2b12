/* perf.data taken apart: events, build-ids, and the records in the order of time.
 *
 *     cn_perf_file_open(&file, bytes, err)
 *     while ((step = cn_perf_next(&file, &record, err)) == CN_ITEM) ...
 *     cn_perf_file_close(&file);
 *
 * Borrows the bytes. Memory: 24 bytes a record, and what compressed records are stored as.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_PERF_FILE_H
#define CN_FORMATS_EXCHANGE_PERF_PERF_FILE_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/unpack.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "model/step.h"

struct cn_perf_event {
    struct cn_perf_attr attr;
    const char *name;
};

struct cn_perf_sample {
    uint64_t ip, time_ns, period;
    uint32_t pid, tid;
    uint32_t event;        /* in the file's events */
    struct cn_bytes chain; /* addresses, the innermost first */
};

struct cn_perf_record {
    struct cn_perf_head head;
    struct cn_bytes body; /* without the head */
    uint64_t off, time_ns;
};

struct cn_perf_file {
    struct cn_bytes bytes, data;
    uint64_t data_off;
    struct cn_text packed; /* pieces of compressed records, put together */
    struct cn_unpacked
        unpacked; /* the records in them; their offsets follow the data's */
    bool is_pipe;
    struct cn_perf_event events[CN_PERF_EVENT_MAX];
    uint32_t event_count;
    struct cn_map event_of;        /* by id of a sample */
    struct cn_names build_id_keys; /* "PATH\nHEX" */
    struct cn_perf_at *order;
    size_t order_count, order_capacity, next;
    struct cn_arena arena;
};

CN_CHECK bool cn_perf_file_open(struct cn_perf_file *file, struct cn_bytes bytes,
                                struct cn_error *err);
void cn_perf_file_close(struct cn_perf_file *file);

/* Records of samples, tasks and mappings. */
CN_CHECK enum cn_step cn_perf_next(struct cn_perf_file *file, struct cn_perf_record *out,
                                   struct cn_error *err);

/* Says which record it was that failed: returns false. */
bool cn_perf_fail_at(const struct cn_perf_file *file, uint64_t off, struct cn_error *err);

CN_CHECK bool cn_perf_sample_decode(const struct cn_perf_file *file,
                                    const struct cn_perf_record *record,
                                    struct cn_perf_sample *out, struct cn_error *err);

/* The build-id that the file gives for a module, in hexadecimal; "" when it has none. */
const char *cn_perf_build_id(const struct cn_perf_file *file, const char *path);

#endif
