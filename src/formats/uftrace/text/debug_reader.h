/* NAME.dbg: the locations and arguments of functions, and enums.
 * Text is borrowed from the file.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_DEBUG_READER_H
#define CN_FORMATS_UFTRACE_TEXT_DEBUG_READER_H

#include "formats/uftrace/text/symbol_reader.h"

struct cn_uft_debug_function {
    uint64_t offset; /* in the module */
    struct cn_bytes name, file;
    uint32_t line;
    struct cn_bytes arguments, result; /* "@arg1,arg2/s"; empty when missing */
};

struct cn_uft_debug {
    struct cn_uft_debug_function *list; /* sorted by offset */
    size_t count, capacity;
    struct cn_bytes *enums; /* "enum color {RED,GREEN=5}" */
    size_t enum_count, enum_capacity;
    struct cn_uft_module_head head;
};

/* Read the whole file. Lines that cannot be parsed are reported and skipped. */
void cn_uft_debug_read(struct cn_bytes file, struct cn_uft_debug *out,
                       cn_uft_bad_line_fn bad, void *arg);
void cn_uft_debug_done(struct cn_uft_debug *debug);

/* The function that begins at this offset; NULL when there is none. */
const struct cn_uft_debug_function *cn_uft_debug_find(const struct cn_uft_debug *debug,
                                                      uint64_t offset);

#endif
