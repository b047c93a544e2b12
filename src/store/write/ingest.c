#include "store/write/ingest.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "formats/exchange/read/traces/span_set.h"
#include "formats/zorka/body.h"
#include "formats/zorka/session.h"

/* The symbols of an agent's session. */
struct ingest_session {
    char name[CN_ZORKA_SESSION_MAX];
    struct cn_zorka_session *session;
    uint64_t used_at; /* find_count of its last use */
};

/* Sessions are evicted when there are too many or their symbols take too much memory; their agents
 * are asked to send the symbols again. */
struct sessions {
    struct ingest_session *list;
    size_t count, capacity;
    struct cn_map by_name; /* hash of the name -> 1 + index */
    uint64_t find_count;
    uint64_t len_max; /* bytes of their symbols */
};

enum {
    SESSIONS_MAX = 4096,
    SESSION_LEN_MAX = 64 << 20,   /* bytes of the symbols of one session */
    SESSIONS_LEN_MAX = 256 << 20, /* of all sessions */
    CHECK_EVERY = 256,            /* finds, between checks of the memory of all */
};

/* A trace that an agent has not finished. */
struct unfinished {
    uint64_t id_high, id_low;
    struct cn_zorka_open open;
};

enum { UNFINISHED_MAX = 256 };

struct cn_store_ingest {
    struct cn_store_writer *writer;
    struct sessions sessions;
    struct cn_trace trace;
    struct cn_span_set spans;       /* of one body after the other */
    struct unfinished **unfinished; /* the oldest first */
    size_t unfinished_count;
    struct cn_store_ingest_counts counts;
};

struct cn_store_ingest *cn_store_ingest_new(struct cn_store_writer *writer)
{
    struct cn_store_ingest *ingest = cn_alloc(1, sizeof(*ingest));

    ingest->writer = writer;
    ingest->sessions.len_max = SESSIONS_LEN_MAX;
    ingest->spans.unpacked_max = CN_STORE_SPANS_LEN_MAX;
    ingest->spans.skips_bad = true;
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
    for (size_t i = 0; i < ingest->sessions.count; i++)
        cn_zorka_session_free(ingest->sessions.list[i].session);
    free(ingest->sessions.list);
    cn_map_done(&ingest->sessions.by_name);
    cn_trace_done(&ingest->trace);
    cn_span_set_done(&ingest->spans);
    free(ingest);
}

void cn_store_ingest_share(struct cn_store_ingest *ingest, unsigned count)
{
    uint64_t share = SESSIONS_LEN_MAX / count;

    ingest->sessions.len_max = share > SESSION_LEN_MAX ? share : SESSION_LEN_MAX;
}

struct cn_store_ingest_counts cn_store_ingest_counts(const struct cn_store_ingest *ingest)
{
    return ingest->counts;
}

static uint64_t key_of(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

/* Evict the half that was not used for the longest time. */
static void evict_sessions(struct sessions *sessions)
{
    size_t kept = sessions->count / 2;

    CN_SORT(sessions->list, sessions->count, CN_DOWN(struct ingest_session, used_at));
    for (size_t i = kept; i < sessions->count; i++)
        cn_zorka_session_free(sessions->list[i].session);
    sessions->count = kept;
    cn_map_done(&sessions->by_name);
    for (size_t i = 0; i < kept; i++)
        *cn_map_at(&sessions->by_name, key_of(sessions->list[i].name), 0) =
            (uint32_t)i + 1;
}

static uint64_t symbols_len(const struct sessions *sessions)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < sessions->count; i++)
        sum += cn_zorka_session_len(sessions->list[i].session);
    return sum;
}

/* The session of this name, created if needed. Valid until the next call. */
static struct cn_zorka_session *find_session(struct sessions *sessions, const char *name)
{
    uint32_t number;

    sessions->find_count++;
    if (sessions->count >= SESSIONS_MAX)
        evict_sessions(sessions);
    if (sessions->find_count % CHECK_EVERY == 0)
        while (sessions->count > 0 && symbols_len(sessions) > sessions->len_max)
            evict_sessions(sessions);
    number = cn_map_find(&sessions->by_name, key_of(name), 0);
    /* Names with the same hash replace each other. */
    if (number == 0 || strcmp(sessions->list[number - 1].name, name) != 0) {
        CN_GROW(sessions->list, sessions->count, sessions->capacity);
        number = (uint32_t)++sessions->count;
        sessions->list[number - 1] =
            (struct ingest_session){.session = cn_zorka_session_new()};
        memcpy(sessions->list[number - 1].name, name,
               strnlen(name, CN_ZORKA_SESSION_MAX - 1));
        *cn_map_at(&sessions->by_name, key_of(sessions->list[number - 1].name), 0) =
            number;
    }
    struct ingest_session *found = &sessions->list[number - 1];
    found->used_at = sessions->find_count;
    if (cn_zorka_session_len(found->session) > SESSION_LEN_MAX)
        cn_zorka_session_reset(found->session);
    return found->session;
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

static void drop_unfinished(struct cn_store_ingest *ingest, size_t i)
{
    if (i >= ingest->unfinished_count)
        return;
    free(ingest->unfinished[i]);
    ingest->unfinished_count--;
    memmove(&ingest->unfinished[i], &ingest->unfinished[i + 1],
            (ingest->unfinished_count - i) * sizeof(ingest->unfinished[0]));
}

static void note_unfinished(struct cn_store_ingest *ingest,
                            const struct cn_zorka_request *request)
{
    struct unfinished *trace = cn_alloc(1, sizeof(*trace));

    drop_unfinished(ingest, find_unfinished(ingest, request));
    if (ingest->unfinished_count == UNFINISHED_MAX)
        drop_unfinished(ingest, 0);
    trace->id_high = request->id_high;
    trace->id_low = request->id_low;
    cn_zorka_open_set(&trace->open, &ingest->trace);
    ingest->unfinished[ingest->unfinished_count++] = trace;
}

/* Without a request head the id is a hash: the same body is the same trace. */
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

/* Agents send the service as an attribute of the first call, if at all. */
static void set_service(struct cn_trace *trace, struct cn_words *words)
{
    static const char *const names[] = {"service.name", "service"};

    if (trace->nodes[0].span == CN_NONE)
        return;
    struct cn_trace_span *span = &trace->spans[trace->nodes[0].span];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && span->service == 0; i++) {
        struct cn_bytes name = cn_bytes_of(names[i]);
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
        drop_unfinished(ingest, find_unfinished(ingest, request));
    else
        note_unfinished(ingest, request);
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

        if (!cn_store_writer_begin(ingest->writer, &words, err))
            return false;
        uint32_t mark = words->count;
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
    struct cn_zorka_session *session = find_session(&ingest->sessions, request->session);
    struct cn_zorka_body body;
    size_t open = find_unfinished(ingest, request);

    if (request->is_reset)
        cn_zorka_session_reset(session);
    cn_zorka_body_begin(&body, session, request->body);
    if (open < ingest->unfinished_count &&
        cn_zorka_open_continues(&ingest->unfinished[open]->open, request->body))
        body.resume = &ingest->unfinished[open]->open;
    bool ok = read_body(ingest, session, &body, request, err);
    ingest->counts.requests++;
    ingest->counts.refused += !ok;
    ingest->counts.symbols += body.symbol_count;
    cn_zorka_body_done(&body);
    return ok;
}

void cn_store_ingest_learn(struct cn_store_ingest *ingest,
                           const struct cn_zorka_request *request, bool has_symbols)
{
    struct cn_zorka_session *session = find_session(&ingest->sessions, request->session);
    struct cn_zorka_body body;

    if (request->is_reset)
        cn_zorka_session_reset(session);
    if (!has_symbols)
        return;
    cn_zorka_body_begin(&body, session, request->body);
    cn_zorka_body_read_symbols(&body);
    cn_zorka_body_done(&body);
}

bool cn_store_ingest_trace(struct cn_store_ingest *ingest, const struct cn_trace *trace,
                           struct cn_error *err)
{
    return cn_store_writer_add(ingest->writer, trace, &ingest->counts.added, err);
}

static bool add_spans(struct cn_store_ingest *ingest, struct cn_span_set *set,
                      struct cn_error *err)
{
    struct cn_trace trace;
    enum cn_step step;

    while ((step = cn_span_set_next(set, &trace, err)) == CN_ITEM)
        if (!cn_store_ingest_trace(ingest, &trace, err))
            return false;
    return step == CN_END;
}

bool cn_store_ingest_spans(struct cn_store_ingest *ingest, struct cn_bytes body,
                           uint64_t *rejected, struct cn_error *err)
{
    struct cn_span_set *set = &ingest->spans;

    cn_span_set_clear(set);
    bool ok = cn_span_set_read(set, body, err) && add_spans(ingest, set, err);
    *rejected = set->bad_count;
    ingest->counts.requests++;
    ingest->counts.refused += !ok;
    return ok;
}
