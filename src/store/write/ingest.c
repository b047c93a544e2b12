#include "store/write/ingest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/exchange/traces/span_set.h"
#include "formats/zorka/body.h"
#include "store/write/sessions.h"

/* A trace that an agent has not finished. */
struct unfinished {
    uint64_t id_high, id_low;
    struct cn_zorka_open open;
};

enum { UNFINISHED_MAX = 256 };

struct cn_store_ingest {
    struct cn_store_writer *writer;
    struct cn_sessions sessions;
    struct cn_trace trace;
    struct unfinished **unfinished; /* the oldest first */
    size_t unfinished_count;
    struct cn_store_ingest_counts counts;
};

struct cn_store_ingest *cn_store_ingest_new(struct cn_store_writer *writer)
{
    struct cn_store_ingest *ingest = cn_alloc(1, sizeof(*ingest));

    ingest->writer = writer;
    ingest->unfinished = cn_alloc(UNFINISHED_MAX, sizeof(struct unfinished *));
    return ingest;
}

void cn_store_ingest_free(struct cn_store_ingest *ingest)
{
    if (!ingest)
        return;
    for (size_t i = 0; i < ingest->unfinished_count; i++)
        free(ingest->unfinished[i]);
    free(ingest->unfinished);
    cn_sessions_done(&ingest->sessions);
    cn_trace_done(&ingest->trace);
    free(ingest);
}

struct cn_store_ingest_counts cn_store_ingest_counts(const struct cn_store_ingest *ingest)
{
    return ingest->counts;
}

static size_t find_unfinished(const struct cn_store_ingest *ingest,
                              const struct cn_zorka_request *request)
{
    size_t i = 0;

    while (i < ingest->unfinished_count &&
           (!request->has_trace_id ||
            ingest->unfinished[i]->id_high != request->id_high ||
            ingest->unfinished[i]->id_low != request->id_low))
        i++;
    return i;
}

static void forget_unfinished(struct cn_store_ingest *ingest, size_t i)
{
    if (i >= ingest->unfinished_count)
        return;
    free(ingest->unfinished[i]);
    ingest->unfinished_count--;
    memmove(&ingest->unfinished[i], &ingest->unfinished[i + 1],
            (ingest->unfinished_count - i) * sizeof(ingest->unfinished[0]));
}

static void remember_unfinished(struct cn_store_ingest *ingest,
                                const struct cn_zorka_request *request)
{
    struct unfinished *trace = cn_alloc(1, sizeof(*trace));

    forget_unfinished(ingest, find_unfinished(ingest, request));
    if (ingest->unfinished_count == UNFINISHED_MAX)
        forget_unfinished(ingest, 0);
    trace->id_high = request->id_high;
    trace->id_low = request->id_low;
    cn_zorka_open_set(&trace->open, &ingest->trace);
    ingest->unfinished[ingest->unfinished_count++] = trace;
}

/* Without a head nobody says which trace it is: the same body is the same trace. */
static void set_id(struct cn_trace *trace, const struct cn_zorka_request *request,
                   uint64_t number)
{
    XXH128_hash_t hash;

    if (request->has_trace_id) {
        trace->id_high = request->id_high;
        trace->id_low = request->id_low;
        return;
    }
    hash = XXH3_128bits_withSeed(request->body.ptr, request->body.len, number);
    trace->id_high = hash.high64;
    trace->id_low = hash.low64;
}

/* Agents tell the service as an attribute of the first call, if at all. */
static void set_service(struct cn_trace *trace, struct cn_words *words)
{
    static const char *const names[] = {"service.name", "service"};
    struct cn_trace_span *span;

    if (trace->nodes[0].span == CN_NONE)
        return;
    span = &trace->spans[trace->nodes[0].span];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && span->service == 0; i++) {
        struct cn_bytes name = {(const uint8_t *)names[i], strlen(names[i])};
        uint32_t key = cn_words_find(words, CN_WORD_KEYWORD, name);
        const struct cn_trace_value *value =
            key ? cn_trace_find_attribute(trace, 0, key) : NULL;

        if (value && value->kind == CN_VALUE_WORD)
            span->service =
                cn_words_add(words, CN_WORD_KEYWORD, cn_word_bytes(words, value->word));
    }
}

static bool add_trace(struct cn_store_ingest *ingest,
                      const struct cn_zorka_request *request, uint64_t number,
                      struct cn_error *err)
{
    struct cn_trace *trace = &ingest->trace;

    set_id(trace, request, number);
    if (trace->current == CN_NONE)
        forget_unfinished(ingest, find_unfinished(ingest, request));
    else
        remember_unfinished(ingest, request);
    cn_trace_settle(trace);
    return cn_store_writer_add(ingest->writer, trace, &ingest->counts.added, err);
}

static bool read_body(struct cn_store_ingest *ingest, struct cn_zorka_session *session,
                      struct cn_zorka_body *body, const struct cn_zorka_request *request,
                      struct cn_error *err)
{
    enum cn_step step;

    for (uint64_t number = 0;; number++) {
        struct cn_words *words;
        uint32_t mark;

        if (!cn_store_writer_begin(ingest->writer, &words, err))
            return false;
        mark = words->count;
        step = cn_zorka_body_next(body, words, &ingest->trace, err);
        if (step != CN_ITEM) {
            cn_words_rewind(words, mark);
            if (step == CN_FAIL)
                cn_zorka_session_retarget(session);
            return step == CN_END;
        }
        set_service(&ingest->trace, words);
        if (!add_trace(ingest, request, number, err))
            return false;
    }
}

bool cn_store_ingest_request(struct cn_store_ingest *ingest,
                             const struct cn_zorka_request *request, struct cn_error *err)
{
    struct cn_zorka_session *session =
        cn_sessions_find(&ingest->sessions, request->session);
    struct cn_zorka_body body;
    size_t open = find_unfinished(ingest, request);
    bool ok;

    if (request->is_reset)
        cn_zorka_session_reset(session);
    cn_zorka_body_begin(&body, session, request->body);
    if (open < ingest->unfinished_count &&
        cn_zorka_open_goes_on(&ingest->unfinished[open]->open, request->body))
        body.resume = &ingest->unfinished[open]->open;
    ok = read_body(ingest, session, &body, request, err);
    ingest->counts.requests++;
    ingest->counts.refused += !ok;
    ingest->counts.symbols += body.symbol_count;
    cn_zorka_body_done(&body);
    return ok;
}

static bool add_spans(struct cn_store_ingest *ingest, struct cn_span_set *set,
                      struct cn_error *err)
{
    enum cn_step step;

    while ((step = cn_span_set_next(set, &ingest->trace, err)) == CN_ITEM)
        if (!cn_store_writer_add(ingest->writer, &ingest->trace, &ingest->counts.added,
                                 err))
            return false;
    return step == CN_END;
}

static bool ingest_spans(struct cn_store_ingest *ingest, struct cn_bytes body,
                         size_t unpacked_max, struct cn_error *err)
{
    struct cn_span_set set = {.unpacked_max = unpacked_max};
    bool ok = cn_span_set_read(&set, body, err) && add_spans(ingest, &set, err);

    cn_span_set_done(&set);
    ingest->counts.requests++;
    ingest->counts.refused += !ok;
    return ok;
}

bool cn_store_ingest_spans(struct cn_store_ingest *ingest, struct cn_bytes body,
                           struct cn_error *err)
{
    return ingest_spans(ingest, body, CN_STORE_SPANS_LEN_MAX, err);
}

static bool add_requests(struct cn_store_ingest *ingest, struct cn_bytes rest,
                         struct cn_error *err)
{
    struct cn_zorka_request request;
    size_t whole_len = rest.len;
    enum cn_step step;

    for (;;) {
        size_t off = whole_len - rest.len;

        step = cn_zorka_request_next(&rest, &request, err);
        if (step != CN_ITEM)
            return step == CN_END || cn_fail_in(err, "request at %zu", off);
        if (request.is_agent && !cn_store_ingest_request(ingest, &request, err))
            return cn_fail_in(err, "request at %zu", off);
    }
}

/* NAME.hdr beside NAME.bin. */
static void read_head_beside(const char *path, struct cn_zorka_request *request)
{
    size_t len = strlen(path);
    struct cn_text name = {0};
    struct cn_file file = {0};
    struct cn_error ignored;
    uint64_t content_len;

    if (len < 4 || strcmp(path + len - 4, ".bin") != 0)
        return;
    cn_text_add(&name, path, len - 4);
    cn_text_str_add(&name, ".hdr");
    if (cn_file_open(&file, cn_text_str(&name), &ignored))
        cn_zorka_request_head(file.bytes, request, &content_len);
    cn_file_close(&file);
    cn_text_done(&name);
}

bool cn_store_ingest_file(struct cn_store_ingest *ingest, const char *path,
                          struct cn_error *err)
{
    struct cn_zorka_request request = {0};
    struct cn_file file = {0};
    bool ok;

    if (!cn_file_open(&file, path, err))
        return false;
    if (cn_zorka_request_probe(file.bytes)) {
        ok = add_requests(ingest, file.bytes, err);
    } else if (!cn_zorka_body_probe(file.bytes) &&
               cn_span_set_probe(file.bytes) != CN_SPANS_NONE) {
        ok = ingest_spans(ingest, file.bytes, 0, err);
    } else {
        read_head_beside(path, &request);
        request.body = file.bytes;
        ok = cn_store_ingest_request(ingest, &request, err);
    }
    cn_file_close(&file);
    return ok || cn_fail_in(err, "%s", path);
}
