/* Reads the records of GPU work (format.h), of a file or of perf.data, into a builder of model/gpu.
 *
 *     r = cn_gpu_records_new(&to);
 *     cn_gpu_records_take(r, by, records, err)      or cn_gpu_records_take_file()
 *     b = cn_gpu_records_builder(r);                      give its streams their threads
 *     work = cn_gpu_records_finish(r);
 *     cn_gpu_records_free(r);
 *
 * In the work, the place of an operation is the number of its kernel's name, and its path a number
 * for cn_gpu_records_path(); both CN_NONE if unknown. Times are those of CLOCK_MONOTONIC.
 * Strings are copied, and live as long as the reader. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_GPU_RECORDS_H
#define CN_FORMATS_GPU_RECORDS_H

#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_gpu_builder;
struct cn_gpu_ranges;
struct cn_gpu_records;
struct cn_gpu_work;

struct cn_gpu_records_to {
    /* The number of a thread of the program, for the builder; CN_NONE: it is unknown. NULL: stacks alone
     * are read. */
    bool (*thread)(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                   struct cn_error *err);
    /* A number for a stack: its addresses, of 8 bytes each, the innermost first; NULL: not
     * wanted. */
    uint32_t (*stack)(void *arg, uint32_t pid, struct cn_bytes addresses);
    void *arg;
};

struct cn_gpu_records *cn_gpu_records_new(const struct cn_gpu_records_to *to);
void cn_gpu_records_free(struct cn_gpu_records *r); /* NULL is fine */

/* Whose records they are: a thread, and which of the programs that its process ran. */
struct cn_gpu_writer_id {
    uint32_t pid, tid, image;
};

/* Records of one thread, one after another. False: damaged; those before were taken. */
CN_CHECK bool cn_gpu_records_take(struct cn_gpu_records *r, struct cn_gpu_writer_id by,
                                  struct cn_bytes records, struct cn_error *err);

/* A whole file. Damage of a block does not hide the others: false after all were read. */
CN_CHECK bool cn_gpu_records_take_file(struct cn_gpu_records *r, struct cn_bytes file,
                                       struct cn_error *err);

struct cn_gpu_builder *cn_gpu_records_builder(struct cn_gpu_records *r);

/* The work, which the caller frees; NULL: there is none. Called once. */
struct cn_gpu_work *cn_gpu_records_finish(struct cn_gpu_records *r);

/* The name of a kernel, "" if its record is missing. */
const char *cn_gpu_records_name(const struct cn_gpu_records *r, uint32_t number);
uint32_t cn_gpu_records_name_count(const struct cn_gpu_records *r);

/* Where operations were launched. */
struct cn_gpu_path {
    uint32_t stack; /* as to->stack() numbered it; CN_NONE: it was not taken */
    const char
        *call; /* the function that was called there; "" if the stack contains it */
    uint32_t
        thread; /* of a capture without a stack: the calls that were open at a time; else CN_NONE */
    uint64_t time_ns;
};
struct cn_gpu_path cn_gpu_records_path(const struct cn_gpu_records *r, uint32_t number);

/* Ranges that the program named; the place of one is the number of its name. NULL: there are none. Those
 * that were not ended end with the last event. The caller frees them. */
struct cn_gpu_ranges *cn_gpu_records_ranges(struct cn_gpu_records *r);

/* Whether call paths begin with the ranges that are open. */
bool cn_gpu_records_ranges_are_contexts(const struct cn_gpu_records *r);

/* What is missing: visit lines, and how many operations each is about (0: unknown). */
void cn_gpu_records_notes(const struct cn_gpu_records *r,
                          void (*visit)(void *arg, const char *text, uint64_t count),
                          void *arg);
/* The clocks of the GPU and the host were read this far apart at most, in nanoseconds. */
uint64_t cn_gpu_records_clock_error(const struct cn_gpu_records *r);
uint64_t cn_gpu_records_lost(const struct cn_gpu_records *r);

/* True if a program used a GPU, and not only ranges. */
bool cn_gpu_records_has_work(const struct cn_gpu_records *r);

/* Ranges that began, and marks. */
uint64_t cn_gpu_records_range_count(const struct cn_gpu_records *r);

#endif
