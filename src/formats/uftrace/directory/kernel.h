/* The kernel's part of a recording: functions and tracepoints of kernel-cpuN.dat,
 * described by kernel_header and named by kallsyms.
 *
 * The records of each task are found once, when the directory is opened.
 * Threads: one thread builds it; immutable afterwards.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_KERNEL_H
#define CN_FORMATS_UFTRACE_DIRECTORY_KERNEL_H

#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/records/kernel_page.h"

/* Where one record is. */
struct cn_uft_kernel_record {
    uint64_t time_ns;
    uint64_t off; /* of the event's bytes */
    uint32_t len;
    uint16_t file;
};

struct cn_uft_kernel {
    struct cn_uft_kernel_format format;
    const struct cn_uft_kernel_event *enter,
        *leave;                                   /* of the function graph; may be NULL */
    const struct cn_uft_kernel_field *type, *pid; /* common to all events */
    struct cn_uft_cpu_file *files;
    size_t file_count;
    struct cn_uft_kernel_record *records; /* by task, then by time */
    uint32_t *owners;                     /* of each, while they are sorted */
    size_t record_count, record_capacity, owner_capacity;
    size_t *begins;  /* of each task, and one more for the end */
    uint32_t module; /* of kallsyms */
};

/* Read what there is; what cannot be used becomes a warning. */
void cn_uft_kernel_build(struct cn_uft_directory *dir);
void cn_uft_kernel_free(struct cn_uft_kernel *kernel); /* NULL is fine */

/* The records of a task in the order of time, as a range; empty when there are none. */
void cn_uft_kernel_task(const struct cn_uft_directory *dir, uint32_t task,
                        const struct cn_uft_kernel_record **begin,
                        const struct cn_uft_kernel_record **end);

/* The bytes of an event, or a record, as a call: the entry or exit of a function, or an
 * event with everything as its data, which is borrowed. */
void cn_uft_kernel_decode(const struct cn_uft_directory *dir, struct cn_bytes event,
                          uint64_t time_ns, struct cn_call *call, struct cn_bytes *data);
void cn_uft_kernel_decode_record(const struct cn_uft_directory *dir,
                                 const struct cn_uft_kernel_record *record,
                                 struct cn_call *call, struct cn_bytes *data);

/* The text of a tracepoint's data, as the recording's print_tracepoint. */
bool cn_uft_kernel_print(const struct cn_recording *rec, const struct cn_call *call,
                         struct cn_bytes data, struct cn_text *text);

#endif
