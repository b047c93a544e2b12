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
#include "model/calls/recording.h"

struct cn_opened;
struct cn_sink;
struct cn_database;

/* A time range of data, for a page that contains no more. */

/* Parses a time range: offsets from the start of data that lasts `span_ns`, or 0 if that is
 * unknown. Without an end, *to_ns is the span, or UINT64_MAX. */
typedef bool (*cn_page_range_fn)(const char *text, uint64_t span_ns, uint64_t *from_ns,
                                 uint64_t *to_ns, struct cn_error *err);

struct cn_page_range {
    const char *text;
    cn_page_range_fn parse;
};

/* Write the records of the range and their analysis to `recording` and `analysis` below
 * `folder`. *damage receives the first damage of the recording, which is written up to it. */
CN_CHECK bool cn_page_cut_calls(const struct cn_recording *rec,
                                const struct cn_page_range *range, bool is_raw,
                                const char *folder, struct cn_error *damage,
                                struct cn_error *err);

/* Write the samples of the range to `folder`, the folder of an analysis. */
CN_CHECK bool cn_page_cut_samples(struct cn_database *db,
                                  const struct cn_page_range *range, const char *folder,
                                  struct cn_error *err);

/* Append the condition of a query: the traces of a store that began in the range, counted from the
 * first one. */
CN_CHECK bool cn_page_cut_traces(const char *path, const struct cn_page_range *range,
                                 struct cn_text *query, struct cn_error *err);

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
