/* Removes what must not be stored from traces, by rules, before they reach a store.
 *
 *     cn_redaction_open(&rules, path, err)       drop http.request.header.*
 *     redactor = cn_redactor_new(rules)          hash user.id
 *     trace = cn_redact(redactor, trace)         mask * [0-9]{13,16}
 *     cn_redactor_free(redactor)
 *     cn_redaction_free(rules)
 *
 * A rule names keys with * and ?, of attributes of spans, events, links, resources and scopes, also
 * inside of maps; or span:name, span:statusMessage, span:traceState, event:name, link:traceState. An
 * exception is what its attributes are: exception.type, exception.message and exception.stacktrace.
 * Rules apply in their order. Texts that are left out are in no dictionary that is written.
 * Threads: rules are immutable; each redactor belongs to one thread at a time.
 */
#ifndef CN_STORE_WRITE_REDACT_H
#define CN_STORE_WRITE_REDACT_H

#include <stdint.h>

#include "base/error.h"

struct cn_redaction;
struct cn_redactor;
struct cn_trace;

/* Add a rule: `drop KEY`, `hash KEY`, `mask KEY`, `mask KEY REGEX`, `salt TEXT`. Makes `*rules` if it
 * is NULL; a failure adds nothing. */
CN_CHECK bool cn_redaction_add(struct cn_redaction **rules, const char *line,
                               struct cn_error *err);

/* Read a file of rules, one per line; empty lines and those that begin with # are skipped. */
CN_CHECK bool cn_redaction_open(struct cn_redaction **out, const char *path,
                                struct cn_error *err);
void cn_redaction_free(struct cn_redaction *rules); /* NULL is fine */

/* The rules are borrowed. */
struct cn_redactor *cn_redactor_new(const struct cn_redaction *rules);
void cn_redactor_free(struct cn_redactor *redactor); /* NULL is fine */

/* The trace after all rules, with words of the redactor; valid until the next call. */
const struct cn_trace *cn_redact(struct cn_redactor *redactor,
                                 const struct cn_trace *trace);

/* Values that were dropped, hashed or masked so far. */
uint64_t cn_redactor_count(const struct cn_redactor *redactor);

#endif
