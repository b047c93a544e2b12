/* What an agent has told about itself: the strings and methods behind the numbers that its
 * traces use.
 *
 * A session belongs to one agent from its start (or its last reset) on. Its symbols become
 * words of whatever dictionary a trace is read into; the last dictionary is remembered, so
 * that a symbol costs one look-up per trace, not a search.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_ZORKA_SESSION_H
#define CN_FORMATS_ZORKA_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "model/traces/words.h"

struct cn_zorka_session;

struct cn_zorka_session *cn_zorka_session_new(void);
void cn_zorka_session_free(struct cn_zorka_session *session); /* NULL is fine */

/* Forget all symbols: the agent numbers them anew. */
void cn_zorka_session_reset(struct cn_zorka_session *session);

/* About how many bytes its symbols take. */
uint64_t cn_zorka_session_len(const struct cn_zorka_session *session);

/* A number that was used before gets a new meaning. */
void cn_zorka_session_add_string(struct cn_zorka_session *session, uint32_t id,
                                 struct cn_bytes text);

/* False when one of the three strings is not known. */
bool cn_zorka_session_add_method(struct cn_zorka_session *session, uint32_t id,
                                 const uint32_t strings[3]);

/* From now on words are those of `words`, which nobody else rewinds. */
void cn_zorka_session_target(struct cn_zorka_session *session, struct cn_words *words);

/* The word of a symbol, made when it is new. False for a number never heard of. */
bool cn_zorka_session_string(struct cn_zorka_session *session, uint64_t id,
                             enum cn_word_kind kind, uint32_t *word);
bool cn_zorka_session_method(struct cn_zorka_session *session, uint64_t id,
                             uint32_t *word);

/* After the target was rewound: forget which of its words stand for symbols. */
void cn_zorka_session_retarget(struct cn_zorka_session *session);

#endif
