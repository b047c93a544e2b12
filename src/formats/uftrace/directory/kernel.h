/* Functions and tracepoints of the kernel, from kernel-cpuN.dat, kernel_header and
 * kallsyms. Records are sorted by task when the directory is opened.
 * Threads: one thread builds it; immutable afterwards.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_KERNEL_H
#define CN_FORMATS_UFTRACE_DIRECTORY_KERNEL_H

#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/records/kernel_page.h"

/* The position of a record. */
struct cn_uft_kernel_record {
    uint64_t time_ns;
    uint64_t off; /* of the event */
    uint32_t len;
    uint16_t file;
};

struct cn_uft_kernel {
    struct cn_uft_kernel_format format;
    const struct cn_uft_kernel_event *enter,
        *leave; /* formats of the function graph; may be NULL */
    const struct cn_uft_kernel_field *type, *pid; /* common to all events */
    struct cn_uft_cpu_file *files;
    size_t file_count;
    struct cn_uft_kernel_record *records; /* by task, then by time */
    uint32_t *owners;                     /* tasks of the records; NULL once sorted */
    size_t record_count, record_capacity, owner_capacity;
    size_t *begins;  /* of each task, and the end */
    uint32_t module; /* whose functions kallsyms lists */
};

/* Read the files; what cannot be read becomes a warning. */
void cn_uft_kernel_build(struct cn_uft_directory *dir);
void cn_uft_kernel_free(struct cn_uft_kernel *kernel); /* NULL is fine */

/* The records of a task in the order of time; an empty range when there are none. */
void cn_uft_kernel_task(const struct cn_uft_directory *dir, uint32_t task,
                        const struct cn_uft_kernel_record **begin,
                        const struct cn_uft_kernel_record **end);

/* Decode an event, or a record, as a call: an entry or exit of a function, or an event
 * whose data is all its bytes, borrowed. */
void cn_uft_kernel_decode(const struct cn_uft_directory *dir, struct cn_bytes event,
                          uint64_t time_ns, struct cn_call *call, struct cn_bytes *data);
void cn_uft_kernel_decode_record(const struct cn_uft_directory *dir,
                                 const struct cn_uft_kernel_record *record,
                                 struct cn_call *call, struct cn_bytes *data);

/* Implements `print_tracepoint` of struct cn_recording_ops. */
bool cn_uft_kernel_print(const struct cn_recording *rec, const struct cn_call *call,
                         struct cn_bytes data, struct cn_text *text);

#endif
