/* Sizes as options of the commands of `cairn store` take them, and what they print about what
 * was done.
 * Threads: any thread.
 */
#ifndef CN_CLI_STORE_STORE_SIZES_H
#define CN_CLI_STORE_STORE_SIZES_H

#include <stdint.h>

#include "base/error.h"

struct cn_args;

/* The value of an option as bytes: "1000", "64K", "256M", "2G" (powers of 1024). Left alone
 * when the option was not given. */
CN_CHECK bool cn_size_option(const struct cn_args *args, const char *name, uint64_t *out,
                             struct cn_error *err);

#endif
