/* The tables of `cairn io`.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_IO_PRINT_H
#define CN_CLI_IO_PRINT_H

#include <stddef.h>

struct cn_args;
struct cn_io_sums;

/* Print at most `most` rows; all of them in other formats than text. */
void cn_io_print(const struct cn_args *args, const struct cn_io_sums *sums, size_t most);

/* Print the sentence about all calls. */
void cn_io_print_all(const struct cn_args *args, const struct cn_io_sums *sums);

#endif
