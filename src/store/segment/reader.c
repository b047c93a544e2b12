#include "store/segment/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "store/segment/java_probe.h"
#include "store/segment/opened.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"

void cn_store_close(struct cn_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->count; i++)
        cn_segment_close(store->segments[i]);
    if (store->bucket)
        store->close_bucket(store->bucket);
    for (size_t i = 0; i < store->missing_count; i++)
        free(store->missing[i]);
    free(store->missing);
    free(store->segments);
    free(store);
}

size_t cn_store_missing_count(const struct cn_store *store)
{
    return store->missing_count;
}

const char *cn_store_missing(const struct cn_store *store, size_t i)
{
    return store->missing[i];
}

bool cn_store_look(const struct cn_store *store, bool *is_changed, struct cn_error *err)
{
    return store->look(store->bucket, is_changed, err);
}

uint64_t cn_store_look_ns(const struct cn_store *store)
{
    return store->look_ns;
}

size_t cn_store_segment_count(const struct cn_store *store)
{
    return store->count;
}

const struct cn_segment *cn_store_segment(const struct cn_store *store, size_t i)
{
    return store->segments[i];
}

/* The earlier segment of this number if it is sealed and unchanged, else NULL. Numbers ascend. */
static struct cn_segment *share_sealed(const struct cn_store *earlier, uint32_t number,
                                       size_t *at)
{
    while (earlier && *at < earlier->count && earlier->segments[*at]->number < number)
        ++*at;
    return earlier && *at < earlier->count && earlier->segments[*at]->number == number
               ? cn_segment_share(earlier->segments[*at])
               : NULL;
}

static bool open_segments(struct cn_store *store, const char *base,
                          const uint32_t *numbers, size_t count,
                          const struct cn_store *earlier, struct cn_error *err)
{
    size_t at = 0;

    store->count = 0;
    store->segments = cn_alloc(count, sizeof(struct cn_segment *));
    for (size_t i = 0; i < count; i++) {
        store->segments[store->count] = share_sealed(earlier, numbers[i], &at);
        /* Expiry may remove a segment between listing and opening it. */
        if (store->segments[store->count] ||
            cn_segment_open(&store->segments[store->count], base, numbers[i], err))
            store->count++;
        else if (err->kind != CN_ERR_NOT_FOUND)
            return false;
    }
    return true;
}

static bool open_listed(struct cn_store *store, const char *base,
                        const struct cn_store *earlier, size_t *listed,
                        struct cn_error *err)
{
    uint32_t *numbers = NULL;

    if (!cn_segments_list(base, &numbers, listed, err))
        return false;
    bool ok = open_segments(store, base, numbers, *listed, earlier, err);
    free(numbers);
    return ok;
}

static void close_segments(struct cn_store *store)
{
    for (size_t i = 0; i < store->count; i++)
        cn_segment_close(store->segments[i]);
    free(store->segments);
    store->segments = NULL;
    store->count = 0;
}

/* Segments that were removed after they were listed may have been joined into another one. */
static bool open_base(struct cn_store *store, const char *base,
                      const struct cn_store *earlier, struct cn_error *err)
{
    enum { TRIES = 8 };
    size_t listed = 0;

    if (!cn_segments_check_store(base, err))
        return false;
    for (int i = 0; i < TRIES; i++) {
        if (!open_listed(store, base, earlier, &listed, err))
            return false;
        if (store->count == listed)
            return true;
        if (i < TRIES - 1)
            close_segments(store);
    }
    return store->count > 0; /* else with the error of the last one */
}

/* Open "BASE/00002a" alone. */
static bool open_one(struct cn_store *store, const char *path, uint32_t number,
                     struct cn_error *err)
{
    char *base = cn_strdup(path), *slash = strrchr(base, '/');

    if (slash)
        *slash = '\0';
    bool ok = open_segments(store, slash ? base : ".", &number, 1, NULL, err);
    free(base);
    return ok && (store->count == 1 || cn_fail_in(err, "%s", path));
}

bool cn_store_open_again(struct cn_store **out, const char *path,
                         const struct cn_store *earlier, struct cn_error *err)
{
    struct cn_store *store = cn_alloc(1, sizeof(*store));
    uint32_t number;
    bool ok = cn_path_is_address(path) ? cn_remote_store_open(store, path, earlier, err)
              : cn_segments_parse(path, &number) ? open_one(store, path, number, err)
                                                 : open_base(store, path, earlier, err);

    if (!ok) {
        cn_store_close(store);
        return false;
    }
    *out = store;
    return true;
}

bool cn_store_open(struct cn_store **out, const char *path, struct cn_error *err)
{
    return cn_java_store_refuse(path, err) && cn_store_open_again(out, path, NULL, err);
}

bool cn_store_open_some(struct cn_store **out, const char *base, const uint32_t *numbers,
                        size_t count, struct cn_error *err)
{
    struct cn_store *store = cn_alloc(1, sizeof(*store));

    if (!open_segments(store, base, numbers, count, NULL, err)) {
        cn_store_close(store);
        return false;
    }
    *out = store;
    return true;
}
