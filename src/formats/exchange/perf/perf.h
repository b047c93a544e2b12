/* Linux perf: perf.data files, and the output of perf script.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_PERF_H
#define CN_FORMATS_EXCHANGE_PERF_PERF_H

#include "model/format.h"

struct cn_import;
struct cn_stored_symbols;
struct cn_text;

extern const struct cn_format cn_format_perf;
extern const struct cn_format cn_format_perf_script;

/* Read bytes in memory; symbols come from the files that the bytes name. */
CN_CHECK bool cn_perf_read(struct cn_import *import, struct cn_bytes bytes,
                           struct cn_error *err);
/* Find the names of all addresses of a perf.data file in memory, for cn_stored_symbols_encode():
 * those that it contains, and those of its programs, which are also looked for in `folders`. Servers
 * of debuginfod are asked unless `is_offline`. Appends to `hints` lines that say what would name the
 * others; NULL: not. */
CN_CHECK bool cn_perf_symbols_find(struct cn_stored_symbols *out, struct cn_bytes bytes,
                                   const char *const *folders, size_t folder_count,
                                   bool is_offline, struct cn_text *hints,
                                   struct cn_error *err);
CN_CHECK bool cn_perf_script_read(struct cn_import *import, struct cn_bytes bytes,
                                  struct cn_error *err);

#endif
