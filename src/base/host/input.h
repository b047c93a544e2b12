/* Standard input as a file: formats read files, some of them twice.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_HOST_INPUT_H
#define CN_BASE_HOST_INPUT_H

#include "base/error.h"

/* Copy standard input to a file in a temporary folder. The caller removes the folder, and releases
 * both paths. On failure `path` is as it was. */
CN_CHECK bool cn_input_spool(char **folder, char **path, struct cn_error *err);

#endif
