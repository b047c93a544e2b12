/* The sessions of agents that an ingest knows: as many as fit.
 *
 * Whoever makes up sessions or symbols must not fill the memory. When there are too many
 * sessions, or their symbols take too much, those that were silent longest are forgotten: their
 * agents are asked to send their symbols again.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_SESSIONS_H
#define CN_STORE_WRITE_SESSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "formats/zorka/request.h"

struct cn_zorka_session;

struct cn_session_slot {
    char name[CN_ZORKA_SESSION_MAX];
    struct cn_zorka_session *session;
    uint64_t used_at; /* the number of the find that found it last */
};

/* A zeroed one is ready for use. */
struct cn_sessions {
    struct cn_session_slot *list;
    size_t count, capacity;
    struct cn_map by_name; /* hash of the name -> 1 + place */
    uint64_t find_count;
};

enum {
    CN_SESSIONS_MAX = 4096,
    CN_SESSION_LEN_MAX = 64 << 20,   /* symbols of one session */
    CN_SESSIONS_LEN_MAX = 256 << 20, /* symbols of all */
};

/* The session of this name, new or not. Valid until the next one is looked for. */
struct cn_zorka_session *cn_sessions_find(struct cn_sessions *sessions, const char *name);

void cn_sessions_done(struct cn_sessions *sessions);

#endif
