/* cairn dump for each kind of data.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DUMP_DUMP_H
#define CN_CLI_DUMP_DUMP_H

#include "base/error.h"

struct cn_args;
struct cn_opened;

/* Every structure of a database's files, from the tables that describe them. */
CN_CHECK bool cn_dump_database(const struct cn_args *args, const struct cn_opened *opened,
                               struct cn_error *err);

/* Every record of a recording's files, in the order of the files. */
CN_CHECK bool cn_dump_recording(const struct cn_args *args, struct cn_opened *opened,
                                struct cn_error *err);

/* The records of a recording's files that belong to shown calls. `arg` is not used. */
struct cn_recording_setup;
CN_CHECK bool cn_dump_calls(struct cn_recording_setup *setup, void *arg,
                            struct cn_error *err);

#endif
