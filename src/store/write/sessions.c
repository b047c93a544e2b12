#include "store/write/sessions.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "formats/zorka/session.h"

enum { LOOK_EVERY = 256 }; /* how often the memory of all is added up */

static uint64_t key_of(const char *name)
{
    return XXH3_64bits(name, strlen(name));
}

static int compare_used(const void *a, const void *b)
{
    const struct cn_session_slot *x = a, *y = b;

    return x->used_at > y->used_at ? -1 : x->used_at < y->used_at;
}

static void index_names(struct cn_sessions *sessions)
{
    cn_map_done(&sessions->by_name);
    for (size_t i = 0; i < sessions->count; i++)
        *cn_map_at(&sessions->by_name, key_of(sessions->list[i].name), 0) =
            (uint32_t)i + 1;
}

/* Half of them, so that it is not done over and over. */
static void forget_silent(struct cn_sessions *sessions)
{
    size_t kept = sessions->count / 2;

    qsort(sessions->list, sessions->count, sizeof(*sessions->list), compare_used);
    for (size_t i = kept; i < sessions->count; i++)
        cn_zorka_session_free(sessions->list[i].session);
    sessions->count = kept;
    index_names(sessions);
}

static uint64_t symbols_len(const struct cn_sessions *sessions)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < sessions->count; i++)
        sum += cn_zorka_session_len(sessions->list[i].session);
    return sum;
}

static void make_room(struct cn_sessions *sessions)
{
    if (sessions->count >= CN_SESSIONS_MAX)
        forget_silent(sessions);
    if (sessions->find_count % LOOK_EVERY == 0)
        while (sessions->count > 0 && symbols_len(sessions) > CN_SESSIONS_LEN_MAX)
            forget_silent(sessions);
}

static struct cn_session_slot *add(struct cn_sessions *sessions, const char *name)
{
    struct cn_session_slot *slot;

    sessions->list = cn_grow(sessions->list, sessions->count, &sessions->capacity,
                             sizeof(*sessions->list));
    slot = &sessions->list[sessions->count++];
    *slot = (struct cn_session_slot){.session = cn_zorka_session_new()};
    memcpy(slot->name, name, strnlen(name, CN_ZORKA_SESSION_MAX - 1));
    *cn_map_at(&sessions->by_name, key_of(slot->name), 0) = (uint32_t)sessions->count;
    return slot;
}

struct cn_zorka_session *cn_sessions_find(struct cn_sessions *sessions, const char *name)
{
    struct cn_session_slot *slot;
    uint32_t place;

    sessions->find_count++;
    make_room(sessions);
    place = cn_map_find(&sessions->by_name, key_of(name), 0);
    /* Two names with the same hash take turns. */
    if (place == 0 || strcmp(sessions->list[place - 1].name, name) != 0)
        slot = add(sessions, name);
    else
        slot = &sessions->list[place - 1];
    slot->used_at = sessions->find_count;
    if (cn_zorka_session_len(slot->session) > CN_SESSION_LEN_MAX)
        cn_zorka_session_reset(slot->session);
    return slot->session;
}

void cn_sessions_done(struct cn_sessions *sessions)
{
    for (size_t i = 0; i < sessions->count; i++)
        cn_zorka_session_free(sessions->list[i].session);
    free(sessions->list);
    cn_map_done(&sessions->by_name);
    *sessions = (struct cn_sessions){0};
}
