/* SQL about sources, with the tables of `cairn sql`: each statement is run by a job, one at a time,
 * with limits of time, memory and rows; the last results are cached.
 *
 * In builds without SQLite, and in pages without a server, questions fail with a message.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SQL_STATEMENTS_H
#define CN_SERVER_SQL_STATEMENTS_H

#include "base/error.h"

struct cn_request;
struct cn_served;
struct cn_served_list;
struct cn_statements;

/* Limits of a statement. */
enum {
    CN_STATEMENT_SECONDS = 30,
    CN_STATEMENT_MEMORY = 512 << 20,
    CN_STATEMENT_ROWS = 10000,
    CN_STATEMENT_BYTES = 32 << 20, /* of the rows, as JSON */
};

struct cn_statements *cn_statements_new(void);
void cn_statements_free(struct cn_statements *statements); /* before sources are closed */

/* Answer with the result of the parameter `statement`. Other sources are schemas of it, `with`: s1 is
 * the source with the id 1. Fails with CN_ERR_BUSY while it runs. */
CN_CHECK bool cn_statements_answer(const struct cn_served_list *sources,
                                   struct cn_served *served, struct cn_request *request,
                                   struct cn_error *err);

/* Answer with the tables of a source and their columns. */
CN_CHECK bool cn_statements_tables(const struct cn_served_list *sources,
                                   struct cn_served *served, struct cn_request *request,
                                   struct cn_error *err);

#endif
