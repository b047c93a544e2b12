/* A keyed cache that evicts the least recently used entries.
 *
 *     struct cn_cache cache = {.count_max = 8, .free_value = free_answer};
 *
 *     entry = cn_cache_find(&cache, key);
 *     if (!entry)
 *         entry = cn_cache_add(&cache, key, new_answer(), 0);
 *     cn_cached_pin(entry);
 *     ... entry->value ...
 *     cn_cached_unpin(entry);
 *     cn_cache_done(&cache);
 *
 * The cache owns keys and values. An entry stays valid until the next call that adds or
 * makes room; while it is pinned, until it is unpinned.
 * Threads: one thread at a time; threads that share a cache share a lock.
 */
#ifndef CN_BASE_CACHE_H
#define CN_BASE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_cached {
    char *key;
    void *value;
    uint64_t cost;    /* bytes */
    uint64_t used_at; /* the cache's clock when it was added or last found */
    unsigned pin_count;
    struct cn_cached *older, *newer; /* by last use */
    struct cn_cached *next;          /* of the same hash */
};

enum { CN_CACHE_CHAINS = 64 };

struct cn_cache {
    /* Set by the owner. */
    size_t count_max;  /* entries; 0: no limit */
    uint64_t cost_max; /* bytes of all entries; 0: no limit */
    void (*free_value)(void *value);
    /* True if an entry must not be evicted although it is not pinned; may be NULL. */
    bool (*is_busy)(const struct cn_cached *entry, void *arg);
    void *arg;

    /* Maintained by the functions below; zero at first. */
    struct cn_cached *oldest, *newest; /* by last use */
    struct cn_cached *chains[CN_CACHE_CHAINS];
    size_t count;
    uint64_t cost, clock;
};

void cn_cache_done(struct cn_cache *cache); /* frees all entries, pinned or not */

/* The entry of a key, now the most recently used one; NULL if there is none. */
struct cn_cached *cn_cache_find(struct cn_cache *cache, const char *key);

/* Add an entry with a key that is not in the cache, and evict others where a limit
 * requires it. NULL if `count_max` entries are in use: `value` is still the caller's
 * then. More than `cost_max` bytes are accepted when all other entries are in use. */
struct cn_cached *cn_cache_add(struct cn_cache *cache, const char *key, void *value,
                               uint64_t cost);

/* Change the cost of an entry, and evict others that no longer fit. */
void cn_cache_set_cost(struct cn_cache *cache, struct cn_cached *entry, uint64_t cost);

/* Evict until `cost` more bytes fit. False if the entries in use leave no room for
 * them. */
bool cn_cache_make_room(struct cn_cache *cache, uint64_t cost);

void cn_cache_remove(struct cn_cache *cache, struct cn_cached *entry);

static inline void cn_cached_pin(struct cn_cached *entry)
{
    entry->pin_count++;
}

static inline void cn_cached_unpin(struct cn_cached *entry)
{
    entry->pin_count--;
}

#endif
