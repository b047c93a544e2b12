/* The analysis of a recording behind the back of a server.
 * Threads: begun and ended by one thread; works on a thread of its own.
 */
#ifndef CN_SERVER_SERVED_SERVED_ANALYSIS_H
#define CN_SERVER_SERVED_SERVED_ANALYSIS_H

#include "base/error.h"

struct cn_served;

/* Start to make a database of the recording; served->state tells when it is there. */
CN_CHECK bool cn_served_analyse(struct cn_served *served, struct cn_error *err);

/* Stop it and wait until it has stopped. */
void cn_served_analysis_end(struct cn_served *served);

#endif
