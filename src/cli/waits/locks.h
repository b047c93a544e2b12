/* Prints the locks that threads waited for: `cairn waits --locks`.
 * Threads: one thread.
 */
#ifndef CN_CLI_WAITS_LOCKS_H
#define CN_CLI_WAITS_LOCKS_H

#include <stddef.h>

#include "base/error.h"

struct cn_args;
struct cn_lock_rows;
struct cn_recording;

/* Those of a recording, with a sentence before them. */
CN_CHECK bool cn_locks_print_recorded(const struct cn_args *args, const char *path,
                                      const struct cn_recording *rec, size_t most,
                                      struct cn_error *err);

/* At most `most` rows for people; all of them as JSON and CSV. */
void cn_locks_print(const struct cn_args *args, const struct cn_lock_rows *rows,
                    size_t most);

#endif
