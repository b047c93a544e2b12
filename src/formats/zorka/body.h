/* What an agent sends in one request: symbols, traces, or both; several bodies may follow
 * each other in one piece of bytes. Which of the three wire generations it is, the bytes
 * tell.
 *
 *     cn_zorka_body_begin(&body, session, bytes);
 *     while ((step = cn_zorka_body_next(&body, words, &trace, err)) == CN_ITEM) ...
 *     cn_zorka_body_done(&body);
 *
 * Symbols that come before a trace are in the session when the trace is handed out. A trace
 * that the agent has not finished ends with open calls; the next body of the same trace goes
 * on with them when cn_zorka_body.resume says what was open.
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

/* The calls that a trace in flight has open, outermost first. */
struct cn_zorka_open {
    uint64_t clock_ns;  /* of the first call */
    uint64_t resume_ns; /* the last event in the innermost call, since then */
    uint32_t part;      /* number of the next part */
    uint32_t depth;
    uint64_t starts_ns[CN_TRACE_DEPTH_MAX];
};

struct cn_zorka_body {
    struct cn_zorka_reader reader;
    const struct cn_zorka_open *resume; /* NULL: the body begins with a trace */
    uint32_t symbol_count;              /* definitions that were read */
};

void cn_zorka_body_begin(struct cn_zorka_body *body, struct cn_zorka_session *session,
                         struct cn_bytes bytes);

/* The next trace, its words added to `words`. After a failure the caller rewinds them and
 * calls cn_zorka_session_retarget(). */
CN_CHECK enum cn_step cn_zorka_body_next(struct cn_zorka_body *body,
                                         struct cn_words *words, struct cn_trace *out,
                                         struct cn_error *err);
void cn_zorka_body_done(struct cn_zorka_body *body);

/* What a trace leaves open; to be called before it is settled. */
void cn_zorka_open_set(struct cn_zorka_open *open, const struct cn_trace *trace);

/* Whether a body goes on with what is open: it is no symbols, and not the beginning of the
 * trace, sent again. */
bool cn_zorka_open_goes_on(const struct cn_zorka_open *open, struct cn_bytes body);

/* Whether bytes look like a body of an agent. */
bool cn_zorka_body_probe(struct cn_bytes bytes);

#endif
