/* The formats cairn knows.
 *
 * Adding a format is a folder with a `const struct cn_format` and a line in the list.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_FORMATS_H
#define CN_FORMATS_FORMATS_H

#include "model/format.h"

/* All formats, ended by NULL. */
extern const struct cn_format *const cn_formats[];

/* By name; NULL when there is none. */
const struct cn_format *cn_format_find(const char *name);

/* What a path is. Fails with CN_ERR_NOT_FOUND when it does not exist, CN_ERR_FORMAT when no
 * format recognises it, and then lists what was looked for. */
CN_CHECK bool cn_format_probe(const char *path, const struct cn_format **out,
                              struct cn_error *err);

/* Open whatever database is there. The caller owns it. */
CN_CHECK bool cn_format_open_database(const char *path, struct cn_database **out,
                                      struct cn_error *err);

/* Open whatever recording is there; traces become one. `options` may be NULL. The caller
 * owns it. */
CN_CHECK bool cn_format_open_recording(const char *path,
                                       const struct cn_recording_options *options,
                                       struct cn_recording **out, struct cn_error *err);

#endif
