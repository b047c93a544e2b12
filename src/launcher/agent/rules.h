/* Rules that a client of the agent adds and removes, as text.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_AGENT_RULES_H
#define CN_LAUNCHER_AGENT_RULES_H

#include <stdint.h>

#include "base/error.h"

struct cn_rules;

/* Add rules, separated by ";": filters "a;!b;c@clear" of CN_AGENT_FILTER, of which those
 * after "!" leave functions out, callers "a;b@clear" of CN_AGENT_CALLER, or triggers
 * "f@depth=3;g@clear=depth+time,hide" of CN_AGENT_TRIGGER. On failure some may have been
 * added. */
CN_CHECK bool cn_agent_rules_add(struct cn_rules *rules, const char *text,
                                 uint32_t option, struct cn_error *err);

#endif
