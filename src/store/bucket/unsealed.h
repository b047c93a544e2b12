/* Fresh segments: what collectors have that no bucket has so far, open segments above all. Readers
 * copy them into the cache, from where the last copy ended: the files of an open segment only grow.
 *
 * A collector answers two requests:
 *   URL/collector/segments                                 a list of entries (cn_manifest_list_decode):
 *                                                          number and id, files in the order in which
 *                                                          they are written, config
 *   URL/collector/segments/NUMBER/NAME?from=OFF&len=LEN    bytes of a file
 * The label of the list changes when files may have been cut: copies are made anew.
 *
 * Fetch fresh segments first and read the manifest afterwards: what is uploaded in between is in
 * both, with the same id, and nothing is in neither.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_BUCKET_UNSEALED_H
#define CN_STORE_BUCKET_UNSEALED_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/bucket/bucket.h"

struct cn_fresh_segment {
    struct cn_manifest_entry *entry; /* of the collector */
    char *base;                      /* its directory is BASE/NUMBER, */
    uint32_t number;                 /* with a number that no entry of a manifest has */
    bool is_whole;
};

struct cn_fresh {
    struct cn_fresh_segment *segments;
    size_t count, capacity;
    char **missing; /* collectors that did not answer, and why: "http://...: reason" */
    size_t missing_count, missing_capacity;
};

/* Ask registered collectors until the deadline of the settings. Those that fail are missing. The
 * caller releases the result. */
struct cn_fresh *cn_fresh_fetch(struct cn_bucket *bucket,
                                const struct cn_manifest_collector *collectors,
                                size_t count);
void cn_fresh_free(struct cn_fresh *fresh); /* NULL is fine */

/* A number that differs if the segments or their lengths do. */
uint64_t cn_fresh_state(const struct cn_fresh *fresh);

/* Drop the first `count` segments. */
void cn_fresh_drop(struct cn_fresh *fresh, size_t count);
void cn_fresh_note_missing(struct cn_fresh *fresh, const char *who,
                           const struct cn_error *err);

#endif
