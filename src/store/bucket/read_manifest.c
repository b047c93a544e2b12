/* Reads the manifest of a store: lists its objects, fetches those that are not cached, and leaves
 * out what was removed or replaced. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/map.h"
#include "base/text.h"
#include "store/bucket/bucket.h"
#include "store/bucket/entry_cache.h"
#include "store/bucket/unsealed.h"

#define FOLDER    "manifest/"
#define GONE      ".gone"
#define COLLECTOR "collector-"
enum { NUMBER_LEN = 6, NUMBER_MAX = 0xffffff, TOGETHER = 64 };

void cn_manifest_done(struct cn_manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++)
        cn_manifest_entry_free(manifest->entries[i]);
    for (size_t i = 0; i < manifest->dead_count; i++)
        cn_manifest_entry_free(manifest->dead[i]);
    free(manifest->entries);
    free(manifest->dead);
    cn_fresh_free(manifest->fresh);
    *manifest = (struct cn_manifest){0};
}

/* What a list found. */
struct cn_manifest_names {
    uint32_t *numbers; /* with an entry */
    size_t count, capacity;
    struct cn_map gone;
    struct cn_map merged; /* first numbers of merged entries */
    uint32_t next_number;
    struct cn_manifest_collector *collectors;
    size_t collector_count, collector_capacity;
    uint64_t state; /* differs from that of another list */
};

static void take_collector(struct cn_manifest_names *names, const char *id,
                           const struct cn_s3_object *object)
{
    struct cn_manifest_collector *found;

    if (!cn_hex_begins(id, CN_MANIFEST_ID_LEN) || id[CN_MANIFEST_ID_LEN])
        return;
    CN_GROW(names->collectors, names->collector_count, names->collector_capacity);
    found = &names->collectors[names->collector_count++];
    *found = (struct cn_manifest_collector){.seen_ns = object->changed_ns,
                                            .has_url = object->len > 0};
    memcpy(found->id, id, CN_MANIFEST_ID_LEN);
}

static bool take_name(void *arg, const struct cn_s3_object *object, struct cn_error *err)
{
    struct cn_manifest_names *names = arg;
    const char *name = object->key + strlen(FOLDER);

    (void)err;
    if (strncmp(name, COLLECTOR, strlen(COLLECTOR)) == 0)
        take_collector(names, name + strlen(COLLECTOR), object);
    /* Other objects do not belong to the store. */
    if (!cn_hex_begins(name, NUMBER_LEN))
        return true;
    uint32_t number = (uint32_t)strtoul(name, NULL, 16);
    if (strcmp(name + NUMBER_LEN, CN_MANIFEST_MERGED) == 0) {
        *cn_map_at(&names->merged, number, 0) = 1;
        return true;
    }
    bool is_gone = strcmp(name + NUMBER_LEN, GONE) == 0;
    names->state = (names->state ^ (number * 2 + is_gone + 1)) * UINT64_C(0x100000001b3);
    if (number >= names->next_number)
        names->next_number = number + 1;
    if (is_gone)
        *cn_map_at(&names->gone, number, 0) = 1;
    if (name[NUMBER_LEN] != '\0')
        return true;
    CN_PUSH(names->numbers, names->count, names->capacity, number);
    return true;
}

void cn_manifest_names_free(struct cn_manifest_names *names)
{
    if (!names)
        return;
    free(names->numbers);
    free(names->collectors);
    cn_map_done(&names->gone);
    cn_map_done(&names->merged);
    free(names);
}

static struct cn_manifest_names *list_names(struct cn_bucket *bucket,
                                            struct cn_error *err)
{
    struct cn_manifest_names *names = cn_alloc(1, sizeof(*names));

    if (cn_s3_list(bucket->s3, FOLDER, take_name, names, err))
        return names;
    cn_manifest_names_free(names);
    return NULL;
}

bool cn_bucket_get_and_list(struct cn_bucket *bucket, const char *key,
                            struct cn_text *out, bool *is_found, struct cn_error *err)
{
    struct cn_manifest_names *names = cn_alloc(1, sizeof(*names));

    if (!cn_s3_get_and_list(bucket->s3, key, out, is_found, FOLDER, take_name, names,
                            err)) {
        cn_manifest_names_free(names);
        return false;
    }
    cn_lock_take(&bucket->lock);
    cn_manifest_names_free(bucket->names);
    bucket->names = names;
    cn_lock_release(&bucket->lock);
    return true;
}

static void add_entry(struct cn_manifest *manifest, struct cn_manifest_entry *entry)
{
    CN_PUSH(manifest->entries, manifest->count, manifest->capacity, entry);
}

/* False if the entry is not cached, or damaged. */
static bool read_cached(const struct cn_bucket *bucket, uint32_t number,
                        struct cn_manifest *manifest)
{
    struct cn_manifest_entry *entry = cn_entry_cache_read(bucket, number);

    if (entry)
        add_entry(manifest, entry);
    return entry != NULL;
}

/* An entry that was listed and is not found was removed since then, unless it is still listed. */
static bool check_gone(struct cn_bucket *bucket, uint32_t number, struct cn_error *err)
{
    struct cn_manifest_names *names = list_names(bucket, err);
    bool ok = names != NULL;

    for (size_t i = 0; ok && i < names->count; i++)
        if (names->numbers[i] == number && !cn_map_find(&names->gone, number, 0))
            ok = cn_fail(err, CN_ERR_IO, "%s/" FOLDER "%06x is listed, but not found",
                         bucket->address, number);
    cn_manifest_names_free(names);
    return ok;
}

static bool take_answer(struct cn_bucket *bucket, uint32_t number,
                        const struct cn_s3_request *request, struct cn_manifest *manifest,
                        struct cn_error *err)
{
    struct cn_manifest_entry *entry;
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(&request->answer),
                             request->answer.len};

    if (request->status == 404)
        return check_gone(bucket, number, err);
    if (!cn_manifest_entry_decode(bytes, &entry, err))
        return cn_fail_in(err, "%s/" FOLDER "%06x", bucket->address, number);
    if (entry->number != number) {
        (void)cn_fail(err, CN_ERR_FORMAT, "%s/" FOLDER "%06x: an entry of segment %06x",
                      bucket->address, number, entry->number);
        cn_manifest_entry_free(entry);
        return false;
    }
    add_entry(manifest, entry);
    cn_entry_cache_write(bucket, number, bytes);
    return true;
}

static bool fetch(struct cn_bucket *bucket, const uint32_t *numbers, size_t count,
                  struct cn_manifest *manifest, struct cn_error *err)
{
    struct cn_s3_request requests[TOGETHER];
    char keys[TOGETHER][sizeof(FOLDER) + NUMBER_LEN + 1];
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        (void)snprintf(keys[i], sizeof(keys[i]), FOLDER "%06x", numbers[i]);
        requests[i] = (struct cn_s3_request){.method = CN_S3_GET, .key = keys[i]};
    }
    ok = cn_s3_run(bucket->s3, requests, count, err);
    for (size_t i = 0; i < count; i++) {
        ok = ok && take_answer(bucket, numbers[i], &requests[i], manifest, err);
        cn_text_done(&requests[i].answer);
    }
    return ok;
}

/* Take entries from merged ones, where several of these are missing. Numbers ascend. Returns how many
 * are left. */
static size_t take_merged(struct cn_bucket *bucket, const struct cn_manifest_names *names,
                          uint32_t *missing, size_t count, struct cn_manifest *manifest)
{
    enum { WORTH = 4 };
    size_t kept = 0, end;

    for (size_t i = 0; i < count; i = end) {
        uint32_t first = missing[i] - missing[i] % CN_MANIFEST_TOGETHER;

        for (end = i; end < count && missing[end] - first < CN_MANIFEST_TOGETHER;)
            end++;
        if (end - i >= WORTH && cn_map_find(&names->merged, first, 0))
            cn_entry_cache_merged(bucket, first);
        else
            first = UINT32_MAX;
        for (size_t k = i; k < end; k++)
            if (first == UINT32_MAX || !read_cached(bucket, missing[k], manifest))
                missing[kept++] = missing[k];
    }
    return kept;
}

static bool read_entries(struct cn_bucket *bucket, const struct cn_manifest_names *names,
                         struct cn_manifest *manifest, struct cn_error *err)
{
    uint32_t *missing = cn_alloc(names->count, sizeof(*missing));
    size_t count = 0;
    bool ok = true;

    for (size_t i = 0; i < names->count; i++)
        if (!cn_map_find(&names->gone, names->numbers[i], 0) &&
            !read_cached(bucket, names->numbers[i], manifest))
            missing[count++] = names->numbers[i];
    count = take_merged(bucket, names, missing, count, manifest);
    for (size_t i = 0; ok && i < count; i += TOGETHER)
        ok = fetch(bucket, missing + i, count - i < TOGETHER ? count - i : TOGETHER,
                   manifest, err);
    free(missing);
    return ok;
}

static int by_number(const void *a, const void *b)
{
    const struct cn_manifest_entry *const *x = a, *const *y = b;

    return (*x)->number < (*y)->number ? -1 : (*x)->number > (*y)->number;
}

/* Entries that replace others count from the lowest number on; so do those of the same objects. */
static void leave_out_dead(struct cn_manifest *manifest)
{
    struct cn_map dead = {0};
    struct cn_names ids = {0};
    size_t kept = 0;

    for (size_t i = 0; i < manifest->count; i++) {
        struct cn_manifest_entry *entry = manifest->entries[i];
        bool counts = !cn_names_had(&ids, entry->id);

        for (size_t k = 0; k < entry->replaced_count; k++)
            counts = counts && !cn_map_find(&dead, entry->replaced[k], 0);
        for (size_t k = 0; counts && k < entry->replaced_count; k++)
            *cn_map_at(&dead, entry->replaced[k], 0) = 1;
        if (!counts)
            *cn_map_at(&dead, entry->number, 0) = 1;
    }
    manifest->dead = cn_alloc(manifest->count, sizeof(struct cn_manifest_entry *));
    for (size_t i = 0; i < manifest->count; i++) {
        if (cn_map_find(&dead, manifest->entries[i]->number, 0))
            manifest->dead[manifest->dead_count++] = manifest->entries[i];
        else
            manifest->entries[kept++] = manifest->entries[i];
    }
    manifest->count = kept;
    cn_map_done(&dead);
    cn_names_done(&ids);
}

static bool read_named(struct cn_bucket *bucket, const struct cn_manifest_names *names,
                       struct cn_manifest *out, struct cn_error *err)
{
    struct cn_manifest manifest = {.next_number = names->next_number};

    if (!read_entries(bucket, names, &manifest, err)) {
        cn_manifest_done(&manifest);
        return false;
    }
    if (manifest.count > 0)
        qsort(manifest.entries, manifest.count, sizeof(struct cn_manifest_entry *),
              by_number);
    leave_out_dead(&manifest);
    *out = manifest;
    return true;
}

bool cn_bucket_list_collectors(struct cn_bucket *bucket,
                               struct cn_manifest_collector **out, size_t *count,
                               struct cn_error *err)
{
    struct cn_manifest_names *names = list_names(bucket, err);

    if (!names)
        return false;
    *out = names->collectors;
    *count = names->collector_count;
    names->collectors = NULL;
    cn_manifest_names_free(names);
    return true;
}

/* Ask the collectors of a list, then list again: see store/bucket/unsealed.h. Takes the names over.
 * Without collectors, nothing is asked and `fresh` receives NULL. */
static struct cn_manifest_names *ask_collectors(struct cn_bucket *bucket,
                                                struct cn_manifest_names *names,
                                                struct cn_fresh **fresh,
                                                struct cn_error *err)
{
    *fresh = NULL;
    if (!names || names->collector_count == 0 || cn_s3_settings(bucket->s3)->fresh_s == 0)
        return names;
    *fresh = cn_fresh_fetch(bucket, names->collectors, names->collector_count);
    uint64_t state = cn_fresh_state(*fresh);
    if ((*fresh)->count > 0) {
        cn_manifest_names_free(names);
        names = list_names(bucket, err);
    }
    if (names) {
        names->state ^= state;
        return names;
    }
    cn_fresh_free(*fresh);
    *fresh = NULL;
    return NULL;
}

/* Takes the names over. */
static bool read_and_note(struct cn_bucket *bucket, struct cn_manifest_names *names,
                          struct cn_manifest *out, struct cn_error *err)
{
    bool ok = names && read_named(bucket, names, out, err);

    if (ok) {
        cn_lock_take(&bucket->lock);
        bucket->state = names->state;
        cn_lock_release(&bucket->lock);
    }
    cn_manifest_names_free(names);
    return ok;
}

bool cn_bucket_read_manifest(struct cn_bucket *bucket, struct cn_manifest *out,
                             struct cn_error *err)
{
    return read_and_note(bucket, list_names(bucket, err), out, err);
}

bool cn_bucket_take_manifest(struct cn_bucket *bucket, struct cn_manifest *out,
                             struct cn_error *err)
{
    struct cn_manifest_names *names;
    struct cn_fresh *fresh;

    cn_lock_take(&bucket->lock);
    struct cn_manifest *ahead = bucket->ahead;
    names = bucket->names;
    bucket->ahead = NULL;
    bucket->names = NULL;
    cn_lock_release(&bucket->lock);
    if (ahead) {
        *out = *ahead;
        free(ahead);
        cn_manifest_names_free(names);
        return true;
    }
    names = ask_collectors(bucket, names ? names : list_names(bucket, err), &fresh, err);
    if (!read_and_note(bucket, names, out, err)) {
        cn_fresh_free(fresh);
        return false;
    }
    out->fresh = fresh;
    return true;
}

bool cn_bucket_look(struct cn_bucket *bucket, bool *is_changed, struct cn_error *err)
{
    struct cn_fresh *fresh;
    struct cn_manifest_names *names =
        ask_collectors(bucket, list_names(bucket, err), &fresh, err);
    struct cn_manifest *ahead = NULL, *earlier = NULL;
    bool is_other, is_waiting, ok = names != NULL;

    if (!ok)
        return false;
    cn_lock_take(&bucket->lock);
    is_other = names->state != bucket->state;
    is_waiting = bucket->ahead != NULL;
    cn_lock_release(&bucket->lock);
    if (is_other) {
        ahead = cn_alloc(1, sizeof(*ahead));
        ok = read_named(bucket, names, ahead, err);
        if (ok)
            ahead->fresh = fresh;
        fresh = ok ? NULL : fresh;
    }
    cn_fresh_free(fresh);
    if (ok && is_other) {
        cn_lock_take(&bucket->lock);
        earlier = bucket->ahead;
        bucket->ahead = ahead;
        bucket->state = names->state;
        cn_lock_release(&bucket->lock);
        ahead = earlier;
    }
    if (ok)
        *is_changed = is_other || is_waiting;
    if (earlier)
        cn_manifest_done(earlier);
    free(ahead);
    cn_manifest_names_free(names);
    return ok;
}

/* True if an object is an entry with this id, or the body of a removed one: the id. */
static bool has_id(struct cn_bucket *bucket, const char *key, const char *id, bool *out,
                   struct cn_error *err)
{
    struct cn_manifest_entry *entry;
    struct cn_text text = {0};
    struct cn_error ignored;
    bool is_found = false;

    *out = false;
    if (!cn_s3_get(bucket->s3, key, &text, &is_found, err))
        return false;
    *out = is_found && strcmp(cn_text_str(&text), id) == 0;
    if (is_found && cn_manifest_entry_decode(
                        (struct cn_bytes){(const uint8_t *)cn_text_str(&text), text.len},
                        &entry, &ignored)) {
        *out = strcmp(entry->id, id) == 0;
        cn_manifest_entry_free(entry);
    }
    cn_text_done(&text);
    return true;
}

enum { KEY_LEN = sizeof(FOLDER) + NUMBER_LEN + sizeof(GONE) };

/* True if the note that a segment is gone has another id: the number was used before, and its entry
 * was swept. */
static bool is_used_up(struct cn_bucket *bucket, uint32_t number, const char *id,
                       bool *out, struct cn_error *err)
{
    struct cn_text text = {0};
    char key[KEY_LEN];
    bool is_found = false, ok;

    (void)snprintf(key, sizeof(key), FOLDER "%06x" GONE, number);
    ok = cn_s3_get(bucket->s3, key, &text, &is_found, err);
    *out = ok && is_found && strcmp(cn_text_str(&text), id) != 0;
    cn_text_done(&text);
    return ok;
}

bool cn_bucket_has_entry(struct cn_bucket *bucket, uint32_t number, const char *id,
                         bool *out, struct cn_error *err)
{
    char key[KEY_LEN], gone[KEY_LEN];
    bool is_other = false;

    (void)snprintf(key, sizeof(key), FOLDER "%06x", number);
    (void)snprintf(gone, sizeof(gone), FOLDER "%06x" GONE, number);
    if (!has_id(bucket, key, id, out, err))
        return false;
    if (!*out)
        return has_id(bucket, gone, id, out, err);
    if (!is_used_up(bucket, number, id, &is_other, err))
        return false;
    *out = !is_other;
    return true;
}

bool cn_bucket_mark_gone(struct cn_bucket *bucket, const struct cn_manifest_entry *entry,
                         struct cn_error *err)
{
    char key[KEY_LEN];
    bool is_new;

    (void)snprintf(key, sizeof(key), FOLDER "%06x" GONE, entry->number);
    return cn_s3_put(bucket->s3, key, cn_bytes_of(entry->id), &is_new, err);
}

/* A refused put may be our own, repeated after its answer was lost. */
static bool try_number(struct cn_bucket *bucket, struct cn_manifest_entry *entry,
                       bool *is_done, struct cn_error *err)
{
    struct cn_cbor_out out = {0};
    char key[KEY_LEN];

    (void)snprintf(key, sizeof(key), FOLDER "%06x", entry->number);
    cn_manifest_entry_encode(entry, &out);
    bool ok =
        cn_s3_put(bucket->s3, key, (struct cn_bytes){out.bytes, out.len}, is_done, err);
    cn_cbor_out_done(&out);
    return ok && (*is_done || has_id(bucket, key, entry->id, is_done, err));
}

/* The next number that no list has. */
static bool find_number(struct cn_bucket *bucket, uint32_t *out, struct cn_error *err)
{
    struct cn_manifest_names *names = list_names(bucket, err);

    if (!names)
        return false;
    *out = names->next_number;
    cn_manifest_names_free(names);
    return true;
}

/* Numbers are tried one after the other: where one is left out, an entry that is written later could
 * have it, and count instead of one that readers have seen. */
static bool name_next(struct cn_bucket *bucket, struct cn_manifest_entry *entry,
                      cn_bucket_note note, void *arg, struct cn_error *err)
{
    bool is_done = false, ok = true;

    if (entry->number < bucket->next_number)
        entry->number = bucket->next_number;
    while (ok && !is_done && entry->number <= NUMBER_MAX) {
        ok = (!note || note(arg, entry->number, err)) &&
             try_number(bucket, entry, &is_done, err);
        if (ok && !is_done)
            ok = find_number(bucket, &entry->number, err);
    }
    if (ok && !is_done)
        return cn_fail(err, CN_ERR_LIMIT, "%s: no number is left for a segment",
                       bucket->address);
    bucket->next_number = ok ? entry->number + 1 : 0;
    return ok;
}

/* A writer that was stopped for longer than sweeps wait may get a number whose entry they removed:
 * the note that it is gone tells. */
bool cn_bucket_add_entry(struct cn_bucket *bucket, struct cn_manifest_entry *entry,
                         cn_bucket_note note, void *arg, struct cn_error *err)
{
    bool is_other = true, ok = true;

    while (ok && is_other) {
        ok = find_number(bucket, &entry->number, err);
        cn_lock_take(&bucket->naming);
        ok = ok && name_next(bucket, entry, note, arg, err);
        cn_lock_release(&bucket->naming);
        ok = ok && is_used_up(bucket, entry->number, entry->id, &is_other, err);
    }
    return ok;
}
