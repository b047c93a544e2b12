/* One request to the API, and the answer as it is written. The API does not know where a
 * request comes from: over HTTP, or from the program itself.
 *
 * The strings are borrowed and live as long as the request.
 * Threads: a request belongs to one thread.
 */
#ifndef CN_SERVER_API_REQUEST_H
#define CN_SERVER_API_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/json.h"
#include "base/error.h"

enum { CN_REQUEST_PARAMETER_MAX = 64 };

struct cn_query_parameter {
    const char *name, *value; /* decoded; never NULL */
};

struct cn_request {
    const char *path;
    struct cn_query_parameter parameters[CN_REQUEST_PARAMETER_MAX];
    size_t parameter_count;
    struct cn_json json; /* the answer */
    char sampled[120];   /* what its counts lack, where it cannot say so; "": nothing */
};

/* Split the address "/api/v1/sources/0/rows?view=flat&sort=a%20b" of a zeroed request, in
 * place. Parameters after the 64th are ignored, as over HTTP. */
void cn_request_parse(struct cn_request *request, char *address);

/* The value of a parameter; NULL if it was not given. */
const char *cn_request_value(const struct cn_request *request, const char *name);

/* Value `i` of a parameter that may be given several times; NULL after the last one. */
const char *cn_request_value_at(const struct cn_request *request, const char *name,
                                size_t i);

bool cn_request_flag(const struct cn_request *request, const char *name); /* "1" */

/* The index of a value in a list of choices; `otherwise` if it was not given. */
CN_CHECK bool cn_request_choice(const struct cn_request *request, const char *name,
                                const char *const *choices, size_t count,
                                size_t otherwise, size_t *out, struct cn_error *err);

/* Take a number from the begin of a text: digits alone, up to `max`. */
CN_CHECK bool cn_number_take(const char **text, uint64_t max, uint64_t *out);

/* A number from `min` to `max`; `otherwise` if it was not given. */
CN_CHECK bool cn_request_u64(const struct cn_request *request, const char *name,
                             uint64_t min, uint64_t max, uint64_t otherwise,
                             uint64_t *out, struct cn_error *err);
CN_CHECK bool cn_request_f64(const struct cn_request *request, const char *name,
                             double min, double max, double otherwise, double *out,
                             struct cn_error *err);

#endif
