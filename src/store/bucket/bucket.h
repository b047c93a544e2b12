/* A store in object storage: its address, its settings, its manifest and what of it is cached here.
 *
 *   config.props             settings of the store, and its id
 *   manifest/...             see store/bucket/manifest.h
 *   segments/ID/NAME         the files of segments
 *
 * Entries of the manifest and parts of segments are cached in ~/.cache/cairn/s3/STORE_ID.
 * Threads: any thread may fetch; opened, shared and closed by one thread at a time.
 */
#ifndef CN_STORE_BUCKET_BUCKET_H
#define CN_STORE_BUCKET_BUCKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/run/lock.h"
#include "s3/s3.h"
#include "store/bucket/manifest.h"

struct cn_fresh;
struct cn_names;

struct cn_bucket {
    struct cn_s3 *s3;
    unsigned user_count; /* besides the first */
    char *address;       /* without parameters, for messages: "s3://BUCKET/PREFIX" */
    char *config;        /* the text of config.props */
    char id[CN_MANIFEST_ID_LEN + 1];
    char *cache_dir;
    uint64_t
        limited_count;   /* objects that were fetched when the cache was last limited */
    struct cn_lock lock; /* of the following */
    struct cn_manifest_names *names; /* of cn_bucket_get_and_list(); NULL: list again */
    struct cn_manifest *ahead;       /* read by cn_bucket_look(); NULL: read again */
    uint64_t state;                  /* of the manifest that was read last */
    struct cn_lock naming;           /* taken while an entry is written */
    uint32_t next_number;            /* above all that were named with this bucket */
};

/* Make the bucket, if it does not exist, and an empty store with these settings, in the form of
 * config.props. Fails if there is one. */
CN_CHECK bool cn_bucket_create(const char *address, const char *config,
                               struct cn_error *err);

CN_CHECK bool cn_bucket_open(struct cn_bucket **out, const char *address,
                             struct cn_error *err);

/* Replace the settings of the store. */
CN_CHECK bool cn_bucket_configure(struct cn_bucket *bucket, const char *config,
                                  struct cn_error *err);
struct cn_bucket *cn_bucket_share(struct cn_bucket *bucket);
void cn_bucket_close(struct cn_bucket *bucket); /* NULL is fine */

/* Remove what was not used for longest from the cache, until it has its size. Does nothing if
 * nothing was fetched since the last time. */
void cn_bucket_limit_cache(struct cn_bucket *bucket);

/* A collector that writes to the store, by the object that it writes again from time to time. */
struct cn_manifest_collector {
    char id[CN_MANIFEST_ID_LEN + 1];
    uint64_t seen_ns; /* since the epoch */
    bool has_url;     /* readers can reach it */
};

/* Seconds after which a collector that did not register again is taken for gone. */
enum { CN_COLLECTOR_GONE_S = 60 };

/* Register a collector. `url` is where readers reach it; "": nowhere. */
CN_CHECK bool cn_bucket_register(struct cn_bucket *bucket, const char *id,
                                 const char *url, struct cn_error *err);
CN_CHECK bool cn_bucket_unregister(struct cn_bucket *bucket, const char *id,
                                   struct cn_error *err);

/* All that are registered. The caller frees them. */
CN_CHECK bool cn_bucket_list_collectors(struct cn_bucket *bucket,
                                        struct cn_manifest_collector **out, size_t *count,
                                        struct cn_error *err);

/* Where collectors are reached; empty if nowhere, or if they are no longer registered. The caller
 * releases the texts, also after a failure. */
CN_CHECK bool cn_bucket_collector_urls(struct cn_bucket *bucket,
                                       const struct cn_manifest_collector *collectors,
                                       size_t count, struct cn_text *out,
                                       struct cn_error *err);

/* The segments of a store, by number. The owner of a list releases it and the entries in it. */
struct cn_manifest {
    struct cn_manifest_entry **entries;
    size_t count, capacity;
    struct cn_manifest_entry **dead; /* replaced, or named twice: not part of the store */
    size_t dead_count;
    uint32_t next_number; /* above all that were ever named */
    struct cn_fresh
        *fresh; /* of cn_bucket_take_manifest(); NULL: there are no collectors */
};
void cn_manifest_done(struct cn_manifest *manifest);

CN_CHECK bool cn_bucket_read_manifest(struct cn_bucket *bucket, struct cn_manifest *out,
                                      struct cn_error *err);

/* The same as it was when the bucket was opened, or at the last cn_bucket_look(): waits for fewer
 * requests. A second call reads it again. */
CN_CHECK bool cn_bucket_take_manifest(struct cn_bucket *bucket, struct cn_manifest *out,
                                      struct cn_error *err);

/* Read an object and list the manifest together, for cn_bucket_take_manifest(). Nothing is listed if
 * the object is not found. */
CN_CHECK bool cn_bucket_get_and_list(struct cn_bucket *bucket, const char *key,
                                     struct cn_text *out, bool *is_found,
                                     struct cn_error *err);
void cn_manifest_names_free(struct cn_manifest_names *names); /* NULL is fine */

/* Look whether the manifest has changed since it was read; if so, it is read for
 * cn_bucket_take_manifest(), which then waits for nothing. Any thread. */
CN_CHECK bool cn_bucket_look(struct cn_bucket *bucket, bool *is_changed,
                             struct cn_error *err);

/* Name a segment whose files were uploaded: gives it the next free number. `note` is called with
 * each number before it is tried; NULL: not. Any thread. */
typedef bool (*cn_bucket_note)(void *arg, uint32_t number, struct cn_error *err);
CN_CHECK bool cn_bucket_add_entry(struct cn_bucket *bucket,
                                  struct cn_manifest_entry *entry, cn_bucket_note note,
                                  void *arg, struct cn_error *err);

/* Note that a segment is no longer part of the store. Its objects stay until a sweep. */
CN_CHECK bool cn_bucket_mark_gone(struct cn_bucket *bucket,
                                  const struct cn_manifest_entry *entry,
                                  struct cn_error *err);

/* Remove the objects of segments that have been gone for `grace_ns`, which readers need to take
 * another snapshot, and objects that a killed upload left a day ago. */
struct cn_bucket_swept {
    uint32_t segments, orphans;
    uint64_t len;
};
CN_CHECK bool cn_bucket_sweep(struct cn_bucket *bucket, uint64_t grace_ns,
                              struct cn_bucket_swept *out, struct cn_error *err);

/* Merge entries: each CN_MANIFEST_TOGETHER of them into one more object, which new readers fetch
 * instead. The first one that writes it wins; one whose entries are all gone is removed. */
CN_CHECK bool cn_bucket_merge(struct cn_bucket *bucket, struct cn_error *err);

/* Download all files of a segment to a new directory. */
CN_CHECK bool cn_bucket_download(struct cn_bucket *bucket,
                                 const struct cn_manifest_entry *entry, const char *dir,
                                 struct cn_error *err);

/* Add the ids of all segments that are or were named, and the keys of entries that are stored damaged:
 * not those of which only an answer was. With NULL, a damaged entry is a failure. */
CN_CHECK bool cn_bucket_list_ids(struct cn_bucket *bucket, struct cn_names *ids,
                                 struct cn_names *damaged, struct cn_error *err);

/* Remove them, when recovery has named their segments again. */
CN_CHECK bool cn_bucket_remove_damaged(struct cn_bucket *bucket,
                                       const struct cn_names *damaged,
                                       struct cn_error *err);

/* True if the entry with this number has this id, or had it before it was removed. */
CN_CHECK bool cn_bucket_has_entry(struct cn_bucket *bucket, uint32_t number,
                                  const char *id, bool *out, struct cn_error *err);

#endif
