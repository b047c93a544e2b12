/* A reader of JSON from untrusted bytes, token by token.
 *
 *     struct cn_json_reader reader = cn_json_read(bytes);
 *     while ((kind = cn_json_next(&reader, &token, err)) > CN_JSON_END) switch (kind) ...
 *     cn_json_reader_done(&reader);
 *
 * A key is followed by the tokens of its value. Memory does not depend on the input:
 * text is a view of the input or, if it had escapes, of a buffer in the reader. Nesting is
 * limited; commas, colons and brackets are checked before a token is returned.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_BYTES_JSON_READER_H
#define CN_BASE_BYTES_JSON_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/text.h"

enum {
    CN_JSON_READ_DEPTH_MAX = 64,
    CN_JSON_TREE_DEPTH_MAX = 4096, /* of cn_json_read_tree() */
};

enum cn_json_kind {
    CN_JSON_FAIL,
    CN_JSON_END, /* of the text */
    CN_JSON_OBJECT,
    CN_JSON_OBJECT_END,
    CN_JSON_ARRAY,
    CN_JSON_ARRAY_END,
    CN_JSON_KEY,
    CN_JSON_STRING,
    CN_JSON_NUMBER,
    CN_JSON_TRUE,
    CN_JSON_FALSE,
    CN_JSON_NULL,
};

struct cn_json_token {
    struct cn_bytes text; /* of keys, strings and numbers; until the next token */
    uint64_t off;         /* where it begins */
};

struct cn_json_reader {
    struct cn_bytes bytes;
    size_t at;
    unsigned depth, depth_max;
    uint64_t
        objects[CN_JSON_TREE_DEPTH_MAX / 64]; /* one bit per level: it is an object */
    uint8_t state;                            /* what may come next */
    struct cn_text scratch;                   /* text that had escapes */
};

struct cn_json_reader cn_json_read(struct cn_bytes bytes);

/* The same for files that nest an object inside another for each call of a stack: the caller may not
 * recurse. */
struct cn_json_reader cn_json_read_tree(struct cn_bytes bytes);
void cn_json_reader_done(struct cn_json_reader *reader);

/* The next token. Failures name the offset. */
CN_CHECK enum cn_json_kind cn_json_next(struct cn_json_reader *reader,
                                        struct cn_json_token *out, struct cn_error *err);

/* Skip a value whose first token, `kind`, was just read. */
CN_CHECK bool cn_json_skip(struct cn_json_reader *reader, enum cn_json_kind kind,
                           struct cn_error *err);

/* The next token must be of this kind; `what` names it in the message. */
CN_CHECK bool cn_json_expect(struct cn_json_reader *reader, enum cn_json_kind kind,
                             const char *what, struct cn_error *err);

/* A member of an object: its key, cut to CN_JSON_KEY_MAX bytes, and the first token of its
 * value, whose text is empty unless it is a string or a number. */
enum { CN_JSON_KEY_MAX = 63 };
struct cn_json_member {
    char key[CN_JSON_KEY_MAX + 1];
    enum cn_json_kind kind;
    struct cn_json_token token;
};

/* Read the rest of an object. `take` is called for each member and reads the rest of its
 * value, by cn_json_skip() if nothing else. */
typedef bool (*cn_json_member_fn)(void *arg, const struct cn_json_member *member,
                                  struct cn_error *err);
CN_CHECK bool cn_json_read_object(struct cn_json_reader *reader, cn_json_member_fn take,
                                  void *arg, struct cn_error *err);

/* Read the rest of an array of objects. `read` is called after each opening brace and
 * reads the rest of the object, which begins at `off`. */
typedef bool (*cn_json_object_fn)(void *arg, uint64_t off, struct cn_error *err);
CN_CHECK bool cn_json_read_objects(struct cn_json_reader *reader, cn_json_object_fn read,
                                   void *arg, struct cn_error *err);

/* Fail because a key, string or number is not `what`, as in "a time". Returns false. */
bool cn_json_fail(const struct cn_json_token *token, const char *what,
                  struct cn_error *err);

/* True if the key of a member is this one. */
static inline bool cn_json_key_is(const struct cn_json_member *member, const char *key)
{
    return strcmp(member->key, key) == 0;
}

/* True if a key or string is this one. */
static inline bool cn_json_is(const struct cn_json_token *token, const char *text)
{
    size_t len = strlen(text);

    return token->text.len == len && memcmp(token->text.ptr, text, len) == 0;
}

/* Numbers: false when the text is none, or does not fit. */
bool cn_json_as_f64(struct cn_bytes text, double *out);
bool cn_json_as_i64(struct cn_bytes text, int64_t *out);
bool cn_json_as_u64(struct cn_bytes text, uint64_t *out);

/* The number times 10^digits as a whole number; fractions are cut off.
 * Exact where a double is not: microseconds since the epoch to nanoseconds. */
bool cn_json_as_scaled(struct cn_bytes text, unsigned digits, int64_t *out);

#endif
