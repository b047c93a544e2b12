/* Names of the addresses in a perf.data file: functions of modules with the calls inlined
 * there, functions of the kernel, and code that programs compiled while they ran.
 *
 * An address is resolved once for each module or process that has it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_NAMES_H
#define CN_FORMATS_EXCHANGE_PERF_NAMES_H

#include "base/map.h"
#include "formats/exchange/perf/address_space.h"
#include "model/contexts/context.h"
#include "symbols/jit_code.h"
#include "symbols/kernel.h"
#include "symbols/program/vdso.h"

struct cn_import;
struct cn_perf_file;
struct cn_stored_symbols;

/* The frames of an address, the outermost first. */
struct cn_perf_frames {
    uint32_t first, count; /* in the list of frames */
    enum cn_entry entry;   /* of a stack that ends here; CN_ENTRY_UNKNOWN: it is cut */
    bool is_futex;         /* waits for a lock, see locks.h */
    bool is_named;
    bool is_main_caller; /* only the start of a program calls it */
    bool is_of_time;     /* other code may be there at another time */
    const char *unnamed; /* the module of a function without a name; NULL: it has one */
    const char *file;    /* of the line; NULL if unknown */
    uint32_t line;
    const char *module,
        *build_id;   /* of the instruction; NULL if its function is unknown */
    uint64_t offset; /* in the module */
};

/* Where names come from: files of several ranks share it. */
struct cn_perf_symbols {
    struct cn_resolver *resolver;
    struct cn_stored_symbols *kept; /* receives the names that are found; NULL: not */
    struct cn_text *hints; /* receives lines that say what names are missing; NULL: not */
    struct cn_kernel_symbols kernel;
    struct cn_vdso vdso;
    bool has_kernel; /* `kernel` was loaded, `vdso` opened */
};

void cn_perf_symbols_init(struct cn_perf_symbols *symbols);
void cn_perf_symbols_done(struct cn_perf_symbols *symbols);

struct cn_perf_names {
    struct cn_import *import;
    const struct cn_perf_spaces *spaces;
    struct cn_perf_symbols *symbols;
    const struct cn_perf_file *file; /* contains names */
    bool is_this_kernel;             /* recorded on the running kernel */
    bool has_jit_times;              /* the clock of the samples is that of jitdump */
    struct cn_map found_of;  /* by address and generation of the process: in `found` */
    struct cn_map frames_of; /* by what was found: in `list` */
    struct cn_map jit_of;    /* by pid: in `jit` */
    struct cn_map loop_of;   /* by module and offset: in `loops` */
    struct cn_jit_code injected; /* names of code that perf inject made files of */
    struct cn_perf_loop *loops;
    size_t loop_count, loop_capacity;
    struct cn_arena arena;
    struct cn_perf_found *found;
    struct cn_perf_frames *list;
    struct cn_perf_jit *jit;
    uint32_t *frames; /* numbers of frames of the import */
    size_t found_count, found_capacity, count, capacity, jit_count, jit_capacity;
    size_t frame_count, frame_capacity;
    bool has_futex, has_name; /* a frame that was added since the last address */
    uint64_t hidden_count;    /* addresses of the kernel without a name */
};

/* `is_this_kernel` and `has_jit_times` as above; borrows the rest. */
void cn_perf_names_init(struct cn_perf_names *names, struct cn_import *import,
                        struct cn_perf_symbols *symbols,
                        const struct cn_perf_spaces *spaces,
                        const struct cn_perf_file *file, bool is_this_kernel,
                        bool has_jit_times);

/* The frames of a user address; valid until the next call. */
const struct cn_perf_frames *cn_perf_names_user(struct cn_perf_names *names, uint32_t pid,
                                                const struct cn_perf_process *process,
                                                uint64_t address, uint64_t time_ns);
const struct cn_perf_frames *cn_perf_names_kernel(struct cn_perf_names *names,
                                                  uint64_t address);

/* Add warnings to the import: what could not be named, and why. */
void cn_perf_names_warn(const struct cn_perf_names *names);
void cn_perf_names_done(struct cn_perf_names *names);

#endif
