/* What the functions of cairn.h share: the handles, and how tables are filled.
 * Threads: as cairn.h says.
 */
#ifndef CN_LIB_LIB_H
#define CN_LIB_LIB_H

#include "analyze/calls/defaults.h"
#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"
#include "cairn.h"
#include "open/open.h"

struct cairn_error {
    struct cn_error error;
};

/* One of the three is set: a database, a recording, or the path of a store. */
struct cairn_data {
    _Atomic bool is_broken; /* something in it may be half changed: it is not released */
    enum cairn_shape shape;
    struct cn_opened opened; /* owns what is below; no source: it is only in memory */
    const char *path;
    struct cn_database *db;
    struct cn_recording *rec;
};

/* A call of a function of cairn.h, see CN_LIB_BEGIN(). */
struct cn_lib_call {
    struct cn_memory_scope scope;
    bool *is_broken;
    struct cairn_data *data;
    struct cn_error *err, dropped;
};

/* Fails unless all pointers of a list are set; `names` has their names, separated by commas. */
CN_CHECK bool cn_lib_has(const char *names, const void *const *pointers, size_t count,
                         struct cairn_error *given);

/* False if the object of the call is broken. */
CN_CHECK bool cn_lib_begin(struct cn_lib_call *call, bool *is_broken,
                           const struct cairn_data *data, struct cairn_error *given);
void cn_lib_end(struct cn_lib_call *call);

/* Fails if a call that changed this object has run out of memory. */
CN_CHECK bool cn_lib_is_whole(const bool *is_broken, struct cn_error *err);

/* Begins every function of cairn.h that may need memory. Without memory, the function returns
 * `failure`, here, with CAIRN_ERR_NO_MEMORY; the object that it changes is broken then, which
 * `is_broken` (or NULL) notes, and the data as well if others share what it has changed. Sets
 * `e` to the error to fill: that of the caller, or one that is dropped. It contains returns:
 * setjmp() has to be called by a function that is still there when memory runs out. */
#define CN_LIB_BEGIN(is_broken, data, given, failure)                 \
    __attribute__((cleanup(cn_lib_end))) struct cn_lib_call lib_call; \
    if (!cn_lib_begin(&lib_call, is_broken, data, given))             \
        return failure;                                               \
    if (setjmp(lib_call.scope.start) != 0)                            \
        return failure;                                               \
    __attribute__((unused)) struct cn_error *e = lib_call.err

/* The same for a function with arguments that may not be NULL. They are checked first: `is_broken`
 * and `data` may be members of what they point at. */
#define CN_LIB_BEGIN_WITH(is_broken, data, given, failure, ...)                          \
    if (!cn_lib_has(#__VA_ARGS__, (const void *const[]){__VA_ARGS__},                    \
                    sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *), given)) \
        return failure;                                                                  \
    CN_LIB_BEGIN(is_broken, data, given, failure)

/* The new data takes what is open over. */
struct cairn_data *cn_lib_data_new(const struct cn_opened *opened);

/* The same for a database or recording that was made in memory. */
struct cairn_data *cn_lib_data_made(struct cn_database *db, struct cn_recording *rec);

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
