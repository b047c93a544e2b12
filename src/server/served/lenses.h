/* A source seen through lenses (analyze/lens/lens.h): each is a source of its own, with a database
 * that a job makes, and views of that. The most recently used ones are cached.
 *
 *     if (!cn_served_lens_borrow(served, &lens, &shown, &entry, err)) ...
 *     ... shown->db, shown->views ...
 *     cn_served_lens_return(served, entry);
 *
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_LENSES_H
#define CN_SERVER_SERVED_LENSES_H

#include <pthread.h>

#include "base/cache.h"
#include "base/error.h"

struct cn_lens;
struct cn_served;

struct cn_served_lenses {
    pthread_mutex_t lock; /* of the cache */
    struct cn_cache cache;
};

void cn_served_lenses_init(struct cn_served_lenses *lenses);

/* Before what they show is closed. */
void cn_served_lenses_done(struct cn_served_lenses *lenses);

/* The source through a lens, which is taken. Fails with CN_ERR_BUSY while its database is made. */
CN_CHECK bool cn_served_lens_borrow(struct cn_served *whole, struct cn_lens *lens,
                                    struct cn_served **out, struct cn_cached **entry,
                                    struct cn_error *err);
void cn_served_lens_return(struct cn_served *whole, struct cn_cached *entry);

#endif
