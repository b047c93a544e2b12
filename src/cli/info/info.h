/* cairn info for each kind of data.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_INFO_INFO_H
#define CN_CLI_INFO_INFO_H

#include "base/error.h"

struct cn_args;
struct cn_opened;
struct cn_recording;
struct cn_text;

/* Append what is printed without options. */
void cn_info_recording_add(struct cn_text *text, const struct cn_recording *rec);
CN_CHECK bool cn_info_database_add(struct cn_text *text, const struct cn_opened *opened,
                                   struct cn_error *err);

/* Load what is to be described, and print it. */
CN_CHECK bool cn_info_database(const struct cn_args *args, struct cn_opened *opened,
                               struct cn_error *err);
CN_CHECK bool cn_info_recording(const struct cn_args *args, struct cn_opened *opened,
                                struct cn_error *err);

/* Print the machine that this runs on. */
void cn_info_machine(const struct cn_args *args);

/* cairn info for trace stores: how much is in them, since when, and what it takes. */

CN_CHECK bool cn_info_store(const struct cn_args *args, const char *path,
                            struct cn_error *err);

#endif
