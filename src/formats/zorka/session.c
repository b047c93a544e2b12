#include "formats/zorka/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

/* A symbol. `target` and `kind` are valid while `epoch` is that of the session. */
struct symbol {
    uint32_t word;   /* in the session's own dictionary */
    uint32_t target; /* in the target dictionary */
    uint32_t epoch;
    enum cn_word_kind kind; /* of `target` */
};

/* Agents assign ids from 1 on, with gaps: low ids are looked up in an array, others in a map,
 * so that one large id costs no memory. */
enum { DIRECT_MAX = 1 << 16, DIRECT_FIRST = 1024 };

struct symbols {
    uint32_t *direct;  /* id -> 1 + index; 0: none */
    uint32_t *targets; /* id -> word of a method in the target; 0: none yet */
    size_t direct_count;
    struct cn_map by_id; /* `direct` for ids from DIRECT_MAX on */
    struct symbol *list;
    size_t count, capacity;
};

struct cn_zorka_session {
    struct cn_words words; /* as sent */
    struct symbols strings, methods;
    struct cn_words *target;
    uint64_t target_born_ns;
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
    free(symbols->direct);
    free(symbols->targets);
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

static uint64_t symbols_len(const struct symbols *symbols)
{
    return symbols->capacity * sizeof(*symbols->list) +
           symbols->direct_count * 2 * sizeof(uint32_t) +
           symbols->by_id.capacity * sizeof(struct cn_map_slot);
}

uint64_t cn_zorka_session_len(const struct cn_zorka_session *session)
{
    return session->words.arena_capacity + session->words.count * sizeof(uint64_t) +
           symbols_len(&session->strings) + symbols_len(&session->methods);
}

static uint32_t *direct_slot(struct symbols *symbols, uint32_t id)
{
    size_t count = symbols->direct_count ? symbols->direct_count : DIRECT_FIRST;

    if (id < symbols->direct_count)
        return &symbols->direct[id];
    while (count <= id)
        count *= 2;
    symbols->direct = cn_realloc(symbols->direct, count, sizeof(*symbols->direct));
    symbols->targets = cn_realloc(symbols->targets, count, sizeof(*symbols->targets));
    memset(symbols->direct + symbols->direct_count, 0,
           (count - symbols->direct_count) * sizeof(*symbols->direct));
    memset(symbols->targets + symbols->direct_count, 0,
           (count - symbols->direct_count) * sizeof(*symbols->targets));
    symbols->direct_count = count;
    return &symbols->direct[id];
}

static void set(struct symbols *symbols, uint32_t id, uint32_t word)
{
    uint32_t *index =
        id < DIRECT_MAX ? direct_slot(symbols, id) : cn_map_at(&symbols->by_id, id, 0);

    if (*index == 0) {
        CN_GROW(symbols->list, symbols->count, symbols->capacity);
        *index = (uint32_t)++symbols->count;
    }
    symbols->list[*index - 1] = (struct symbol){.word = word};
    if (id < DIRECT_MAX)
        symbols->targets[id] = 0;
}

static struct symbol *find(struct symbols *symbols, uint64_t id)
{
    uint32_t index = id < symbols->direct_count ? symbols->direct[id]
                     : id < DIRECT_MAX          ? 0
                                                : cn_map_find(&symbols->by_id, id, 0);

    return index == 0 ? NULL : &symbols->list[index - 1];
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
    /* A store that begins a new segment has new words at the same address; born_ns is that
     * of their first word. */
    if (session->target == words && words->count > 0 &&
        session->target_born_ns == words->born_ns)
        return;
    session->target = words;
    session->target_born_ns = words->born_ns;
    session->epoch++;
    if (session->methods.targets)
        memset(session->methods.targets, 0,
               session->methods.direct_count * sizeof(*session->methods.targets));
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

/* The strings of the session have no kind; their use in a method gives them one. */
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
    if (id < session->methods.direct_count && session->methods.targets[id] != 0) {
        *word = session->methods.targets[id];
        return true;
    }
    struct symbol *symbol = find(&session->methods, id);
    if (!symbol)
        return false;
    if (symbol->epoch != session->epoch) {
        symbol->target = method_word(session, symbol->word);
        symbol->epoch = session->epoch;
    }
    *word = symbol->target;
    if (id < session->methods.direct_count)
        session->methods.targets[id] = symbol->target;
    return true;
}
