/* The kernel's tracing file system: where it is, its events, and what it can trace.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_EVENTS_TRACEFS_H
#define CN_LAUNCHER_EVENTS_TRACEFS_H

#include "base/error.h"
#include "base/text.h"

/* Find it: `root` if that is not NULL, else where it is mounted. The path is to be released
 * with free(). The message says what is missing and which command helps. */
CN_CHECK bool cn_tracefs_find(const char *root, char **out, struct cn_error *err);

/* Read a file of it, such as "available_events". */
CN_CHECK bool cn_tracefs_read(const char *tracefs, const char *name, struct cn_text *out,
                              struct cn_error *err);

/* Write text to a file of it. */
CN_CHECK bool cn_tracefs_write(const char *tracefs, const char *name, const char *text,
                               struct cn_error *err);

#endif
