/* Debug information of the binaries here, for those who read measurements.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_DEBUG_LINES_H
#define CN_CLI_DATABASE_DEBUG_LINES_H

#include "formats/hpctoolkit/meas/open.h"

/* Everything it learns is released by cn_debug_lines_done(). */
void cn_debug_lines_init(struct cn_hpc_lines *lines);
void cn_debug_lines_done(struct cn_hpc_lines *lines); /* safe on a zeroed one */

#endif
