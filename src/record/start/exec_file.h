/* Looks at a file that is about to be executed, without the C library: it may run in the
 * child of a vfork().
 * Threads: any thread.
 */
#ifndef CN_RECORD_START_EXEC_FILE_H
#define CN_RECORD_START_EXEC_FILE_H

#include <stdint.h>

#include "record/shared.h"

struct cn_rec_exec_file {
    enum cn_rec_exec_kind kind;
    char sanitizer[32]; /* a library that must be loaded first; empty: none */
    /* Where parts of the file are read to. */
    char head[CN_REC_PAGE_LEN], dynamic[CN_REC_PAGE_LEN];
};

/* Look at an open file. */
void cn_rec_exec_file_read(struct cn_rec_exec_file *file, int fd);

/* Look at the file `path`, relative to the directory `dir_fd`. */
void cn_rec_exec_file_find(struct cn_rec_exec_file *file, int dir_fd, const char *path);

#endif
