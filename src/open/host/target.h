/* Checks on a path before it is written.
 * Threads: one thread at a time.
 */
#ifndef CN_OPEN_HOST_TARGET_H
#define CN_OPEN_HOST_TARGET_H

#include "base/error.h"

struct cn_format;

/* Fails if `path` exists, unless `is_forced`. Even then, a folder is only replaced if it is
 * empty or contains data of the same kind as `format`. */
CN_CHECK bool cn_target_check(const char *path, const struct cn_format *format,
                              bool is_forced, struct cn_error *err);

/* Fails if writing `target` would overwrite `source`: it is the source, or contains it.
 * Also if it is inside the source, unless that is allowed. */
CN_CHECK bool cn_target_check_source(const char *target, const char *source,
                                     bool may_be_inside, struct cn_error *err);

#endif
