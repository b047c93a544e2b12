/* System calls about files and sockets, for --io: the events, and what their descriptors are.
 *
 *     cn_sample_io_add_events(&io, &events, err)     raw_syscalls, of the calls of model/io
 *     cn_sample_io_open(&io, &refusal)               the program that reads paths
 *     cn_sample_io_begin(&io, writer, pid, err)      what a process has open
 *     cn_sample_io_take(&io, writer, which, pid, fields, err)   follow each sample of these events
 *
 * A descriptor is looked up in /proc after its first use, when it may be another one already: the record
 * says from when to when it was what was found, and the reader compares that with the calls.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_IO_H
#define CN_SAMPLER_IO_H

#include <sys/types.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/perf/writer.h"
#include "model/io/system_calls.h"
#include "sampler/descriptor_name.h"
#include "sampler/rings.h"

struct cn_kernel;
struct cn_kernel_paths;

struct cn_sample_io {
    struct cn_system_numbers numbers;
    uint32_t event;       /* of the beginnings of calls, in the list of events */
    uint32_t fault_event; /* of minor page faults */
    bool has_faults;
    uint8_t fields[72];
    char *filters[CN_SAMPLE_CALL_ENDS + 1]; /* of the events */
    struct cn_kernel_paths *paths;          /* NULL: paths are not read in the kernel */
    int *fds;                               /* of tracepoints at which programs run */
    size_t fd_count, fd_capacity;
    struct cn_map known;    /* by image and descriptor: 1 if it was looked up */
    struct cn_map image_of; /* by pid: the number of what it runs, from 1 */
    uint32_t image_count;
    struct cn_map requested; /* by disk and sector: 1 if a request is not complete */
    struct cn_text record, text;
    bool is_unwound;     /* stacks are unwound in the kernel */
    uint64_t call_count; /* that are shown */
};

/* Add the events. Fails where they are not allowed. */
CN_CHECK bool cn_sample_io_add_events(struct cn_sample_io *io,
                                      struct cn_sample_events *events,
                                      struct cn_error *err);

/* Add those of requests of disks. False, and none is added, where the kernel has none. */
bool cn_sample_io_add_disks(struct cn_sample_events *events);

/* Add those of page faults. */
CN_CHECK bool cn_sample_io_add_faults(struct cn_sample_io *io,
                                      struct cn_sample_events *events,
                                      struct cn_error *err);

/* True if a sample of these is wanted: the end of a request of another program is not. `raw` has the fields with their length. */
bool cn_sample_io_wants_disk(struct cn_sample_io *io, enum cn_sample_call which,
                             struct cn_bytes raw);

/* Read paths in the kernel, where that is allowed; else `refusal` says why not. Before the events are
 * opened: a path comes before the sample of the end of its call. */
void cn_sample_io_open(struct cn_sample_io *io, struct cn_error *refusal);

/* Unwind the stacks of calls in the kernel, where that is allowed; elsewhere they are copied. */
void cn_sample_io_unwind(struct cn_sample_io *io, struct cn_kernel *kernel);
void cn_sample_io_close(struct cn_sample_io *io);

CN_CHECK bool cn_sample_io_begin(struct cn_sample_io *io, struct cn_perf_writer *writer,
                                 pid_t pid, struct cn_error *err);

/* Follow the fields of a tracepoint, after their length. */
CN_CHECK bool cn_sample_io_take(struct cn_sample_io *io, struct cn_perf_writer *writer,
                                enum cn_sample_call which, uint32_t pid,
                                struct cn_bytes raw, struct cn_error *err);

/* The fields, with their length, of a call whose stack was unwound in the kernel: number and arguments.
 * Valid until the next call. */
CN_CHECK bool cn_sample_io_restore(struct cn_sample_io *io, struct cn_bytes words,
                                   struct cn_bytes *raw);

/* A record of sampler/kernel/paths_shared.h. */
CN_CHECK bool cn_sample_io_take_path(struct cn_sample_io *io,
                                     struct cn_perf_writer *writer,
                                     struct cn_bytes record, struct cn_error *err);

/* A process runs another program; records were lost. */
void cn_sample_io_exec(struct cn_sample_io *io, uint32_t pid);
void cn_sample_io_forget(struct cn_sample_io *io);

#endif
