/* What the readers of sampled formats share: stacks with values become a database in
 * memory.
 *
 *     struct cn_import *import = cn_import_new("title", "description");
 *     metric = cn_import_metric(import, "cycles", err)
 *     thread = cn_import_thread(import, &identity, err)
 *     at = cn_import_call(import, at, &frame)                  from the outermost frame
 *     cn_import_add(import, thread, at, metric, 1000, err)
 *     cn_import_finish(import, &db, err)
 *
 * Equal frames below the same frame are one context; values of the same thread, context
 * and metric add up. Memory grows with distinct stacks, and with samples that have a
 * time. Strings are copied.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_IMPORT_H
#define CN_FORMATS_EXCHANGE_READ_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/files/file.h"
#include "model/contexts/context.h"

struct cn_database;
struct cn_import;

enum {
    CN_IMPORT_METRIC_MAX = 64,
    CN_IMPORT_THREAD_MAX = 1 << 16,
    CN_IMPORT_DEPTH_MAX = 2048, /* frames of a stack: further ones are left out */
    CN_IMPORT_NAME_MAX = 1 << 16,
    CN_IMPORT_KIND_MAX = 4,
};

/* Where no name is known. */
#define CN_IMPORT_UNKNOWN "[unknown]"

struct cn_import_frame {
    const char *name;   /* "" is CN_IMPORT_UNKNOWN */
    const char *module; /* "" when unknown */
    const char *file;   /* that the function is defined in; "" when unknown */
    uint32_t line;
    uint64_t offset; /* of the function in its module */
    bool is_inlined;
};

/* What a thread is known by: parts that are not there have no kind. */
struct cn_import_identity {
    const char *kinds[CN_IMPORT_KIND_MAX];
    uint64_t numbers[CN_IMPORT_KIND_MAX];
    const char *name; /* tells apart what has the same numbers; "" */
};

struct cn_import *cn_import_new(const char *title, const char *description);
void cn_import_free(struct cn_import *import); /* NULL is fine */

/* The metric of this name, new or not. */
CN_CHECK bool cn_import_metric(struct cn_import *import, const char *name, uint32_t *out,
                               struct cn_error *err);

CN_CHECK bool cn_import_thread(struct cn_import *import,
                               const struct cn_import_identity *identity, uint32_t *out,
                               struct cn_error *err);

/* The number of a frame, to be used many times. */
uint32_t cn_import_frame(struct cn_import *import, const struct cn_import_frame *frame);

/* The context of a call below `parent`; 0 is the top. */
uint32_t cn_import_call(struct cn_import *import, uint32_t parent, uint32_t frame);

/* A line of the function that the context is. */
uint32_t cn_import_line(struct cn_import *import, uint32_t parent, const char *file,
                        uint32_t line);

CN_CHECK bool cn_import_add(struct cn_import *import, uint32_t thread, uint32_t context,
                            uint32_t metric, double value, struct cn_error *err);

/* The thread was there at that time; in any order. */
void cn_import_sample(struct cn_import *import, uint32_t thread, uint64_t time_ns,
                      uint32_t context);

/* Something worth telling the user. */
CN_PRINTF(2, 3) void cn_import_warn(struct cn_import *import, const char *fmt, ...);

/* Hand out the database, which the caller closes. The import is gone in any case. */
CN_CHECK bool cn_import_finish(struct cn_import *import, struct cn_database **out,
                               struct cn_error *err);

/* Read a file, unpacked if need be, into a database: opens it, has `read` fill the
 * import, and finishes. Messages name the path. */
typedef bool (*cn_import_fn)(struct cn_import *import, struct cn_bytes bytes,
                             struct cn_error *err);
CN_CHECK bool cn_import_database(struct cn_database **out, const char *path,
                                 const char *description, cn_import_fn read,
                                 struct cn_error *err);

/* Whether the beginning of a file, unpacked, satisfies `looks_right`. */
typedef bool (*cn_import_look_fn)(struct cn_bytes beginning, bool is_whole);
bool cn_import_probe(const char *path, cn_import_look_fn looks_right);

/* The text as a string, in memory that is used again by the next call. */
const char *cn_import_str(struct cn_import *import, struct cn_bytes text);

#endif
