/* The modules, files, functions and lines of several recordings, deduplicated.
 *
 * Zero-initialised is empty, except for `locations`.
 * Threads: one thread at a time; once complete, any thread may read.
 */
#ifndef CN_ANALYZE_CCT_NAMES_H
#define CN_ANALYZE_CCT_NAMES_H

#include "analyze/cct/locations.h"
#include "base/map.h"
#include "model/calls/recording.h"
#include "model/contexts/context.h"

/* A line of a file. */
struct cn_cct_source_line {
    uint32_t file, line;
};

struct cn_cct_names {
    const struct cn_cct_locations *locations; /* NULL: recorded ones only */
    struct cn_names module_keys, file_keys, function_keys;
    struct cn_module *modules;
    struct cn_source_file *files;
    struct cn_function *functions;
    size_t module_capacity, file_capacity, function_capacity;
    struct cn_cct_source_line *lines;
    struct cn_map line_numbers; /* by file << 32 | line */
    size_t line_count, line_capacity;
    struct cn_arena arena;
};

void cn_cct_names_done(struct cn_cct_names *names);

/* The number of a function of a recording. */
uint32_t cn_cct_names_function(struct cn_cct_names *names, const struct cn_recording *rec,
                               uint32_t function);

/* The number of a function of which only the name is known. */
uint32_t cn_cct_names_other(struct cn_cct_names *names, const char *name);

/* The number of a function whose module and file are numbers of these names. */
uint32_t cn_cct_names_known(struct cn_cct_names *names,
                            const struct cn_function *function);

uint32_t cn_cct_names_module(struct cn_cct_names *names,
                             const struct cn_call_module *module);
uint32_t cn_cct_names_file(struct cn_cct_names *names, const char *path);
uint32_t cn_cct_names_line(struct cn_cct_names *names, uint32_t file, uint32_t line);

#endif
