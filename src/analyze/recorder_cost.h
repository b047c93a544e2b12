/* The cost of the recorder that was subtracted from the times of a database, as a line of its
 * description: "Recording a call took 50.750 ns, 21.781 ns of it between entry and exit".
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_RECORDER_COST_H
#define CN_ANALYZE_RECORDER_COST_H

#include <stdbool.h>

#include "model/calls/recording.h"

/* The larger cost of a recording, of its calls or of library calls; 0: it has none. */
struct cn_hook_cost cn_recorder_cost_of(const struct cn_recording *rec);

/* Append the line, with its newline; nothing for no cost. */
void cn_recorder_cost_print(struct cn_text *text, struct cn_hook_cost cost);

/* Append a description with another line in its place, or at the end: "Times are as recorded." */
void cn_recorder_cost_replace(struct cn_text *text, const char *description);

/* True if a description has that other line. */
bool cn_recorder_cost_is_included(const char *description);

/* The cost of a description; 0 if it has none. */
struct cn_hook_cost cn_recorder_cost_parse(const char *description);

#endif
