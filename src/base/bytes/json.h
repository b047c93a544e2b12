/* JSON, written: commas, quoting and nesting are right by construction.
 *
 *     cn_json_object(&json);
 *     cn_json_key(&json, "calls");
 *     cn_json_u64(&json, 12);
 *     cn_json_end(&json);
 *
 * Values are appended to a struct cn_text, which the caller may empty at any time.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_BYTES_JSON_H
#define CN_BASE_BYTES_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { CN_JSON_DEPTH_MAX = 64 };

struct cn_json {
    struct cn_text *text;
    unsigned depth;
    bool has_items[CN_JSON_DEPTH_MAX]; /* a comma is due before the next value */
    bool is_object[CN_JSON_DEPTH_MAX];
    bool after_key;
};

void cn_json_object(struct cn_json *json);
void cn_json_array(struct cn_json *json);
void cn_json_end(struct cn_json *json); /* the innermost object or array */
void cn_json_key(struct cn_json *json, const char *name);

/* Bytes that are not UTF-8 are replaced by U+FFFD: JSON cannot represent them. */
void cn_json_str(struct cn_json *json, const char *value);
void cn_json_chars(struct cn_json *json, const char *chars, size_t len); /* also 0 */
void cn_json_u64(struct cn_json *json, uint64_t value);
void cn_json_i64(struct cn_json *json, int64_t value);
void cn_json_f64(struct cn_json *json, double value); /* null when not finite */
void cn_json_bool(struct cn_json *json, bool value);
void cn_json_null(struct cn_json *json);

/* Append a finite number as cn_json_f64() writes it: the shortest form that reads back as
 * the same number. */
void cn_json_number(struct cn_text *text, double value);

/* Append a string as cn_json_str() writes it, with quotes. */
void cn_json_quote(struct cn_text *text, const char *value);
void cn_json_quote_chars(struct cn_text *text, const char *chars, size_t len);

/* A value that is JSON already. */
void cn_json_raw(struct cn_json *json, const char *chars, size_t len);

/* A 64-bit id as a string: JavaScript rounds numbers beyond 2^53. */
void cn_json_id(struct cn_json *json, uint64_t value);

/* Key and value of a member of the object that is being written. */
void cn_json_add_str(struct cn_json *json, const char *key,
                     const char *value); /* or NULL */
void cn_json_add_u64(struct cn_json *json, const char *key, uint64_t value);
void cn_json_add_f64(struct cn_json *json, const char *key, double value);
void cn_json_add_id(struct cn_json *json, const char *key, uint64_t value);
void cn_json_add_bool(struct cn_json *json, const char *key, bool value);
void cn_json_add_strs(struct cn_json *json, const char *key, const char *const *list,
                      size_t count);

/* Key and begin of a member that cn_json_end() ends. */
void cn_json_add_object(struct cn_json *json, const char *key);
void cn_json_add_array(struct cn_json *json, const char *key);

#endif
