/* The agent of a recorded program (--agent): changes filters, limits and tracing while the
 * program runs, as `cairn live -p PID` asks it to.
 *
 * It runs in the launcher, on a socket of its own, so the recorded program has no further
 * thread and no socket. One client is served at a time, without waiting for it; a client
 * that takes too long is dropped. What a client sets applies when it closes, all at once.
 * Only the user who records and root may connect.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_AGENT_AGENT_H
#define CN_LAUNCHER_AGENT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "launcher/rules/modules.h"

struct cn_rules;

struct cn_agent {
    struct cn_module_rules *modules;
    struct cn_rules *rules; /* of `modules` */
    int listener, client;   /* -1: none */
    pid_t pid;              /* of the program */
    uint64_t client_ns;     /* when the client connected */
    uint8_t *message;       /* of the client, received so far */
    size_t message_len;
    /* What the client has set. */
    struct cn_rule_limits limits;
    size_t rule_count; /* rules before it connected */
    uint64_t size_min; /* before it connected */
    bool has_rules, has_trace, is_on;
};

/* Listen for clients of the program `pid`. */
CN_CHECK bool cn_agent_open(struct cn_agent *agent, struct cn_module_rules *modules,
                            struct cn_rules *rules, pid_t pid, struct cn_error *err);

/* Handle what clients have sent. True if a client is connected: call again soon. */
bool cn_agent_step(struct cn_agent *agent);

/* Safe when it never opened, if listener and client are -1. */
void cn_agent_close(struct cn_agent *agent);

/* Rules that a client of the agent adds and removes, as text. */

/* Add rules, separated by ";": filters "a;!b;c@clear" of CN_AGENT_FILTER, of which those
 * after "!" leave functions out, callers "a;b@clear" of CN_AGENT_CALLER, or triggers
 * "f@depth=3;g@clear=depth+time,hide" of CN_AGENT_TRIGGER. On failure some may have been
 * added. */
CN_CHECK bool cn_agent_rules_add(struct cn_rules *rules, const char *text,
                                 uint32_t option, struct cn_error *err);

#endif
