/* Requests to collectors: plain GET over HTTP, several at a time, until a deadline. Not signed and
 * not repeated: a collector that does not answer in time is left out.
 * Threads: any thread.
 */
#ifndef CN_S3_HTTP_GET_H
#define CN_S3_HTTP_GET_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct cn_http_get {
    const char *url;
    const char *token; /* sent as a bearer token; NULL: none */
    int fd;            /* receives the body from `off` on; negative: `answer` does */
    uint64_t off, len_max;

    /* Set by cn_http_get_run(). The caller releases the answer. */
    bool is_ok;
    long status; /* 0: there was none */
    struct cn_text answer;
    struct cn_error err; /* unless is_ok */
};

/* Run all of them until `deadline_ns` of cn_clock_ns(). */
void cn_http_get_run(struct cn_http_get *gets, size_t count, uint64_t deadline_ns);

#endif
