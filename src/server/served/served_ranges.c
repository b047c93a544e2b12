#include "server/served/served_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void cn_served_ranges_init(struct cn_served_ranges *ranges, struct cn_chore_group *chores)
{
    *ranges = (struct cn_served_ranges){.chores = chores};
    (void)pthread_mutex_init(&ranges->lock, NULL);
}

static void empty(struct cn_served_range *range)
{
    cn_chore_end(&range->chore);
    cn_thread_list_done(&range->threads);
    cn_text_done(&range->answer);
    free(range->key);
    *range = (struct cn_served_range){0};
}

void cn_served_ranges_done(struct cn_served_ranges *ranges)
{
    for (size_t i = 0; i < CN_SERVED_RANGE_MAX; i++)
        empty(&ranges->list[i]);
    (void)pthread_mutex_destroy(&ranges->lock);
}

/* The place of a question, or else the one that was not used for longest; NULL when all are
 * in use. */
static struct cn_served_range *find(struct cn_served_ranges *ranges, const char *key)
{
    struct cn_served_range *oldest = NULL;

    for (size_t i = 0; i < CN_SERVED_RANGE_MAX; i++) {
        struct cn_served_range *range = &ranges->list[i];

        if (range->key && strcmp(range->key, key) == 0)
            return range;
        if (range->user_count == 0 && !cn_chore_is_working(&range->chore) &&
            (!oldest || range->used_at < oldest->used_at))
            oldest = range;
    }
    return oldest;
}

/* With the lock held. */
static bool renew(struct cn_served_ranges *ranges, struct cn_served_range *range,
                  const char *key, cn_range_set_up_fn set_up, void *arg,
                  struct cn_error *err)
{
    empty(range);
    range->chore.group = ranges->chores;
    range->chore.arg = range;
    range->chore.what = "this part of time";
    if (!set_up(arg, range, err)) {
        empty(range);
        return false;
    }
    range->key = cn_strdup(key);
    return true;
}

bool cn_served_range_borrow(struct cn_served_ranges *ranges, const char *key,
                            cn_range_set_up_fn set_up, void *arg,
                            struct cn_served_range **out, struct cn_error *err)
{
    struct cn_served_range *range;
    bool ok = true;

    (void)pthread_mutex_lock(&ranges->lock);
    range = find(ranges, key);
    if (!range)
        ok = cn_fail(err, CN_ERR_INTERRUPTED, "%d other parts of time are worked out",
                     CN_SERVED_RANGE_MAX);
    else if (!range->key || strcmp(range->key, key) != 0)
        ok = renew(ranges, range, key, set_up, arg, err);
    if (ok) {
        range->user_count++;
        range->used_at = ++ranges->use_count;
        *out = range;
    }
    (void)pthread_mutex_unlock(&ranges->lock);
    return ok;
}

void cn_served_range_return(struct cn_served_ranges *ranges,
                            struct cn_served_range *range)
{
    (void)pthread_mutex_lock(&ranges->lock);
    range->user_count--;
    (void)pthread_mutex_unlock(&ranges->lock);
}
