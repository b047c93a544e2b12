/* The rows that cairn waits prints.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_WAITS_PRINT_H
#define CN_CLI_WAITS_PRINT_H

#include <stdbool.h>
#include <stddef.h>

struct cn_args;
struct cn_wait_sums;

/* Print at most `most` rows as --format says; `is_path`: they are those of a critical path. */
void cn_waits_print(const struct cn_args *args, const struct cn_wait_sums *sums,
                    bool is_path, size_t most);

#endif
