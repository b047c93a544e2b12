/* Arguments and messages that the commands of `cairn store` share.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_ARGS_H
#define CN_CLI_STORE_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/segment/config.h"

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

/* The value of --compression; without it the default. */
enum cn_store_form cn_compression_option(const struct cn_args *args);
#define CN_OPTION_COMPRESSION(COLUMNS)                                           \
    CN_OPTION("compression", 0, "columns|deflate|lz4",                           \
              COLUMNS "; or what versions up to 0.9 can read: deflate, or lz4, " \
                      "which is larger and faster")

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

/* The rules of --sample-file and --sample; NULL if neither was given. The caller frees them. */
struct cn_sample_rules;
CN_CHECK bool cn_sample_option(const struct cn_args *args, struct cn_sample_rules **out,
                               struct cn_error *err);
#define CN_OPTIONS_SAMPLE(WITH)                                                        \
    CN_OPTION_LIST("sample", 0, "RULE",                                                \
                   WITH "tail sampling: a rule 'QUERY: RATE%', whose QUERY is one of " \
                        "store search or TraceQL, or 'rest: RATE%'; the first that "   \
                        "matches a trace decides which share of them stays, whole; "   \
                        "repeat it for more"),                                         \
        CN_OPTION("sample-file", 0, "FILE", "such rules, one in a line")

/* A table with a column after that of counts, `columns[at]`, for estimates if the store was sampled.
 * `all` has room for one more column and lives as long as the table. */
struct cn_column;
bool cn_store_has_estimates(const struct cn_store *store);
struct cn_table *cn_store_table(const struct cn_args *args,
                                const struct cn_column *columns, size_t count, size_t at,
                                bool has_estimates, struct cn_column *all);

/* Add the cells of a count and its estimate. */
void cn_store_put_count(struct cn_table *table, uint64_t count, bool has_estimates,
                        double estimate);

/* Say what sampling did to a store, unless it did nothing. Counts are exact of what is stored. */
void cn_store_say_sampled(const struct cn_args *args, const struct cn_store *store);

/* Say "12 traces and 3 parts of traces added (40 calls), 2 known already"; `source` may be NULL. */
void cn_store_say_added(const struct cn_args *args, const char *source,
                        const struct cn_store_added *added);

/* Add a cell: a date, a duration or a size for people to read, or else the number. */
void cn_store_put_time(struct cn_table *table, bool is_text, uint64_t time_ns);
/* Add a number per second; none if no time has passed. */
void cn_store_put_rate(struct cn_table *table, uint64_t count, uint64_t time_ns);

void cn_store_put_size(struct cn_table *table, bool is_text, uint64_t len);

#endif
