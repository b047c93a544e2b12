/* A perf.data file: its events, build-ids, and its records in the order of time.
 *
 *     cn_perf_file_open(&file, bytes, NULL, 0, err)
 *     while ((step = cn_perf_next(&file, &record, err)) == CN_ITEM) ...
 *     cn_perf_file_close(&file);
 *
 * `perf record --threads` makes a folder: the file `data`, and files data.0, data.1 and so on with
 * records alone.
 *
 * Borrows the bytes. Memory: 24 bytes per record, and the compressed records.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_FILE_H
#define CN_FORMATS_EXCHANGE_PERF_FILE_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/unpack.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "formats/exchange/perf/stored_names.h"
#include "formats/exchange/perf/stored_symbols.h"
#include "model/origin.h"
#include "model/step.h"

struct cn_perf_event {
    struct cn_perf_attr attr;
    const char *name;
};

struct cn_perf_sample {
    uint64_t ip, time_ns, period;
    uint64_t address; /* of data; 0: unknown */
    uint32_t pid, tid;
    uint32_t event;        /* in the file's events */
    uint32_t cpu;          /* UINT32_MAX if unknown */
    struct cn_bytes reads; /* counters of its group; see read.h */
    struct cn_bytes chain; /* addresses, the innermost first */
    struct cn_bytes raw;   /* fields of a tracepoint */
    struct cn_bytes branches;
    struct cn_bytes user_registers; /* none, or one for each bit of sample_regs_user */
    struct cn_bytes user_stack;     /* what was copied, from the stack pointer on */
};

struct cn_perf_record {
    struct cn_perf_head head;
    struct cn_bytes body; /* without the head */
    uint64_t off, time_ns;
};

/* Records one after another. Their offsets continue those of the block before. */
struct cn_perf_block {
    struct cn_bytes bytes;
    uint64_t first_off;
    const char *name;            /* of its file in the folder; NULL: the file itself */
    struct cn_unpacked unpacked; /* of compressed records; else it is not open */
    bool is_unpacked;
};

struct cn_perf_file {
    struct cn_bytes bytes, data;
    uint64_t data_off;
    bool is_unfinished;          /* a pipe, its writer was killed, or it is cut off */
    uint64_t cut_len;            /* bytes at its end that are missing, or not a record */
    struct cn_error damage;      /* of the first record that cannot be read */
    struct cn_error bad_feature; /* of the first, in the file, that cannot be read */
    uint64_t bad_feature_off;
    struct cn_text packed; /* the zstd stream of compressed records */
    struct cn_perf_block *blocks;
    size_t block_count, block_capacity;
    struct cn_perf_event events[CN_PERF_EVENT_MAX];
    uint32_t event_count;
    struct cn_map event_of;           /* by id of a sample */
    struct cn_names build_id_keys;    /* "PATH\nHEX" */
    uint64_t epoch_ns;                /* of the clock of records; 0 if unknown */
    struct cn_origin origin;          /* texts are in the arena */
    struct cn_stored_names stored;    /* frames of interpreters */
    struct cn_stored_symbols symbols; /* names of addresses */
    struct cn_perf_at *order;
    size_t order_count, order_capacity, next;
    struct cn_arena arena;
};

/* A file of records alone, in a folder. */
struct cn_perf_part {
    struct cn_bytes bytes;
    const char *name;
};

CN_CHECK bool cn_perf_file_open(struct cn_perf_file *file, struct cn_bytes bytes,
                                const struct cn_perf_part *parts, size_t part_count,
                                struct cn_error *err);
void cn_perf_file_close(struct cn_perf_file *file);

/* The next record of a sample, task or mapping. */
CN_CHECK enum cn_step cn_perf_next(struct cn_perf_file *file, struct cn_perf_record *out,
                                   struct cn_error *err);

/* Add the record at `off` to the message. Returns false. */
bool cn_perf_fail_at(const struct cn_perf_file *file, uint64_t off, struct cn_error *err);

/* The event of a sample, or of another record with an identifier, by its id. */
uint32_t cn_perf_event_of(const struct cn_perf_file *file, uint32_t type,
                          struct cn_bytes body);

/* The processor on which a record other than a sample was written; UINT32_MAX if unknown. */
uint32_t cn_perf_cpu_of(const struct cn_perf_file *file,
                        const struct cn_perf_record *record);

CN_CHECK bool cn_perf_sample_decode(const struct cn_perf_file *file,
                                    const struct cn_perf_record *record,
                                    struct cn_perf_sample *out, struct cn_error *err);

/* The build-id of a module in the file's list, in hexadecimal; "" if it has none. */
const char *cn_perf_build_id(const struct cn_perf_file *file, const char *path);

#endif
