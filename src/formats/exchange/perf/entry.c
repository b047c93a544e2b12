#include "formats/exchange/perf/entry.h"

#include <string.h>

#include "base/list.h"

enum cn_entry cn_perf_entry_of(const char *name)
{
    static const char *const programs[] = {"_start",           "main",
                                           "_dl_start_user",   "runtime.rt0_go",
                                           "_rt0_amd64_linux", "_rt0_arm64_linux"};
    static const char *const threads[] = {"clone",
                                          "__clone",
                                          "clone3",
                                          "__clone3",
                                          "start_thread",
                                          "thread_start",
                                          "runtime.goexit",
                                          "runtime.mstart",
                                          "runtime.mcall",
                                          "runtime.systemstack",
                                          "runtime.morestack",
                                          "ret_from_fork",
                                          "ret_from_fork_asm",
                                          "kthread",
                                          "start_secondary",
                                          "secondary_startup_64",
                                          "secondary_startup_64_no_verify",
                                          "rest_init",
                                          "make_fcontext",
                                          "common_startup_64",
                                          "__secondary_switched"};

    if (cn_list_has(programs, CN_COUNT_OF(programs), name))
        return CN_ENTRY_MAIN_THREAD;
    /* What created a goroutine is above the start of the goroutine. */
    return cn_list_has(threads, CN_COUNT_OF(threads), name) ||
                   strncmp(name, "created by ", strlen("created by ")) == 0
               ? CN_ENTRY_APPLICATION_THREAD
               : CN_ENTRY_UNKNOWN;
}
