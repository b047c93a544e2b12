/* The symbols of an agent: the strings and methods whose ids its traces use.
 *
 * A session belongs to one agent, from its start or last reset on. Its symbols become words of
 * the dictionary that a trace is read into. The session caches the words of the last
 * dictionary, so that a symbol costs one look-up, not a search.
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

/* Remove all symbols: the agent assigns new ids. */
void cn_zorka_session_reset(struct cn_zorka_session *session);

/* The memory of the symbols, in bytes, approximately. */
uint64_t cn_zorka_session_len(const struct cn_zorka_session *session);

/* An id that is in use is redefined. */
void cn_zorka_session_add_string(struct cn_zorka_session *session, uint32_t id,
                                 struct cn_bytes text);

/* Class, method name and signature. False if one of the three strings is unknown. */
bool cn_zorka_session_add_method(struct cn_zorka_session *session, uint32_t id,
                                 const uint32_t strings[3]);

/* Set the dictionary of the following words. Only the session's user may rewind it. */
void cn_zorka_session_target(struct cn_zorka_session *session, struct cn_words *words);

/* The word of a symbol, which is added when it is new. False for an unknown id. */
bool cn_zorka_session_string(struct cn_zorka_session *session, uint64_t id,
                             enum cn_word_kind kind, uint32_t *word);
bool cn_zorka_session_method(struct cn_zorka_session *session, uint64_t id,
                             uint32_t *word);

/* Drop the cached words, after the dictionary was rewound. */
void cn_zorka_session_retarget(struct cn_zorka_session *session);

#endif
