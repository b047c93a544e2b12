/* The contents of an open uftrace data directory.
 *
 * open.c opens it in the steps below and returns it as a recording, which owns
 * everything below.
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

struct cn_uft_gpu;
struct cn_uft_kernel;
struct cn_uft_summary;
struct cn_uft_syscalls;

struct cn_uft_entry {
    const char *name;
    struct cn_file file;
    uint64_t mtime_ns; /* modification time */
};

/* A line of extern.dat. */
struct cn_uft_extern {
    uint64_t time_ns;
    uint64_t off; /* of the line */
    struct cn_bytes text;
};

struct cn_uft_directory {
    struct cn_recording rec;      /* first: callers see this */
    struct cn_uft_entry *entries; /* all regular files, by name */
    size_t entry_count, entry_capacity;
    struct cn_uft_facts facts;
    struct cn_uft_enums enums;

    struct cn_session *sessions;
    uint32_t *map_counts; /* of each session: mappings at its start */
    size_t session_count, session_capacity;
    struct cn_map session_ids; /* from the sid as a number */

    struct cn_call_module *modules;
    size_t module_count, module_capacity;
    struct cn_names module_keys; /* path and build-id of each module */
    struct cn_call_function *functions;
    size_t function_count, function_capacity;

    struct cn_task *tasks;
    size_t task_count, task_capacity;
    struct cn_uft_records *records; /* of each task; a NULL name: it has none */

    struct cn_source *sources;
    size_t source_count, source_capacity;

    /* perf-cpuN.dat: the files, and the records of each task in the order of time. A
     * record is the index of its file in the upper 16 bits and its offset / 8. */
    struct cn_bytes *perf_files;
    uint32_t *perf_cpus; /* of each file */
    size_t perf_file_count;
    uint64_t *perf_records;
    size_t *perf_begins; /* of each task, and the end */

    struct cn_uft_extern *externs;
    size_t extern_count, extern_capacity;
    uint32_t extern_task; /* that shows them; CN_NONE when there are none */

    struct cn_uft_kernel *kernel;     /* NULL when the kernel was not traced */
    struct cn_uft_gpu *gpu;           /* NULL when there is no work of GPUs */
    struct cn_uft_syscalls *syscalls; /* NULL when there are none */
    struct cn_uft_summary *summary;   /* NULL when not built yet */
    enum cn_demangle demangle;
    const char *symbols; /* folder of .sym files to use first, while opening; or NULL */
};

/* List and map the files of the directory `rec.path`. A failure leaves some files
 * mapped. */
CN_CHECK bool cn_uft_directory_list(struct cn_uft_directory *dir, struct cn_error *err);

/* The bytes of the file `name`, which has no records; false when there is none. */
bool cn_uft_directory_find(const struct cn_uft_directory *dir, const char *name,
                           struct cn_bytes *out);

/* The file `name`; NULL when there is none. */
const struct cn_uft_entry *cn_uft_directory_entry(const struct cn_uft_directory *dir,
                                                  const char *name);

/* The modification time of the file `name`; 0 when there is none. */
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

/* List the files PREFIXN.dat by processor, and add them to the sources. The caller frees
 * the list. */
struct cn_uft_cpu_file *cn_uft_cpu_files(struct cn_uft_directory *dir, const char *prefix,
                                         enum cn_source_kind kind, size_t *count);

/* The index of the module with this path and build-id ("" when unknown); adds it when it
 * is new. */
uint32_t cn_uft_module_add(struct cn_uft_directory *dir, const char *path,
                           const char *build_id);

/* The same of functions that the recorder made: no mapping is of this module, whatever its path is. */
uint32_t cn_uft_module_add_own(struct cn_uft_directory *dir, const char *path);

/* Find the .sym or .dbg file of a module, and its name; false when there is none. */
bool cn_uft_module_file(const struct cn_uft_directory *dir, uint32_t index,
                        const char *suffix, char name[static NAME_MAX],
                        struct cn_bytes *out);

/* Warnings about lines of a file that cannot be parsed. */
struct cn_uft_bad_lines {
    struct cn_recording *rec;
    const char *file;
    size_t count;
};
void cn_uft_bad_line(void *arg, uint64_t off, const struct cn_error *err);

/* Call this after the file was read: warns how many more lines there were. */
void cn_uft_bad_lines_done(const struct cn_uft_bad_lines *lines);

/* The steps of opening a directory, in this order; cn_uft_kernel_build() and
 * cn_uft_syscalls_build() are before the last one.
 * None fails: what they cannot read becomes a warning of the recording. */

void cn_uft_sessions_build(struct cn_uft_directory *dir);  /* task.txt, sid-SID.map */
void cn_uft_modules_build(struct cn_uft_directory *dir);   /* NAME.sym */
void cn_uft_arguments_build(struct cn_uft_directory *dir); /* info, NAME.dbg */
void cn_uft_tasks_build(struct cn_uft_directory *dir);     /* task.txt, TID.dat */
void cn_uft_perf_build(struct cn_uft_directory *dir);      /* perf-cpuN.dat */
void cn_uft_extras_build(struct cn_uft_directory *dir);    /* extern.dat and the like */
void cn_uft_gpu_build(struct cn_uft_directory *dir);       /* gpu.dat */

/* When all is built: where graphs of GPU work were captured, from the calls of the recording. */
void cn_uft_gpu_find_captures(struct cn_uft_directory *dir);

/* The file of the records of memory of a task. False if there is none. */
bool cn_uft_heap_begin(const struct cn_uft_directory *dir, uint32_t tid,
                       struct cn_heap_log *out);

void cn_uft_gpu_free(struct cn_uft_gpu *gpu); /* NULL is fine */

#endif
