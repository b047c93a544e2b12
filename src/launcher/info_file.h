/* Writes the info file: when the program starts, so that the recording can be read at any
 * time, and again when the program has ended.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_INFO_FILE_H
#define CN_LAUNCHER_INFO_FILE_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"
#include "record/shared.h"

struct cn_arguments;
struct cn_elf_file;

struct cn_info_facts {
    const char *dir;
    const char *exe_path;
    const struct cn_elf_file *exe;
    const char *command_line;
    time_t started_at;
    struct cn_rec_cost call_cost, libcall_cost; /* measured; 0 when unknown */
    uint64_t left_out_ps; /* cost of a call that filters leave out; 0 when none are */
    bool has_values;      /* calls with recorded values cost more */
    bool begins_off;      /* recording is switched on later */
    bool has_libcalls, has_sites;
    bool has_events;                      /* from the kernel */
    const struct cn_arguments *arguments; /* recorded values */

    /* Valid when the program has ended. */
    bool is_finished;
    int wait_status;
    struct rusage usage;
    uint64_t elapsed_ns;
};

CN_CHECK bool cn_info_file_write(const struct cn_info_facts *facts, struct cn_error *err);

#endif
