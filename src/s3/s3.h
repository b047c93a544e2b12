/* Requests to a bucket of S3-compatible object storage, signed by libcurl.
 *
 *     cn_s3_open(&s3, address, err)
 *     cn_s3_get(s3, "config.props", &text, &is_found, err) ...
 *     cn_s3_close(s3)
 *
 * Keys are relative to the prefix of the address. An answer that is for another range, object or list
 * than was asked for is a failure. A request that fails for a reason that may pass
 * (no connection, no progress, a cut body, status 403, 429 or 5xx) is repeated a few times, after a
 * growing, random delay or the one that the server asks for. Errors name the object, never the keys
 * of the account.
 * Threads: any thread.
 */
#ifndef CN_S3_S3_H
#define CN_S3_S3_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "s3/settings.h"

struct cn_s3;

/* Connects to nothing yet. Fails if the settings are incomplete or libcurl is missing. */
CN_CHECK bool cn_s3_open(struct cn_s3 **out, const char *address, struct cn_error *err);
void cn_s3_close(struct cn_s3 *s3); /* NULL is fine */

const struct cn_s3_settings *cn_s3_settings(const struct cn_s3 *s3);

/* Requests so far, repeated ones included, and bytes of bodies. */
struct cn_s3_counts {
    uint64_t requests, repeated, received_len, sent_len;
    uint64_t fetched; /* objects and parts of objects */
};
struct cn_s3_counts cn_s3_counts(struct cn_s3 *s3);

enum cn_s3_method { CN_S3_GET, CN_S3_PUT, CN_S3_POST, CN_S3_DELETE };

struct cn_s3_request {
    enum cn_s3_method method;
    const char *key;      /* NULL: the bucket itself */
    const char *query;    /* NULL, or encoded: "a=1&b=2", names sorted */
    struct cn_bytes body; /* of CN_S3_PUT and CN_S3_POST */
    bool if_absent;       /* CN_S3_PUT: only if there is no such object */
    uint64_t off, len;    /* CN_S3_GET: a range; `len` 0: the whole object */
    uint8_t *out;         /* receives the range; NULL without one */
    uint64_t object_len;  /* CN_S3_GET of a range: of the whole object */

    /* Set by cn_s3_run(). The caller releases the answer. */
    long status;           /* of HTTP */
    struct cn_text answer; /* the body */
    char etag[80];         /* of CN_S3_PUT, with its quotes */
};

/* Run requests in parallel. Fails if one fails for good; status 404 (not found) and 412 (if_absent,
 * but there is one) are answers, not failures. */
CN_CHECK bool cn_s3_run(struct cn_s3 *s3, struct cn_s3_request *requests, size_t count,
                        struct cn_error *err);

/* Read a whole object. */
CN_CHECK bool cn_s3_get(struct cn_s3 *s3, const char *key, struct cn_text *out,
                        bool *is_found, struct cn_error *err);

/* The same, as two answers in a row have it: for what has no checksum, and before something is removed
 * because of it. An answer may be spoiled on its way. */
CN_CHECK bool cn_s3_get_twice(struct cn_s3 *s3, const char *key, struct cn_text *out,
                              bool *is_found, struct cn_error *err);

/* Write an object, in parts if it is large. With `if_absent`, `is_written` receives false if there
 * is one already; NULL: replace it. */
CN_CHECK bool cn_s3_put(struct cn_s3 *s3, const char *key, struct cn_bytes body,
                        bool *is_written, struct cn_error *err);

/* An object that does not exist is removed already. */
CN_CHECK bool cn_s3_remove(struct cn_s3 *s3, const char *key, struct cn_error *err);

/* Call `visit` for each object whose key begins with `begin`, in the order of keys. */
struct cn_s3_object {
    const char *key;
    uint64_t len;
    uint64_t changed_ns; /* since the epoch */
};
typedef bool (*cn_s3_visit)(void *arg, const struct cn_s3_object *object,
                            struct cn_error *err);
CN_CHECK bool cn_s3_list(struct cn_s3 *s3, const char *begin, cn_s3_visit visit,
                         void *arg, struct cn_error *err);

/* Read an object and list others, as cn_s3_get() and cn_s3_list() do, without waiting for one before
 * the other is asked for. If the object is not found, nothing is visited. */
CN_CHECK bool cn_s3_get_and_list(struct cn_s3 *s3, const char *key, struct cn_text *out,
                                 bool *is_found, const char *begin, cn_s3_visit visit,
                                 void *arg, struct cn_error *err);

#endif
