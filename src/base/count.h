/* Counts, printed for people.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_BASE_COUNT_H
#define CN_BASE_COUNT_H

#include <stdint.h>

struct cn_text;

void cn_count_print(struct cn_text *text, uint64_t count); /* "1,234,567" */

/* "1 thread", "1,234 threads" */
void cn_count_print_of(struct cn_text *text, uint64_t count, const char *singular);

#endif
