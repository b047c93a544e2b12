/* Removes objects that are no longer part of a store. Safe to kill, and to run twice or on two
 * machines at once: an entry is removed after its objects, and its number stays taken by the note
 * that it is gone. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/map.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "store/bucket/bucket.h"

#define ENTRIES   "manifest/"
#define SEGMENTS  "segments/"
#define GONE      ".gone"
#define COLLECTOR "collector-"
enum { NUMBER_LEN = 6, TOGETHER = 64 };
static const uint64_t orphan_ns = UINT64_C(24) * 3600 * 1000000000;

/* Objects of a segment. */
struct sweep_found {
    char id[CN_MANIFEST_ID_LEN + 1];
    char **keys;
    size_t key_count, key_capacity;
    uint64_t len, changed_ns; /* of the newest */
};

struct sweep {
    struct cn_bucket *bucket;
    uint64_t now_ns, grace_ns;
    struct cn_map gone;     /* numbers of segments that are gone for long enough */
    struct cn_map gone_now; /* of those that are not */
    uint32_t *entries;      /* numbers with an entry */
    size_t entry_count, entry_capacity;
    struct sweep_found *segments;
    size_t count, capacity;
    struct cn_names known, doomed; /* ids */
    bool has_looked_again;         /* before orphans are removed */
    struct cn_names known_later;
    struct cn_bucket_swept swept;
};

/* False without a date: an answer that was spoiled on its way. */
static bool is_older(const struct sweep *sweep, uint64_t changed_ns, uint64_t age_ns)
{
    return changed_ns > 0 && sweep->now_ns >= changed_ns &&
           sweep->now_ns - changed_ns >= age_ns;
}

static bool note_entry(void *arg, const struct cn_s3_object *object, struct cn_error *err)
{
    struct sweep *sweep = arg;
    const char *name = object->key + strlen(ENTRIES);

    if (strncmp(name, COLLECTOR, strlen(COLLECTOR)) == 0 &&
        is_older(sweep, object->changed_ns, orphan_ns))
        return cn_s3_remove(sweep->bucket->s3, object->key, err);
    if (!cn_hex_begins(name, NUMBER_LEN))
        return true;
    uint32_t number = (uint32_t)strtoul(name, NULL, 16);
    if (strcmp(name + NUMBER_LEN, GONE) == 0) {
        *cn_map_at(is_older(sweep, object->changed_ns, sweep->grace_ns)
                       ? &sweep->gone
                       : &sweep->gone_now,
                   number, 0) = 1;
    } else if (name[NUMBER_LEN] == '\0') {
        CN_PUSH(sweep->entries, sweep->entry_count, sweep->entry_capacity, number);
    }
    return true;
}

/* Keys are sorted: those of a segment follow each other. */
static bool note_object(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    struct sweep *sweep = arg;
    const char *id = object->key + strlen(SEGMENTS);
    struct sweep_found *last =
        sweep->count > 0 ? &sweep->segments[sweep->count - 1] : NULL;

    (void)err;
    if (!cn_hex_begins(id, CN_MANIFEST_ID_LEN) || id[CN_MANIFEST_ID_LEN] != '/')
        return true;
    if (!last || strncmp(last->id, id, CN_MANIFEST_ID_LEN) != 0) {
        CN_GROW(sweep->segments, sweep->count, sweep->capacity);
        last = &sweep->segments[sweep->count++];
        *last = (struct sweep_found){0};
        memcpy(last->id, id, CN_MANIFEST_ID_LEN);
    }
    CN_PUSH(last->keys, last->key_count, last->key_capacity, cn_strdup(object->key));
    last->len += object->len;
    if (object->changed_ns > last->changed_ns)
        last->changed_ns = object->changed_ns;
    return true;
}

/* The ids of entries that are gone; the others are known from the manifest. A list that was spoiled on its
 * way may have notes that do not exist. */
static bool read_gone(struct sweep *sweep, struct cn_error *err)
{
    struct cn_text text = {0};
    bool is_found, ok = true;

    for (size_t i = 0; ok && i < sweep->entry_count; i++) {
        bool is_gone = cn_map_find(&sweep->gone, sweep->entries[i], 0) != 0;
        char key[32];

        if (!is_gone && !cn_map_find(&sweep->gone_now, sweep->entries[i], 0))
            continue;
        (void)snprintf(key, sizeof(key), ENTRIES "%06x" GONE, sweep->entries[i]);
        ok = cn_s3_get_twice(sweep->bucket->s3, key, &text, &is_found, err);
        if (ok && is_found)
            (void)cn_names_add(is_gone ? &sweep->doomed : &sweep->known,
                               cn_text_str(&text));
        else if (ok && is_gone)
            *cn_map_at(&sweep->gone, sweep->entries[i], 0) = 0;
    }
    cn_text_done(&text);
    return ok;
}

static bool remove_keys(struct cn_s3 *s3, char *const *keys, size_t count,
                        struct cn_error *err)
{
    struct cn_s3_request requests[TOGETHER];
    bool ok = true;

    for (size_t at = 0; ok && at < count; at += TOGETHER) {
        size_t n = count - at < TOGETHER ? count - at : TOGETHER;

        for (size_t i = 0; i < n; i++)
            requests[i] =
                (struct cn_s3_request){.method = CN_S3_DELETE, .key = keys[at + i]};
        ok = cn_s3_run(s3, requests, n, err);
        for (size_t i = 0; i < n; i++)
            cn_text_done(&requests[i].answer);
    }
    return ok;
}

static bool note_newest(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    uint64_t *newest_ns = arg;

    (void)err;
    if (object->changed_ns > *newest_ns)
        *newest_ns = object->changed_ns;
    return true;
}

/* A list that was spoiled on its way may lack an entry: ask again before anything is removed. */
static bool look_again(struct sweep *sweep, struct cn_error *err)
{
    struct cn_manifest manifest;

    if (sweep->has_looked_again)
        return true;
    if (!cn_bucket_read_manifest(sweep->bucket, &manifest, err))
        return false;
    sweep->has_looked_again = true;
    for (size_t i = 0; i < manifest.count; i++)
        (void)cn_names_add(&sweep->known_later, manifest.entries[i]->id);
    cn_manifest_done(&manifest);
    return true;
}

/* A collector that was away for long may be sending an orphan again, to name it: look once more. */
static bool is_still_orphan(struct sweep *sweep, const struct sweep_found *found,
                            bool *out, struct cn_error *err)
{
    char begin[sizeof(SEGMENTS) + CN_MANIFEST_ID_LEN + 1];
    uint64_t newest_ns = 0;

    (void)snprintf(begin, sizeof(begin), SEGMENTS "%s/", found->id);
    if (!look_again(sweep, err) ||
        !cn_s3_list(sweep->bucket->s3, begin, note_newest, &newest_ns, err))
        return false;
    *out = is_older(sweep, newest_ns, orphan_ns) &&
           !cn_names_had(&sweep->known_later, found->id);
    return true;
}

/* Live segments are known; an id that is both known and gone was named twice. */
static bool remove_segments(struct sweep *sweep, struct cn_error *err)
{
    for (size_t i = 0; i < sweep->count; i++) {
        const struct sweep_found *found = &sweep->segments[i];
        bool is_doomed, is_orphan;

        if (cn_names_had(&sweep->known, found->id))
            continue;
        is_doomed = cn_names_had(&sweep->doomed, found->id);
        is_orphan = !is_doomed && is_older(sweep, found->changed_ns, orphan_ns);
        if (is_orphan && !is_still_orphan(sweep, found, &is_orphan, err))
            return false;
        if (!is_doomed && !is_orphan)
            continue;
        if (!remove_keys(sweep->bucket->s3, found->keys, found->key_count, err))
            return false;
        sweep->swept.segments += is_doomed;
        sweep->swept.orphans += !is_doomed;
        sweep->swept.len += found->len;
    }
    return true;
}

static bool remove_entries(struct sweep *sweep, struct cn_error *err)
{
    for (size_t i = 0; i < sweep->entry_count; i++) {
        char key[32];

        (void)snprintf(key, sizeof(key), ENTRIES "%06x", sweep->entries[i]);
        if (cn_map_find(&sweep->gone, sweep->entries[i], 0) &&
            !cn_s3_remove(sweep->bucket->s3, key, err))
            return false;
    }
    return true;
}

/* Entries that lost against others are marked first: then none of them can count when what they
 * lost against is removed. */
static bool mark_dead(struct sweep *sweep, struct cn_error *err)
{
    struct cn_manifest manifest;
    bool ok = true;

    if (!cn_bucket_read_manifest(sweep->bucket, &manifest, err))
        return false;
    for (size_t i = manifest.dead_count; ok && i-- > 0;)
        ok = cn_bucket_mark_gone(sweep->bucket, manifest.dead[i], err);
    for (size_t i = 0; i < manifest.count; i++)
        (void)cn_names_add(&sweep->known, manifest.entries[i]->id);
    cn_manifest_done(&manifest);
    return ok;
}

bool cn_bucket_sweep(struct cn_bucket *bucket, uint64_t grace_ns,
                     struct cn_bucket_swept *out, struct cn_error *err)
{
    struct sweep sweep = {
        .bucket = bucket, .now_ns = cn_clock_date_ns(), .grace_ns = grace_ns};
    /* Objects are listed before the manifest: what is named in between is known. */
    bool ok = cn_s3_list(bucket->s3, SEGMENTS, note_object, &sweep, err) &&
              mark_dead(&sweep, err) &&
              cn_s3_list(bucket->s3, ENTRIES, note_entry, &sweep, err) &&
              read_gone(&sweep, err) && remove_segments(&sweep, err) &&
              remove_entries(&sweep, err);

    for (size_t i = 0; i < sweep.count; i++) {
        for (size_t k = 0; k < sweep.segments[i].key_count; k++)
            free(sweep.segments[i].keys[k]);
        free(sweep.segments[i].keys);
    }
    free(sweep.segments);
    free(sweep.entries);
    cn_map_done(&sweep.gone);
    cn_map_done(&sweep.gone_now);
    cn_names_done(&sweep.known);
    cn_names_done(&sweep.doomed);
    cn_names_done(&sweep.known_later);
    if (ok)
        *out = sweep.swept;
    return ok;
}
