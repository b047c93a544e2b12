/* Rows of a view as JSON.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_ROWS_JSON_H
#define CN_SERVER_API_ROWS_JSON_H

#include "analyze/views/view.h"
#include "base/bytes/json.h"

/* "columns": what the values of rows stand for. */
void cn_json_columns(struct cn_json *json, const struct cn_costs *costs);

/* {id, kind, label, context, module, file, line, isLeaf, values} */
CN_CHECK bool cn_json_row(struct cn_json *json, struct cn_view *view,
                          const struct cn_row *row, struct cn_error *err);

/* "path": the ids, in the top-down view, of a node of the index and of those above it, from
 * the top down; empty for CN_NONE. */
void cn_json_path(struct cn_json *json, const struct cn_context_index *index,
                  uint32_t node);

#endif
