#include "formats/zorka/session.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"

/* The word of a symbol in the target, valid while `epoch` is the session's. */
struct symbol {
    uint32_t word; /* in the session's own dictionary */
    uint32_t target;
    uint32_t epoch;
    enum cn_word_kind kind; /* that the target has */
};

struct symbols {
    struct cn_map by_id; /* number of the agent -> index */
    struct symbol *list;
    size_t count, capacity;
};

struct cn_zorka_session {
    struct cn_words words; /* as sent */
    struct symbols strings, methods;
    struct cn_words *target;
    uint32_t epoch;
};

struct cn_zorka_session *cn_zorka_session_new(void)
{
    struct cn_zorka_session *session = cn_alloc(1, sizeof(*session));

    session->epoch = 1;
    return session;
}

static void symbols_done(struct symbols *symbols)
{
    cn_map_done(&symbols->by_id);
    free(symbols->list);
    *symbols = (struct symbols){0};
}

void cn_zorka_session_reset(struct cn_zorka_session *session)
{
    symbols_done(&session->strings);
    symbols_done(&session->methods);
    cn_words_done(&session->words);
}

void cn_zorka_session_free(struct cn_zorka_session *session)
{
    if (!session)
        return;
    cn_zorka_session_reset(session);
    free(session);
}

static void set(struct symbols *symbols, uint32_t id, uint32_t word)
{
    uint32_t *index = cn_map_at(&symbols->by_id, id, (uint32_t)symbols->count);

    if (*index == symbols->count) {
        symbols->list = cn_grow(symbols->list, symbols->count, &symbols->capacity,
                                sizeof(*symbols->list));
        symbols->count++;
    }
    symbols->list[*index] = (struct symbol){.word = word};
}

static struct symbol *find(struct symbols *symbols, uint64_t id)
{
    uint32_t index = cn_map_find(&symbols->by_id, id, UINT32_MAX);

    return index == UINT32_MAX ? NULL : &symbols->list[index];
}

void cn_zorka_session_add_string(struct cn_zorka_session *session, uint32_t id,
                                 struct cn_bytes text)
{
    set(&session->strings, id, cn_words_add(&session->words, CN_WORD_TEXT, text));
}

bool cn_zorka_session_add_method(struct cn_zorka_session *session, uint32_t id,
                                 const uint32_t strings[3])
{
    uint32_t parts[3];

    for (int i = 0; i < 3; i++) {
        const struct symbol *symbol = find(&session->strings, strings[i]);

        if (!symbol)
            return false;
        parts[i] = symbol->word;
    }
    set(&session->methods, id,
        cn_words_add_parts(&session->words, CN_WORD_METHOD, parts, 3));
    return true;
}

void cn_zorka_session_target(struct cn_zorka_session *session, struct cn_words *words)
{
    if (session->target == words)
        return;
    session->target = words;
    session->epoch++;
}

void cn_zorka_session_retarget(struct cn_zorka_session *session)
{
    session->target = NULL;
}

bool cn_zorka_session_string(struct cn_zorka_session *session, uint64_t id,
                             enum cn_word_kind kind, uint32_t *word)
{
    struct symbol *symbol = find(&session->strings, id);

    if (!symbol)
        return false;
    if (symbol->epoch != session->epoch || symbol->kind != kind) {
        symbol->target = cn_words_add(session->target, kind,
                                      cn_word_bytes(&session->words, symbol->word));
        symbol->epoch = session->epoch;
        symbol->kind = kind;
    }
    *word = symbol->target;
    return true;
}

/* The session's strings have no kind of their own; a method gives them one. */
static uint32_t method_word(const struct cn_zorka_session *session, uint32_t method)
{
    static const enum cn_word_kind kinds[3] = {CN_WORD_CLASS, CN_WORD_METHOD_NAME,
                                               CN_WORD_SIGNATURE};
    uint32_t parts[3];

    for (size_t i = 0; i < 3; i++)
        parts[i] = cn_words_add(
            session->target, kinds[i],
            cn_word_bytes(&session->words, cn_word_part(&session->words, method, i)));
    return cn_words_add_parts(session->target, CN_WORD_METHOD, parts, 3);
}

bool cn_zorka_session_method(struct cn_zorka_session *session, uint64_t id,
                             uint32_t *word)
{
    struct symbol *symbol = find(&session->methods, id);

    if (!symbol)
        return false;
    if (symbol->epoch != session->epoch) {
        symbol->target = method_word(session, symbol->word);
        symbol->epoch = session->epoch;
    }
    *word = symbol->target;
    return true;
}
