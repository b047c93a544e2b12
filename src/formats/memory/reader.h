/* Reads what a task allocated and freed (format.h).
 *
 *     struct cn_heap_log log = {.name = name, .file = bytes};
 *     while (cn_memory_log_next(&log, &event, err) == CN_ITEM)
 *         ...
 *
 * Threads: one thread at a time for each log.
 */
#ifndef CN_FORMATS_MEMORY_READER_H
#define CN_FORMATS_MEMORY_READER_H

#include "model/memory/log.h"
#include "model/step.h"

/* The next event. CN_FAIL at damage: there is nothing after it. */
CN_CHECK enum cn_step cn_memory_log_next(struct cn_heap_log *log,
                                         struct cn_heap_event *out, struct cn_error *err);

#endif
