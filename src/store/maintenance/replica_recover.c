/* Makes segments of the commits of collectors that are gone. Safe to kill, to run twice and at
 * once: a segment that is made gets an id that follows from that of its commits, and entries of the
 * same id count once. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/disk.h"
#include "base/map.h"
#include "base/path.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "store/bucket/bucket.h"
#include "store/maintenance/commit_object.h"
#include "store/maintenance/maintenance.h"
#include "store/maintenance/replica.h"
#include "store/maintenance/upload.h"
#include "store/segment/log_format.h"
#include "store/segment/segments.h"

/* The commits of a segment, in their order. */
struct left {
    char collector[CN_MANIFEST_ID_LEN + 1], id[CN_MANIFEST_ID_LEN + 1];
    char **keys;
    size_t count, capacity;
};

struct all_left {
    struct left *list;
    size_t count, capacity;
};

static bool is_id(const char *text, char end)
{
    return cn_hex_begins(text, CN_MANIFEST_ID_LEN) && text[CN_MANIFEST_ID_LEN] == end;
}

/* Keys are sorted: those of a segment follow each other. */
static bool note_commit(void *arg, const struct cn_s3_object *object,
                        struct cn_error *err)
{
    struct all_left *all = arg;
    const char *collector = object->key + strlen(CN_COMMITS);
    const char *id = collector + CN_MANIFEST_ID_LEN + 1;
    struct left *last = all->count > 0 ? &all->list[all->count - 1] : NULL;

    (void)err;
    if (!is_id(collector, '/') || !is_id(id, '/'))
        return true;
    if (!last || strncmp(last->id, id, CN_MANIFEST_ID_LEN) != 0 ||
        strncmp(last->collector, collector, CN_MANIFEST_ID_LEN) != 0) {
        CN_GROW(all->list, all->count, all->capacity);
        last = &all->list[all->count++];
        *last = (struct left){0};
        memcpy(last->collector, collector, CN_MANIFEST_ID_LEN);
        memcpy(last->id, id, CN_MANIFEST_ID_LEN);
    }
    CN_PUSH(last->keys, last->count, last->capacity, cn_strdup(object->key));
    return true;
}

static void all_left_done(struct all_left *all)
{
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->list[i].count; k++)
            free(all->list[i].keys[k]);
        free(all->list[i].keys);
    }
    free(all->list);
}

static bool remove_commits(struct cn_bucket *bucket, const struct left *left,
                           struct cn_error *err)
{
    for (size_t i = 0; i < left->count; i++)
        if (!cn_s3_remove(bucket->s3, left->keys[i], err))
            return false;
    return true;
}

bool cn_replica_remove(struct cn_bucket *bucket, const char *collector,
                       const char *segment, struct cn_error *err)
{
    struct all_left all = {0};
    char *begin = cn_strprintf(CN_COMMITS "%s/%s/", collector, segment);
    bool ok = cn_s3_list(bucket->s3, begin, note_commit, &all, err);

    for (size_t i = 0; ok && i < all.count; i++)
        ok = remove_commits(bucket, &all.list[i], err);
    all_left_done(&all);
    free(begin);
    return ok;
}

/* The files of a segment that is put together. */
struct made {
    char *dir;
    int text, data;
    bool is_gone; /* the collector has removed commits: it uploaded the segment itself */
};

static bool append(int fd, uint64_t off, struct cn_bytes bytes, const struct made *made,
                   struct cn_error *err)
{
    const struct cn_disk *io = &cn_disk_files;

    return (io->truncate(io->arg, fd, off, err) &&
            io->write(io->arg, fd, off, bytes.ptr, bytes.len, err)) ||
           cn_fail_in(err, "%s", made->dir);
}

static bool add_commit(struct cn_bucket *bucket, const char *key, struct made *made,
                       struct cn_error *err)
{
    struct cn_commit_object commit;
    struct cn_text content = {0};
    bool is_found, ok;

    if (!cn_s3_get_twice(bucket->s3, key, &content, &is_found, err))
        return false;
    made->is_gone |= !is_found;
    ok = !is_found ||
         ((cn_commit_object_decode(
               (struct cn_bytes){(const uint8_t *)cn_text_str(&content), content.len},
               &commit, err) ||
           cn_fail_in(err, "%s/%s", bucket->address, key)) &&
          append(made->text, commit.text_off, commit.text, made, err) &&
          append(made->data, commit.data_off, commit.data, made, err) &&
          cn_disk_replace(&cn_disk_files, made->dir, CN_CONFIG_NAME, commit.config.ptr,
                          commit.config.len, err));
    cn_text_done(&content);
    return ok;
}

static bool put_together(struct cn_bucket *bucket, const struct left *left,
                         struct made *made, struct cn_error *err)
{
    const struct cn_disk *io = &cn_disk_files;
    char *text = cn_strprintf("%s/" CN_TEXT_LOG_NAME, made->dir);
    char *data = cn_strprintf("%s/" CN_TRACES_NAME, made->dir);
    bool ok = io->make_dir(io->arg, made->dir, err) &&
              io->open(io->arg, text, &made->text, err) &&
              io->open(io->arg, data, &made->data, err);

    for (size_t i = 0; ok && i < left->count; i++)
        ok = add_commit(bucket, left->keys[i], made, err);
    if (made->text >= 0)
        (void)io->close(io->arg, made->text);
    if (made->data >= 0)
        (void)io->close(io->arg, made->data);
    free(text);
    free(data);
    return ok;
}

/* The number of the last commit of a segment: when it was written. */
static uint64_t last_number(const struct left *left)
{
    return strtoull(cn_path_name(left->keys[left->count - 1]), NULL, 16);
}

/* The id of the segment that is made of commits: not that of the collector's own, which may have
 * more and be uploaded when the machine is back; and another one when there are more commits. */
static void made_id(const struct left *left, char out[CN_MANIFEST_ID_LEN + 1])
{
    char half[CN_MANIFEST_ID_LEN / 2 + 1];

    memcpy(half, left->id, sizeof(half) - 1);
    half[sizeof(half) - 1] = '\0';
    uint64_t high = strtoull(half, NULL, 16);
    uint64_t low = strtoull(left->id + sizeof(half) - 1, NULL, 16);
    (void)snprintf(out, CN_MANIFEST_ID_LEN + 1, "%016" PRIx64 "%016" PRIx64, low,
                   high ^ last_number(left));
}

static bool make_segment(struct cn_bucket *bucket, const struct left *left,
                         const char *id, struct cn_store_recovery *counts,
                         struct cn_error *err)
{
    struct cn_store_recovery found = {0};
    struct cn_store_target target;
    struct made made = {.text = -1, .data = -1};
    uint32_t sealed = 0;
    bool ok;

    if (!cn_store_target_make(&target, bucket, err))
        return false;
    made.dir = cn_segment_dir(target.path, 1);
    ok = put_together(bucket, left, &made, err) &&
         (made.is_gone || (cn_store_recover(target.path, &found, err) &&
                           cn_store_seal(target.path, &sealed, err)));
    if (ok && sealed > 0) {
        ok = cn_upload_with_id(bucket, target.path, 1, id, err);
        counts->segments += ok;
        counts->rows += found.rows;
        counts->bad_chunks += found.bad_chunks;
        counts->bad_records += found.bad_records;
        counts->lost_words += found.lost_words;
        counts->cut_len += found.cut_len;
    }
    free(made.dir);
    cn_store_target_done(&target);
    return ok;
}

static bool is_alive(const struct cn_manifest_collector *collectors, size_t count,
                     const char *id)
{
    uint64_t now_ns = cn_clock_date_ns();

    for (size_t i = 0; i < count; i++)
        if (strcmp(collectors[i].id, id) == 0)
            return now_ns < collectors[i].seen_ns ||
                   now_ns - collectors[i].seen_ns <
                       CN_COLLECTOR_GONE_S * UINT64_C(1000000000);
    return false;
}

/* What a bucket has of collectors. */
struct replica_found {
    struct all_left all;
    struct cn_names named;
    struct cn_manifest_collector *collectors;
    size_t collector_count;
};

static bool find(struct cn_bucket *bucket, struct replica_found *found,
                 struct cn_error *err)
{
    *found = (struct replica_found){0};
    /* Commits are listed before the manifest: what is named in between is known. */
    return cn_s3_list(bucket->s3, CN_COMMITS, note_commit, &found->all, err) &&
           (found->all.count == 0 ||
            (cn_bucket_list_collectors(bucket, &found->collectors,
                                       &found->collector_count, err) &&
             cn_bucket_list_ids(bucket, &found->named, NULL, err)));
}

static void found_done(struct replica_found *found)
{
    all_left_done(&found->all);
    cn_names_done(&found->named);
    free(found->collectors);
}

bool cn_replica_recover(struct cn_bucket *bucket, struct cn_store_recovery *counts,
                        uint32_t *alive, struct cn_error *err)
{
    struct replica_found found;
    bool ok = find(bucket, &found, err);

    *alive = 0;
    for (size_t i = 0; ok && i < found.all.count; i++) {
        const struct left *left = &found.all.list[i];
        char id[CN_MANIFEST_ID_LEN + 1];

        made_id(left, id);
        if (cn_names_had(&found.named, left->id) || cn_names_had(&found.named, id))
            continue;
        if (is_alive(found.collectors, found.collector_count, left->collector))
            ++*alive;
        else
            ok = make_segment(bucket, left, id, counts, err);
    }
    found_done(&found);
    return ok;
}

bool cn_replica_sweep(struct cn_bucket *bucket, struct cn_error *err)
{
    static const uint64_t day_ns = UINT64_C(24) * 3600 * 1000000000;
    uint64_t now_ns = cn_clock_date_ns();
    struct replica_found found;
    bool ok = find(bucket, &found, err);

    for (size_t i = 0; ok && i < found.all.count; i++) {
        const struct left *left = &found.all.list[i];
        uint64_t last_ns = last_number(left);
        char id[CN_MANIFEST_ID_LEN + 1];

        made_id(left, id);
        if (cn_names_had(&found.named, left->id) ||
            (cn_names_had(&found.named, id) && now_ns > last_ns &&
             now_ns - last_ns > day_ns))
            ok = remove_commits(bucket, left, err);
    }
    found_done(&found);
    return ok;
}
