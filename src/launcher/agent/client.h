/* Asks the agent of a running recorded program (agent.h) to change what it records. The
 * agent may be that of cairn or of uftrace.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_AGENT_CLIENT_H
#define CN_LAUNCHER_AGENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* What to change; 0 and NULL: leave as it is. */
struct cn_agent_change {
    bool has_trace, is_on;
    bool has_time, has_size;
    bool is_glob;
    uint32_t depth;
    uint32_t size_min;
    uint64_t time_ns;
    const char *filters, *callers, *triggers; /* separated by ";" */
};

/* Change the process `pid`: all of it, or on failure nothing. */
CN_CHECK bool cn_agent_change(pid_t pid, const struct cn_agent_change *change,
                              struct cn_error *err);

#endif
