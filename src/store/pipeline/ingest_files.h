/* Adds files to a store, with all its lanes at once.
 *
 * Workers, as many as lanes, share the work: one of them gathers requests, and looks through their
 * bodies or parses their spans, while others do so with those before. Each lane adds its traces,
 * which a hash of their ids chooses, of one gathering after the other. Every lane reads the symbols
 * of all sessions. Commits are saved by threads of the writers, if the lanes are opened so.
 * What is stored does not depend on the number of lanes.
 *
 * After a refused request everything before it is added, and perhaps some requests after it.
 * Threads: one thread at a time; it starts others.
 */
#ifndef CN_STORE_PIPELINE_INGEST_FILES_H
#define CN_STORE_PIPELINE_INGEST_FILES_H

#include "base/error.h"
#include "base/files/file.h"
#include "formats/zorka/request.h"
#include "model/step.h"
#include "store/write/writer.h"

struct cn_store_lanes;

/* Add files in this order to the first `lane_count` lanes. `added` receives what was added, also on
 * failure; it is not committed yet. */
CN_CHECK bool cn_store_ingest_files(struct cn_store_lanes *lanes, unsigned lane_count,
                                    const char *const *paths, size_t path_count,
                                    struct cn_store_added *added, struct cn_error *err);

/* The requests of a file: HTTP requests of agents one after the other, one body, NAME.bin, whose
 * head may be in NAME.hdr, or one body of spans.
 *
 *     cn_ingest_input_open(&input, path, err)
 *     while ((step = cn_ingest_input_next(&input, &item, err)) == CN_ITEM) ...
 *     cn_ingest_input_close(&input);
 *
 * Bodies are borrowed from the input. Threads: one thread at a time.
 */

struct cn_ingest_input {
    char *path;
    struct cn_file file;
    struct cn_bytes rest;
    bool has_heads; /* requests one after the other */
    bool is_spans;
    bool is_taken; /* the only body */
};

struct cn_ingest_item {
    bool is_spans;                   /* `request` has only a body */
    struct cn_zorka_request request; /* of an agent */
    size_t off;                      /* in the file */
};

/* On failure nothing has to be released. */
CN_CHECK bool cn_ingest_input_open(struct cn_ingest_input *input, const char *path,
                                   struct cn_error *err);
void cn_ingest_input_close(struct cn_ingest_input *input);

/* The next request; those that are not of an agent are skipped. */
CN_CHECK enum cn_step cn_ingest_input_next(struct cn_ingest_input *input,
                                           struct cn_ingest_item *item,
                                           struct cn_error *err);

/* Add the file and the offset of an item to an error. Returns false. */
bool cn_ingest_fail_in(const struct cn_ingest_input *input,
                       const struct cn_ingest_item *item, struct cn_error *err);

#endif
