/* The files of a prototype's database in memory, to be damaged and opened: those of
 * the sample, as the writer makes them.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_PROTO_FILES_H
#define CN_TEST_PROTO_FILES_H

#include "formats/hpctoolkit/proto/open.h"

enum cn_proto_file {
    CN_PROTO_META,
    CN_PROTO_PROFILE,
    CN_PROTO_CCT,
    CN_PROTO_TRACE,
    CN_PROTO_FILE_COUNT,
};

/* Copies of the files' bytes, which tests may change. */
struct cn_proto_files {
    uint8_t *bytes[CN_PROTO_FILE_COUNT];
    size_t len[CN_PROTO_FILE_COUNT];
};

/* The sample database, written. */
void cn_proto_files_init(struct cn_proto_files *files);

/* The files of a directory; missing ones stay empty. */
void cn_proto_files_load(struct cn_proto_files *files, const char *dir);
void cn_proto_files_done(struct cn_proto_files *files);

/* What to open. */
struct cn_hpc_proto_files cn_proto_files_view(const struct cn_proto_files *files);

/* Open and read everything, with one file replaced: it may fail, but only with a
 * message. Returns whether it opened, nothing failed and nothing was warned of. */
bool cn_proto_files_read(const struct cn_proto_files *files, enum cn_proto_file file,
                         struct cn_bytes bytes);

/* The same, and also verify and dump it. */
bool cn_proto_files_try(const struct cn_proto_files *files, enum cn_proto_file file,
                        struct cn_bytes bytes);

/* For fuzz targets: the same with the sample, and seeds for one of its files. */
int cn_proto_fuzz_run(enum cn_proto_file file, const uint8_t *data, size_t len);
void cn_proto_fuzz_seeds(enum cn_proto_file file,
                         void (*emit)(const uint8_t *data, size_t len));

#endif
