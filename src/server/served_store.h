/* A store that is served: a snapshot that is taken again when the store has grown.
 * Threads: with the lock of its served thing held.
 */
#ifndef CN_SERVER_SERVED_STORE_H
#define CN_SERVER_SERVED_STORE_H

#include "base/error.h"
#include "store/query.h"
#include "store/reader.h"
#include "store/search.h"

struct cn_request;

struct cn_served_store {
    char *path;
    struct cn_store *store;
    struct cn_search *search;
    struct cn_segment_loader *loader;
    uint64_t opened_ns; /* when the snapshot was taken */
    uint64_t size;      /* of the files of the newest segment then */
};

/* Whether a directory is a store. */
bool cn_served_store_probe(const char *path);

CN_CHECK bool cn_served_store_open(struct cn_served_store *served, const char *path,
                                   struct cn_error *err);
void cn_served_store_close(struct cn_served_store *served); /* safe when never opened */

/* See what was committed meanwhile; looks at most five times a second. */
CN_CHECK bool cn_served_store_refresh(struct cn_served_store *served,
                                      struct cn_error *err);

/* Give back the mapped pages of its traces. */
void cn_served_store_forget(const struct cn_served_store *served);

/* The query in the parameter `q`, to be freed. */
CN_CHECK bool cn_request_query(const struct cn_request *request, struct cn_query **out,
                               struct cn_error *err);

#endif
