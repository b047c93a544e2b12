/* Sizes in bytes as text.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_BASE_SIZE_H
#define CN_BASE_SIZE_H

#include <stdint.h>

#include "base/error.h"

struct cn_text;

/* "1000", "64K", "256M", "2GB", "2GiB" (powers of 1024). A failure leaves *out alone. */
CN_CHECK bool cn_size_parse(const char *text, uint64_t *out, struct cn_error *err);

void cn_size_print(struct cn_text *text, uint64_t bytes); /* "812 B", "1.4 MiB" */

#endif
