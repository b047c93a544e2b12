/* What the functions of cairn.h share: the handles, and how tables are filled.
 * Threads: as cairn.h says.
 */
#ifndef CN_LIB_LIB_H
#define CN_LIB_LIB_H

#include "analyze/calls/defaults.h"
#include "base/error.h"
#include "base/map.h"
#include "base/text.h"
#include "cairn.h"
#include "model/format.h"
#include "open/measured.h"

struct cn_database;
struct cn_recording;

struct cairn_error {
    struct cn_error error;
};

/* One of the three is set: a database, a recording, or the path of a store. */
struct cairn_data {
    enum cairn_shape shape;
    const struct cn_format *format; /* NULL: built in memory */
    char *path;
    struct cn_database *db;
    struct cn_recording *rec;
    struct cn_measured measured; /* of measurements */
    char *folder;                /* temporary, of an analysis; or NULL */
    bool is_of_traces;           /* a database of the calls of request traces */
};

/* The error to fill: that of the caller, or one that is dropped. */
static inline struct cn_error *cn_lib_error(struct cairn_error *err,
                                            struct cn_error *dropped)
{
    return err ? &err->error : dropped;
}

/* The new data takes the database or recording over. */
struct cairn_data *cn_lib_data_new(const struct cn_format *format, const char *path,
                                   struct cn_database *db, struct cn_recording *rec);

/* Fails unless the data has this shape. */
CN_CHECK bool cn_lib_needs(const struct cairn_data *data, enum cairn_shape shape,
                           struct cn_error *err);

/* A query for calls. `options` may be NULL. Release it in any case; it must stay where it is. */
CN_CHECK bool cn_lib_calls_init(struct cn_all_calls *calls,
                                const struct cn_recording *rec,
                                const struct cairn_call_options *options,
                                struct cn_error *err);

/* A copy of options whose size the caller may not know: members that it lacks are zero. */
void cn_lib_options(void *out, size_t out_size, const void *given);

#endif
