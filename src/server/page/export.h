/* A self-contained page: the viewer, its engine (src/wasm) and the files of a source.
 *
 * The page opens the files as the server does. What only this machine knows is added: the
 * database of a recording, with locations from debug information; samples with their symbols.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_PAGE_EXPORT_H
#define CN_SERVER_PAGE_EXPORT_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "server/page/cut.h"

struct cn_opened;
struct cn_sink;

struct cn_page_options {
    bool is_raw;                /* recordings: recorded times, not corrected ones */
    const char *query;          /* of a store: only traces that match; NULL: all */
    struct cn_page_range range; /* only this time; its text is NULL: all */
    uint64_t
        size_max; /* of the page: calls, timelines, then sources are left out; 0: any */
};

/* What a page lacks of its source. */
struct cn_page_missing {
    struct cn_text left_out; /* as chosen, which the page names as well; "": nothing */
    struct cn_text damage;   /* a line for each damage of the source; "": none */
};
void cn_page_missing_done(struct cn_page_missing *missing);

/* Write the page of a database, recording or store that was found, and close it. Damaged data is
 * written up to the damage. */
CN_CHECK bool cn_page_export(struct cn_sink *out, struct cn_opened *source,
                             const struct cn_page_options *options,
                             struct cn_page_missing *missing, struct cn_error *err);

/* Write the viewer without data, into which people drop files. */
CN_CHECK bool cn_page_viewer(struct cn_sink *out, struct cn_error *err);

#endif
