/* Rows of a view as JSON.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_ROWS_JSON_H
#define CN_SERVER_SERVED_ROWS_JSON_H

#include "analyze/views/view.h"
#include "base/bytes/json.h"

struct cn_request;

/* "columns": what the values of rows stand for. */
void cn_json_columns(struct cn_json *json, const struct cn_costs *costs);

/* {id, kind, label, context, module, file, line, isLeaf, values} */
CN_CHECK bool cn_json_row(struct cn_json *json, struct cn_view *view,
                          const struct cn_row *row, struct cn_error *err);

/* "path": the ids, in the top-down view, of a node of the index and of those above it, from
 * the top down; empty for CN_NONE. */
void cn_json_path(struct cn_json *json, const struct cn_context_index *index,
                  uint32_t node);

/* The row that the parameter `row` names; *is_given is false when there is none. */
CN_CHECK bool cn_request_row(const struct cn_request *request, const struct cn_view *view,
                             struct cn_row *out, bool *is_given, struct cn_error *err);

/* The column that the parameter `sort` names; the first total one otherwise. */
CN_CHECK bool cn_request_column(const struct cn_request *request,
                                const struct cn_costs *costs, size_t *out,
                                struct cn_error *err);

#endif
