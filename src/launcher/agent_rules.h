/* Rules that a client of the agent adds and removes, as text.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_AGENT_RULES_H
#define CN_LAUNCHER_AGENT_RULES_H

#include "base/error.h"

struct cn_rules;

/* Add filters "a;!b;c@clear", of which those after "!" leave functions out, or triggers
 * "f@depth=3;g@clear=depth+time,hide". On failure some may have been added. */
CN_CHECK bool cn_agent_rules_add(struct cn_rules *rules, const char *text,
                                 bool are_triggers, struct cn_error *err);

#endif
