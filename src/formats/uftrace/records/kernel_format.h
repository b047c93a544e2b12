/* kernel_header: the layout of the pages and events in kernel-cpuN.dat.
 *
 * The file has a few lines "KEY: value", then files of the kernel's tracing folder,
 * each after a line "TRACEFS: path: length". The formats of events are read: the
 * offsets and sizes of their fields.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_RECORDS_KERNEL_FORMAT_H
#define CN_FORMATS_UFTRACE_RECORDS_KERNEL_FORMAT_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"

/* A field of an event, in bytes from the start of the event. */
struct cn_uft_kernel_field {
    const char *name;
    uint32_t offset, size;
    bool is_signed, is_array, is_text;
};

struct cn_uft_kernel_event {
    uint32_t id;
    const char *name; /* "sched:sched_switch" */
    struct cn_uft_kernel_field *fields;
    size_t field_count, common_count; /* common fields come first */
};

struct cn_uft_kernel_format {
    uint64_t page_len;
    unsigned long_len; /* 4 or 8 */
    bool is_big_endian;
    struct cn_uft_kernel_event
        *events; /* released with free(); names and fields are in the arena */
    size_t count, capacity;
};

CN_CHECK bool cn_uft_kernel_format_read(struct cn_bytes file, struct cn_arena *arena,
                                        struct cn_uft_kernel_format *out,
                                        struct cn_error *err);
void cn_uft_kernel_format_done(struct cn_uft_kernel_format *format);

/* NULL when there is none. */
const struct cn_uft_kernel_event *
cn_uft_kernel_event_find(const struct cn_uft_kernel_format *format, uint64_t id);
const struct cn_uft_kernel_field *
cn_uft_kernel_field_find(const struct cn_uft_kernel_event *event, const char *name);

/* The number in a field of an event; 0 when the field does not fit the event. */
uint64_t cn_uft_kernel_number(const struct cn_uft_kernel_format *format,
                              const struct cn_uft_kernel_field *field,
                              struct cn_bytes event);

#endif
