/* The cost of the recorder that was subtracted from the times of a database, as a line of its
 * description: "Recording a call took 50.750 ns, 21.781 ns of it between entry and exit".
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_RECORDER_COST_H
#define CN_ANALYZE_RECORDER_COST_H

#include "model/calls/recording.h"

/* Append the line, with its newline; nothing for no cost. */
void cn_recorder_cost_print(struct cn_text *text, struct cn_hook_cost cost);

/* The cost of a description; 0 if it has none. */
struct cn_hook_cost cn_recorder_cost_parse(const char *description);

#endif
