/* A store and a question, as the commands of `cairn store` take them from the command line.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_STORE_QUERY_H
#define CN_CLI_STORE_STORE_QUERY_H

#include "base/error.h"
#include "base/text.h"

struct cn_args;
struct cn_query;
struct cn_search;
struct cn_store;
struct cn_store_index;

struct cn_store_query {
    struct cn_store *store;
    struct cn_search *search;
    struct cn_query *query;
};

/* The store that is the first operand; the words from operand `first` on, with blanks between
 * them, are the query. On failure nothing has to be released. */
CN_CHECK bool cn_store_query_open(struct cn_store_query *out, const struct cn_args *args,
                                  size_t first, struct cn_error *err);

/* The same without a command line. */
CN_CHECK bool cn_store_query_open_path(struct cn_store_query *out, const char *path,
                                       const char *query, struct cn_error *err);
void cn_store_query_close(struct cn_store_query *query);

/* "2026-01-01 10:00:00.123", as queries take it. */
void cn_store_time_print(struct cn_text *text, uint64_t time_ns);

#endif
