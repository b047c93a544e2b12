/* What an open uftrace data directory contains: its files, and what they say.
 *
 * open.c opens one and hands it out as a recording; builders.h lists the steps. Everything
 * lives as long as the recording.
 * Threads: one thread opens it; immutable afterwards.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_DIRECTORY_H
#define CN_FORMATS_UFTRACE_DIRECTORY_DIRECTORY_H

#include <limits.h>

#include "base/files/file.h"
#include "base/map.h"
#include "formats/uftrace/format.h"
#include "formats/uftrace/packed/record_source.h"
#include "formats/uftrace/text/argspec.h"
#include "formats/uftrace/text/info_reader.h"
#include "formats/uftrace/text/symbol_reader.h"
#include "model/calls/recording.h"
#include "model/format.h"

struct cn_uft_kernel;
struct cn_uft_summary;

struct cn_uft_entry {
    const char *name;
    struct cn_file file;
    uint64_t mtime_ns; /* when it was last changed */
};

/* A line of extern.dat. */
struct cn_uft_extern {
    uint64_t time_ns;
    uint64_t off; /* of the line */
    struct cn_bytes text;
};

struct cn_uft_directory {
    struct cn_recording rec;      /* first: the recording is handed out as this */
    struct cn_uft_entry *entries; /* all regular files, by name */
    size_t entry_count, entry_capacity;
    struct cn_uft_facts facts;
    struct cn_uft_enums enums;

    struct cn_session *sessions;
    uint32_t *map_counts; /* mappings from the start, of each session */
    size_t session_count, session_capacity;
    struct cn_map session_ids; /* from the sid as a number */

    struct cn_call_module *modules;
    size_t module_count, module_capacity;
    struct cn_names module_keys; /* path and build-id of each module */
    struct cn_call_function *functions;
    size_t function_count, function_capacity;

    struct cn_task *tasks;
    size_t task_count, task_capacity;
    struct cn_uft_records *records; /* of each task; without a name: it has none */

    struct cn_source *sources;
    size_t source_count, source_capacity;

    /* perf-cpuN.dat: files[], and the records of each task in the order of time. A
     * record is its file in the upper 16 bits and its offset divided by 8. */
    struct cn_bytes *perf_files;
    size_t perf_file_count;
    uint64_t *perf_records;
    size_t *perf_begins; /* of each task, and one more for the end */

    struct cn_uft_extern *externs;
    size_t extern_count, extern_capacity;
    uint32_t extern_task; /* in whose stream they appear; CN_NONE when there are none */

    struct cn_uft_kernel *kernel;   /* NULL when the kernel was not traced */
    struct cn_uft_summary *summary; /* NULL when there is none */
    enum cn_demangle demangle;
};

/* List and map the files of the directory at `rec.path`. On failure some are mapped. */
CN_CHECK bool cn_uft_directory_list(struct cn_uft_directory *dir, struct cn_error *err);

/* The bytes of a file of the directory; false when there is none. */
bool cn_uft_directory_find(const struct cn_uft_directory *dir, const char *name,
                           struct cn_bytes *out);

/* The same, giving the name as the directory keeps it; NULL when there is none. */
const char *cn_uft_directory_find_name(const struct cn_uft_directory *dir,
                                       const char *name, struct cn_bytes *out);

/* When a file of the directory was last changed; 0 when there is none. */
uint64_t cn_uft_directory_mtime(const struct cn_uft_directory *dir, const char *name);

static inline const struct cn_uft_directory *
cn_uft_directory_of(const struct cn_recording *rec)
{
    return (const struct cn_uft_directory *)rec;
}

/* Add to the lists above. */
void cn_uft_source_add(struct cn_uft_directory *dir, const char *name,
                       enum cn_source_kind kind, uint32_t task);
void cn_uft_function_add(struct cn_uft_directory *dir, struct cn_call_function function);

/* A file of one processor, "perf-cpu12.dat". */
struct cn_uft_cpu_file {
    uint32_t cpu;
    const char *name;
    struct cn_bytes bytes;
};

/* The files PREFIXN.dat by processor, which become sources of the recording. The caller
 * frees the list. */
struct cn_uft_cpu_file *cn_uft_cpu_files(struct cn_uft_directory *dir, const char *prefix,
                                         enum cn_source_kind kind, size_t *count);

/* The module with this path and build-id ("" when unknown), added when it is new. */
uint32_t cn_uft_module_add(struct cn_uft_directory *dir, const char *path,
                           const char *build_id);

/* The .sym or .dbg file of a module and its name; false when there is none. */
bool cn_uft_module_file(const struct cn_uft_directory *dir, uint32_t index,
                        const char *suffix, char name[static NAME_MAX],
                        struct cn_bytes *out);

/* Where lines that are not understood are noted. */
struct cn_uft_bad_lines {
    struct cn_recording *rec;
    const char *file;
    size_t count;
};
void cn_uft_bad_line(void *arg, uint64_t off, const struct cn_error *err);

/* Tell, after the file was read, how many more lines there were like the first. */
void cn_uft_bad_lines_done(const struct cn_uft_bad_lines *lines);

#endif
