/* One request as the handlers of the API see it, and the answer they write.
 *
 * The strings are borrowed from the connection and live as long as the request.
 * Threads: a request belongs to one thread.
 */
#ifndef CN_SERVER_API_REQUEST_H
#define CN_SERVER_API_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/bytes/json.h"
#include "base/error.h"

enum { CN_REQUEST_PARAMETER_MAX = 64 };

struct cn_parameter {
    const char *name, *value; /* decoded; never NULL */
};

struct cn_request {
    const char *method, *path;
    struct cn_parameter parameters[CN_REQUEST_PARAMETER_MAX]; /* of the query */
    size_t parameter_count;
    struct cn_bytes body;
    struct cn_json json; /* where the answer goes */
};

/* The value of a parameter of the query; NULL when it was not given. */
const char *cn_request_value(const struct cn_request *request, const char *name);

/* Value `i` of a parameter that may be given several times; NULL after the last. */
const char *cn_request_value_at(const struct cn_request *request, const char *name,
                                size_t i);

bool cn_request_flag(const struct cn_request *request, const char *name); /* "1" */

/* A number between `min` and `max`; `otherwise` when it was not given. */
CN_CHECK bool cn_request_u64(const struct cn_request *request, const char *name,
                             uint64_t min, uint64_t max, uint64_t otherwise,
                             uint64_t *out, struct cn_error *err);
CN_CHECK bool cn_request_f64(const struct cn_request *request, const char *name,
                             double min, double max, double otherwise, double *out,
                             struct cn_error *err);

/* Members of the object that is being written. An id is written as a string: browsers
 * lose digits of large numbers. */
void cn_json_id(struct cn_json *json, uint64_t value);
void cn_json_add_str(struct cn_json *json, const char *key, const char *value);
void cn_json_add_u64(struct cn_json *json, const char *key, uint64_t value);
void cn_json_add_f64(struct cn_json *json, const char *key, double value);
void cn_json_add_id(struct cn_json *json, const char *key, uint64_t value);
void cn_json_add_bool(struct cn_json *json, const char *key, bool value);

#endif
