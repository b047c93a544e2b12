/* A time range of data, for a page that contains no more.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_PAGE_CUT_H
#define CN_SERVER_PAGE_CUT_H

#include "base/error.h"
#include "model/calls/recording.h"

struct cn_database;

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

#endif
