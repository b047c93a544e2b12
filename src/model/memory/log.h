/* What a task of a recording allocated and freed, one event after another.
 *
 * `log` is a position in the records of the task, which are borrowed.
 * Threads: one thread at a time for each log.
 */
#ifndef CN_MODEL_MEMORY_LOG_H
#define CN_MODEL_MEMORY_LOG_H

#include "base/bytes/bytes.h"
#include "base/error.h"

enum cn_heap_event_kind {
    CN_HEAP_EVENT_ALLOC,
    CN_HEAP_EVENT_RELEASE,
    CN_HEAP_EVENT_UNMAP,   /* munmap() of `size` bytes, of any kind of memory */
    CN_HEAP_EVENT_LOST,    /* `size` events were lost */
    CN_HEAP_EVENT_CHECKED, /* leaks of the process were looked for: those that follow */
    CN_HEAP_EVENT_LEAKED,  /* no pointer led to the block at `address` */
};

struct cn_heap_event {
    enum cn_heap_event_kind kind;
    uint64_t time_ns; /* not less than before */
    uint64_t process; /* a number of one run of a program in a process */
    uint64_t address, size, usable_size;
    uint64_t old_size; /* of the block that realloc() replaced; 0: none */
    bool is_mapping;   /* allocated by mmap() */
};

struct cn_heap_log {
    const char *name; /* of the file */
    struct cn_bytes file;
    uint64_t off; /* of the next record */
    uint64_t time_ns, process, old_size;
};

#endif
