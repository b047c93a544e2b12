/* A web shop that exists only as arithmetic: the requests that the agents of its servers send,
 * as the bodies of the current wire format (symbols, then a trace that uses them).
 *
 * A trace is one HTTP request: 50 to 500 calls (190 on average) of 9,000 methods in a tree, 8
 * attributes at its root, a statement at some calls, an exception in one of fifty. The same
 * seed gives the same bytes; memory does not grow with the number of traces.
 *
 *     cn_requests_init(&requests, seed);    requests.calls_max = 10 for small ones
 *     cn_requests_next(&requests);    fills symbols, trace and id; as often as wanted
 *     cn_requests_done(&requests);
 * Threads: one thread at a time.
 */
#ifndef CN_BENCH_REQUESTS_H
#define CN_BENCH_REQUESTS_H

#include <stdint.h>

#include "base/text.h"

enum {
    CN_REQUESTS_METHODS = 9000,
    CN_REQUESTS_CALLS_MIN = 50,
    CN_REQUESTS_CALLS_MAX = 500,
    CN_REQUESTS_ATTRIBUTES = 8,
    CN_REQUESTS_STEP_MS = 864, /* from one trace to the next: 100,000 are a day */
};

/* Midnight at the beginning of 2026, UTC. */
#define CN_REQUESTS_BEGIN_MS UINT64_C(1767225600000)

struct cn_requests {
    uint64_t state; /* of the random numbers */
    uint64_t number;
    uint64_t calls_max;                     /* of a trace, when that is not 0 */
    uint8_t known[CN_REQUESTS_METHODS / 8]; /* methods whose symbols were sent */
    bool has_symbols;                       /* the strings that are not methods */

    struct cn_text symbols; /* of the trace, what was not sent yet; empty when nothing */
    struct cn_text trace;
    uint64_t trace_id[2], span_id;
    uint64_t records;
};

void cn_requests_init(struct cn_requests *requests, uint64_t seed);
void cn_requests_next(struct cn_requests *requests);
void cn_requests_done(struct cn_requests *requests);

#endif
