/* The cache: entries are found again, and evicted in the order of their last use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/cache.h"

static struct cn_cached *add(struct cn_cache *cache, const char *key, uint64_t cost)
{
    char *value = cn_strdup(key);
    struct cn_cached *entry = cn_cache_add(cache, key, value, cost);

    if (!entry)
        free(value);
    return entry;
}

/* The keys from the least to the most recently used one. */
static void assert_keys(const struct cn_cache *cache, const char *expected)
{
    char keys[64] = "";

    for (const struct cn_cached *at = cache->oldest; at; at = at->newer)
        strcat(keys, at->key);
    assert_string_equal(keys, expected);
    assert_int_equal(cache->count, strlen(expected));
}

static void evicts_the_least_recently_used(void **state)
{
    struct cn_cache cache = {.count_max = 3, .free_value = free};

    (void)state;
    assert_null(cn_cache_find(&cache, "a"));
    add(&cache, "a", 0);
    add(&cache, "b", 0);
    add(&cache, "c", 0);
    assert_string_equal(cn_cache_find(&cache, "a")->value, "a");
    add(&cache, "d", 0);
    assert_keys(&cache, "cad");
    assert_null(cn_cache_find(&cache, "b"));
    cn_cache_done(&cache);
    assert_keys(&cache, "");
}

static void evicts_as_many_as_the_cost_requires(void **state)
{
    struct cn_cache cache = {.cost_max = 100, .free_value = free};
    struct cn_cached *c;

    (void)state;
    add(&cache, "a", 30);
    add(&cache, "b", 30);
    c = add(&cache, "c", 30);
    assert_keys(&cache, "abc");
    add(&cache, "d", 60);
    assert_keys(&cache, "cd");
    assert_int_equal(cache.cost, 90);
    cn_cache_set_cost(&cache, c, 50);
    assert_keys(&cache, "c");
    /* An entry that is too large on its own stays, alone. */
    add(&cache, "e", 1000);
    assert_keys(&cache, "e");
    assert_true(cn_cache_make_room(&cache, 100));
    assert_keys(&cache, "");
    assert_false(cn_cache_make_room(&cache, 101));
    cn_cache_done(&cache);
}

static void pinned_entries_stay(void **state)
{
    struct cn_cache cache = {.count_max = 2, .cost_max = 100, .free_value = free};
    struct cn_cached *a, *b;

    (void)state;
    a = add(&cache, "a", 60);
    cn_cached_pin(a);
    cn_cached_pin(a);
    cn_cached_unpin(a);
    b = add(&cache, "b", 60);
    assert_keys(&cache, "ab");
    cn_cached_pin(b);
    assert_null(add(&cache, "c", 1));
    assert_false(cn_cache_make_room(&cache, 1));
    assert_keys(&cache, "ab");
    cn_cached_unpin(b);
    assert_true(cn_cache_make_room(&cache, 40));
    assert_keys(&cache, "a");
    cn_cached_unpin(a);
    cn_cache_remove(&cache, a);
    assert_keys(&cache, "");
    cn_cache_done(&cache);
}

static bool is_upper(const struct cn_cached *entry, void *arg)
{
    (void)arg;
    return entry->key[0] < 'a';
}

static void busy_entries_stay(void **state)
{
    struct cn_cache cache = {.count_max = 2, .free_value = free, .is_busy = is_upper};

    (void)state;
    add(&cache, "A", 0);
    add(&cache, "b", 0);
    add(&cache, "C", 0);
    assert_keys(&cache, "AC");
    assert_null(add(&cache, "d", 0));
    cn_cache_done(&cache);
}

static void finds_every_one_of_many(void **state)
{
    struct cn_cache cache = {.free_value = free};
    char key[16];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof(key), "%d", i);
        add(&cache, key, 1);
    }
    for (int i = 0; i < 1000; i += 2) {
        (void)snprintf(key, sizeof(key), "%d", i);
        cn_cache_remove(&cache, cn_cache_find(&cache, key));
    }
    for (int i = 0; i < 1000; i++) {
        const struct cn_cached *entry;

        (void)snprintf(key, sizeof(key), "%d", i);
        entry = cn_cache_find(&cache, key);
        assert_int_equal(entry != NULL, i % 2);
        if (entry)
            assert_string_equal(entry->value, key);
    }
    assert_int_equal(cache.cost, 500);
    cn_cache_done(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evicts_the_least_recently_used),
        cmocka_unit_test(evicts_as_many_as_the_cost_requires),
        cmocka_unit_test(pinned_entries_stay),
        cmocka_unit_test(busy_entries_stay),
        cmocka_unit_test(finds_every_one_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
