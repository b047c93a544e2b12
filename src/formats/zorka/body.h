/* The body of an agent's request: symbols, traces, or both; bodies may follow each other. The
 * first bytes identify the wire generation.
 *
 *     cn_zorka_body_begin(&body, session, bytes);
 *     while ((step = cn_zorka_body_next(&body, words, &trace, err)) == CN_ITEM) ...
 *     cn_zorka_body_done(&body);
 *
 * Symbols before a trace are in the session when the trace is returned. A trace that the agent
 * has not finished ends with open calls; the next body of the same trace continues them if
 * body.resume is set.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_ZORKA_BODY_H
#define CN_FORMATS_ZORKA_BODY_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/zorka/reader.h"
#include "formats/zorka/session.h"
#include "model/step.h"
#include "model/traces/trace.h"

/* The open calls of a trace in flight, outermost first. */
struct cn_zorka_open {
    uint64_t clock_ns;  /* of the first call */
    uint64_t resume_ns; /* last event in the innermost call, since clock_ns */
    uint32_t part;      /* number of the next part */
    uint32_t depth;
    uint64_t starts_ns[CN_TRACE_DEPTH_MAX];
};

struct cn_zorka_body {
    struct cn_zorka_reader reader;
    const struct cn_zorka_open *resume; /* NULL: the body begins with a trace */
    uint32_t symbol_count;              /* definitions read so far */
};

void cn_zorka_body_begin(struct cn_zorka_body *body, struct cn_zorka_session *session,
                         struct cn_bytes bytes);

/* The next trace; its words are added to `words`. After a failure the caller rewinds the words
 * and calls cn_zorka_session_retarget(). */
CN_CHECK enum cn_step cn_zorka_body_next(struct cn_zorka_body *body,
                                         struct cn_words *words, struct cn_trace *out,
                                         struct cn_error *err);
void cn_zorka_body_done(struct cn_zorka_body *body);

/* Read the symbols alone, as far as the body can be read; traces are skipped. */
void cn_zorka_body_read_symbols(struct cn_zorka_body *body);

/* True if a body may define symbols. */
bool cn_zorka_body_has_symbols(struct cn_bytes bytes);

/* Store the open calls of a trace that is not settled yet. */
void cn_zorka_open_set(struct cn_zorka_open *open, const struct cn_trace *trace);

/* True if a body continues the open calls: it is neither symbols nor the beginning of the
 * trace, sent again. */
bool cn_zorka_open_continues(const struct cn_zorka_open *open, struct cn_bytes body);

/* True if bytes look like the body of an agent. */
bool cn_zorka_body_probe(struct cn_bytes bytes);

#endif
