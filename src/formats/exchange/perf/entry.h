/* How a stack began, by the name of its outermost function.
 * Threads: any.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_ENTRY_H
#define CN_FORMATS_EXCHANGE_PERF_ENTRY_H

#include "model/contexts/context.h"

/* CN_ENTRY_UNKNOWN: functions call it, so that the stack is cut. */
enum cn_entry cn_perf_entry_of(const char *name);

#endif
