#include "base/cache.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

static struct cn_cached **chain_of(struct cn_cache *cache, const char *key)
{
    return &cache->chains[XXH3_64bits(key, strlen(key)) % CN_CACHE_CHAINS];
}

static void link_newest(struct cn_cache *cache, struct cn_cached *entry)
{
    entry->used_at = ++cache->clock;
    entry->older = cache->newest;
    entry->newer = NULL;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

static void take_out(struct cn_cache *cache, struct cn_cached *entry)
{
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
}

struct cn_cached *cn_cache_find(struct cn_cache *cache, const char *key)
{
    struct cn_cached *entry = *chain_of(cache, key);

    while (entry && strcmp(entry->key, key) != 0)
        entry = entry->next;
    if (entry) {
        take_out(cache, entry);
        link_newest(cache, entry);
    }
    return entry;
}

void cn_cache_remove(struct cn_cache *cache, struct cn_cached *entry)
{
    struct cn_cached **link = chain_of(cache, entry->key);

    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    take_out(cache, entry);
    cache->count--;
    cache->cost -= entry->cost;
    cache->free_value(entry->value);
    free(entry->key);
    free(entry);
}

void cn_cache_done(struct cn_cache *cache)
{
    while (cache->oldest)
        cn_cache_remove(cache, cache->oldest);
}

/* Evict the least recently used entry that is not in use; false if there is none. */
static bool evict(struct cn_cache *cache, const struct cn_cached *spared)
{
    struct cn_cached *entry = cache->oldest;

    while (entry && (entry == spared || entry->pin_count > 0 ||
                     (cache->is_busy && cache->is_busy(entry, cache->arg))))
        entry = entry->newer;
    if (entry)
        cn_cache_remove(cache, entry);
    return entry != NULL;
}

static bool make_room(struct cn_cache *cache, uint64_t cost,
                      const struct cn_cached *spared)
{
    while (cache->cost_max > 0 && cache->cost + cost > cache->cost_max)
        if (!evict(cache, spared))
            return false;
    return true;
}

bool cn_cache_make_room(struct cn_cache *cache, uint64_t cost)
{
    return make_room(cache, cost, NULL);
}

struct cn_cached *cn_cache_add(struct cn_cache *cache, const char *key, void *value,
                               uint64_t cost)
{
    struct cn_cached **chain = chain_of(cache, key);
    struct cn_cached *entry;

    while (cache->count_max > 0 && cache->count >= cache->count_max)
        if (!evict(cache, NULL))
            return NULL;
    entry = cn_alloc(1, sizeof(*entry));
    *entry = (struct cn_cached){.key = cn_strdup(key), .value = value, .next = *chain};
    *chain = entry;
    link_newest(cache, entry);
    cache->count++;
    cn_cache_set_cost(cache, entry, cost);
    return entry;
}

void cn_cache_set_cost(struct cn_cache *cache, struct cn_cached *entry, uint64_t cost)
{
    cache->cost += cost - entry->cost;
    entry->cost = cost;
    (void)make_room(cache, 0, entry);
}
