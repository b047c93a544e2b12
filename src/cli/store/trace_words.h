/* Words and values of traces as texts, for those who print traces.
 * Threads: one thread at a time for each text.
 */
#ifndef CN_CLI_STORE_TRACE_WORDS_H
#define CN_CLI_STORE_TRACE_WORDS_H

#include "base/text.h"
#include "model/traces/trace.h"

/* The word alone in `text`; what was there before is forgotten. Borrowed until it changes. */
const char *cn_trace_word(struct cn_text *text, const struct cn_words *words,
                          uint32_t word);

/* The same for the name of a method, "com.example.Dao.query". */
const char *cn_trace_method(struct cn_text *text, const struct cn_trace *trace,
                            uint32_t node);

/* Append a value: lists as [a, b], maps as {key: value}. */
void cn_trace_value_add(struct cn_text *text, const struct cn_trace *trace,
                        const struct cn_trace_value *value);

#endif
