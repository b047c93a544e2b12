/* System calls about files and sockets in a perf.data file: samples of raw_syscalls:sys_enter with the
 * call path, and of sys_exit, become calls of model/io.
 *
 *     cn_perf_io_init(&io, import, &file, &spaces);
 *     cn_perf_io_take(&io, kind, &sample, thread, context)     in the order of time
 *     cn_perf_io_take_record(&io, &file, &record)              of all other records
 *     cn_perf_io_finish(&io, err)                              adds all to the import
 *     cn_perf_io_done(&io);
 *
 * A call whose beginning or end is missing is never joined with another one: its end is unknown. Samples of page
 * faults are those of a file with system calls whose events have the address.
 * Borrows the import and the spaces. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_IO_H
#define CN_FORMATS_EXCHANGE_PERF_IO_H

#include "base/error.h"
#include "base/map.h"
#include "formats/exchange/perf/descriptors.h"
#include "formats/exchange/perf/file.h"
#include "formats/exchange/perf/gaps.h"
#include "model/io/system_calls.h"

struct cn_import;
struct cn_perf_spaces;

enum cn_perf_io_kind {
    CN_PERF_NOT_IO,
    CN_PERF_IO_ENTER,
    CN_PERF_IO_EXIT,
    CN_PERF_IO_REQUEST, /* of a disk */
    CN_PERF_IO_COMPLETE,
    CN_PERF_IO_MINOR, /* page faults */
    CN_PERF_IO_MAJOR,
};

struct cn_perf_io {
    struct cn_import *import;
    struct cn_perf_spaces *spaces;
    struct cn_system_numbers numbers;
    uint64_t epoch_ns;
    struct cn_perf_descriptors descriptors;
    struct cn_map thread_of; /* by tid: in `threads` */
    struct cn_perf_io_thread *threads;
    struct cn_perf_io_call *calls;
    struct cn_map request_of; /* by disk and sector: 1 + its call */
    struct cn_perf_gaps gaps;
    size_t thread_count, thread_capacity, call_count, call_capacity;
    uint16_t minor, major; /* calls: page faults */
    uint64_t bad_count;    /* records that cannot be read */
    bool is_used;          /* the file has such samples */
    bool has_disk;         /* and requests of disks */
    bool has_faults;       /* and page faults */
};

/* What the samples of an event are. */
enum cn_perf_io_kind cn_perf_io_of(const struct cn_perf_file *file, uint32_t event);

/* Spaces have to have the memory of processes. */
void cn_perf_io_init(struct cn_perf_io *io, struct cn_import *import,
                     const struct cn_perf_file *file, struct cn_perf_spaces *spaces);

/* True if a sample is of a call that is shown: then its context is wanted. */
bool cn_perf_io_is_shown(const struct cn_perf_io *io, enum cn_perf_io_kind kind,
                         const struct cn_perf_sample *sample);

/* `thread` is a number of the import; of the completion of a request it does not matter. */
void cn_perf_io_take(struct cn_perf_io *io, enum cn_perf_io_kind kind,
                     const struct cn_perf_sample *sample, uint32_t thread,
                     uint32_t context);

/* True if a record of CN_PERF_HEADER_EVENT_TYPE is of names of files. */
bool cn_perf_io_is(const struct cn_perf_record *record);

void cn_perf_io_take_record(struct cn_perf_io *io, const struct cn_perf_file *file,
                            const struct cn_perf_record *record);

CN_CHECK bool cn_perf_io_finish(struct cn_perf_io *io, struct cn_error *err);
void cn_perf_io_done(struct cn_perf_io *io);

#endif
