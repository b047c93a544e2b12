/* The list of all formats, and what can be written in them.
 *
 * A new format is a folder with a `const struct cn_format`, and a line in table.c; the engine of
 * pages has a table of its own, src/wasm/formats.c.
 * Threads: immutable.
 */
#ifndef CN_OPEN_FORMATS_H
#define CN_OPEN_FORMATS_H

#include "model/format.h"

/* All formats, terminated by NULL. */
extern const struct cn_format *const cn_formats[];

/* The format of this name, or NULL. */
const struct cn_format *cn_format_find(const char *name);

/* What data contains, what is wanted of it, and what a format can write; bits. */
enum {
    CN_CALLS = 1,    /* single calls: a recording, or request traces as calls */
    CN_CONTEXTS = 2, /* costs of calling contexts: a database */
    CN_TRACES = 4,   /* request traces; those of a store can be searched */
};

/* 0: the format is only read. */
unsigned cn_format_writes(const struct cn_format *format);

/* Write a database, or all calls of a recording; `is_raw`: times that the format adds up are recorded
 * ones, not corrected. On failure the target is as it was before, except that damaged tasks are
 * written up to the damage. */
CN_CHECK bool cn_format_write_database(const struct cn_format *format,
                                       struct cn_database *db, const char *path,
                                       const struct cn_write_options *options,
                                       struct cn_error *err);
CN_CHECK bool cn_format_write_recording(const struct cn_format *format,
                                        const struct cn_recording *rec, bool is_raw,
                                        const char *path,
                                        const struct cn_write_options *options,
                                        struct cn_error *err);

#endif
