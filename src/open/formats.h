/* The list of all formats.
 *
 * A new format is a folder with a `const struct cn_format`, and a line in formats.c.
 * Threads: immutable.
 */
#ifndef CN_OPEN_FORMATS_H
#define CN_OPEN_FORMATS_H

#include "model/format.h"

/* All formats, terminated by NULL. */
extern const struct cn_format *const cn_formats[];

/* The format of this name, or NULL. */
const struct cn_format *cn_format_find(const char *name);

/* The format of a path. Fails with CN_ERR_NOT_FOUND if the path does not exist, with
 * CN_ERR_FORMAT if no format recognises it. */
CN_CHECK bool cn_format_probe(const char *path, const struct cn_format **out,
                              struct cn_error *err);

/* Open a database of any format. The caller owns it. */
CN_CHECK bool cn_format_open_database(const char *path, struct cn_database **out,
                                      struct cn_error *err);

/* Open a recording, or traces as a recording, of any format. `options` may be NULL. The
 * caller owns it. */
CN_CHECK bool cn_format_open_recording(const char *path,
                                       const struct cn_recording_options *options,
                                       struct cn_recording **out, struct cn_error *err);

/* True if the format can be written. */
bool cn_format_is_writable(const struct cn_format *format);

/* Write the calls that a query selects, a database, or the traces of `source`, which is in format
 * `from`. On failure the target is as it was before, except that damaged tasks are written up to the
 * damage; damage of traces goes to options->damage. */
CN_CHECK bool cn_format_write_calls(const struct cn_format *format,
                                    const struct cn_call_query *query, const char *path,
                                    const struct cn_write_options *options,
                                    struct cn_error *err);
CN_CHECK bool cn_format_write_database(const struct cn_format *format,
                                       struct cn_database *db, const char *path,
                                       const struct cn_write_options *options,
                                       struct cn_error *err);
CN_CHECK bool cn_format_write_traces(const struct cn_format *format,
                                     const struct cn_format *from, const char *source,
                                     const char *path,
                                     const struct cn_write_options *options,
                                     struct cn_error *err);

#endif
