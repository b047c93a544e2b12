/* The time axis above a timeline: "|0 s      |0.5 s    |1 s".
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_CLI_TIMELINE_TIME_AXIS_H
#define CN_CLI_TIMELINE_TIME_AXIS_H

#include <stddef.h>
#include <stdint.h>

struct cn_text;

/* Append at most `columns` characters for the time from `begin_ns` to `end_ns`: marks at
 * round numbers, no trailing blanks. */
void cn_time_axis_print(struct cn_text *text, uint64_t begin_ns, uint64_t end_ns,
                        size_t columns);

#endif
