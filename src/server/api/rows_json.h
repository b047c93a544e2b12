/* Rows of a view as JSON.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_ROWS_JSON_H
#define CN_SERVER_API_ROWS_JSON_H

#include "analyze/durations/percentile.h"
#include "analyze/views/view.h"
#include "base/bytes/json.h"

/* Append "base", what the times of a metric are; nothing if it is no time. */
void cn_json_add_base(struct cn_json *json, const struct cn_database *db,
                      const char *metric);

/* Append "columns": the meaning of the values of rows. */
void cn_json_columns(struct cn_json *json, const struct cn_costs *costs);

/* Append {id, kind, label, context, module, file, line, language, code, isLeaf, values}. */
CN_CHECK bool cn_json_row(struct cn_json *json, struct cn_view *view,
                          const struct cn_row *row, struct cn_error *err);

/* The same for a row that is a leaf of what is listed, if not of the view. */
CN_CHECK bool cn_json_row_as(struct cn_json *json, struct cn_view *view,
                             const struct cn_row *row, bool is_leaf,
                             struct cn_error *err);

/* Append "latency": these percentiles in ns, null for NAN, and [low ns, high ns, calls] of each
 * bucket; those that the clock does not tell apart are merged. */
void cn_json_latency(struct cn_json *json, const struct cn_costs *costs,
                     const double seconds[CN_PERCENTILES_SHOWN],
                     struct cn_bucket_calls *buckets, size_t count);

/* Append "path": the ids, in the top-down view, of the rows from the top down to a
 * node of the index; empty for CN_NONE. */
void cn_json_path(struct cn_json *json, const struct cn_context_index *index,
                  uint32_t node);

/* Begin {path, row}: a row with the path to its example, the context in which it costs most. The
 * caller may add more members, and calls cn_json_end(). */
CN_CHECK bool cn_json_row_begin(struct cn_json *json, struct cn_view *view,
                                const struct cn_context_index *index,
                                const struct cn_row *row, struct cn_error *err);

/* A child with less of its parent ends the hot path. */
#define CN_HOT_SHARE 0.5

/* Append the member `name`: the rows of the hot path in a column. */
CN_CHECK bool cn_json_hot_path(struct cn_json *json, const char *name,
                               struct cn_view *view, size_t column, struct cn_error *err);

#endif
