/* Values and exceptions of traces as JSON.
 * Threads: one thread at a time for each JSON text.
 */
#ifndef CN_MODEL_TRACES_JSON_H
#define CN_MODEL_TRACES_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct cn_json;
struct cn_trace;
struct cn_trace_value;
struct cn_words;

/* Append a value. Typed: numbers are numbers and maps are objects. Otherwise numbers are
 * strings and maps are arrays of keys and values in turn: JavaScript would round 64-bit
 * numbers, and a key need not be text. */
void cn_json_trace_value(struct cn_json *json, const struct cn_trace *trace,
                         const struct cn_trace_value *value, bool is_typed);

/* Append a string; null for word 0. */
void cn_json_word(struct cn_json *json, const struct cn_words *words, uint32_t word);

/* Members: a string; the name of a method; the digits of an id, null for a span of number 0. */
void cn_json_add_word(struct cn_json *json, const char *key, const struct cn_words *words,
                      uint32_t word);
void cn_json_add_method(struct cn_json *json, const char *key,
                        const struct cn_words *words, uint32_t method);
void cn_json_add_span_id(struct cn_json *json, const char *key, uint64_t id);
void cn_json_add_trace_id(struct cn_json *json, const char *key, uint64_t high,
                          uint64_t low);

/* Append an array of objects {class, message, stack}: an exception, then its causes. */
void cn_json_exceptions(struct cn_json *json, const struct cn_words *words,
                        uint32_t exception);

#endif
