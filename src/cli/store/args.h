/* Arguments and messages that the commands of `cairn store` share.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_ARGS_H
#define CN_CLI_STORE_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_args;
struct cn_store;
struct cn_store_added;
struct cn_store_query;
struct cn_table;

/* Open the store of the first operand for the query that the other operands make up. On
 * failure nothing has to be released. */
CN_CHECK bool cn_store_query_open_args(struct cn_store_query *out,
                                       const struct cn_args *args, struct cn_error *err);

/* Warn about names in a query that no attribute has. */
void cn_store_warn_names(const struct cn_args *args, const struct cn_store_query *query);

/* Warn about collectors of a store that did not answer. */
void cn_store_warn_missing(const struct cn_args *args, const struct cn_store *store);

/* Warn about each damaged segment, with the file and the place if traces or words are lost.
 * Returns the number of damaged segments. */
size_t cn_store_warn_damage(const struct cn_args *args, const struct cn_store *store);

/* The value of an option in bytes: "1000", "64K", "256M", "2G" (powers of 1024). `out` stays
 * as it is if the option was not given. */
CN_CHECK bool cn_size_option(const struct cn_args *args, const char *name, uint64_t *out,
                             struct cn_error *err);

/* The value of an option that is a share, "80%", to 1. The same. */
CN_CHECK bool cn_share_option(const struct cn_args *args, const char *name, double *out,
                              struct cn_error *err);

/* The rules of --redact-file and --redact; NULL if neither was given. The caller frees them. */
struct cn_redaction;
CN_CHECK bool cn_redaction_option(const struct cn_args *args, struct cn_redaction **out,
                                  struct cn_error *err);
#define CN_OPTIONS_REDACT(WITH)                                                        \
    CN_OPTION_LIST("redact", 0, "RULE",                                                \
                   WITH "a rule for what must not be stored: 'drop KEY', 'hash KEY', " \
                        "'mask KEY' or 'mask KEY REGEX', where KEY may have * and ?; " \
                        "repeat it for more"),                                         \
        CN_OPTION("redact-file", 0, "FILE",                                            \
                  "such rules, one in a line; 'salt TEXT' makes hashes hard to guess")

/* Say "12 traces and 3 parts of traces added (40 calls), 2 known already"; `source` may be NULL. */
void cn_store_say_added(const struct cn_args *args, const char *source,
                        const struct cn_store_added *added);

/* Add a cell: a date, a duration or a size for people to read, or else the number. */
void cn_store_put_time(struct cn_table *table, bool is_text, uint64_t time_ns);
void cn_store_put_duration(struct cn_table *table, bool is_text, uint64_t ns);
/* Add a number per second; none if no time has passed. */
void cn_store_put_rate(struct cn_table *table, uint64_t count, uint64_t time_ns);

void cn_store_put_size(struct cn_table *table, bool is_text, uint64_t len);

#endif
