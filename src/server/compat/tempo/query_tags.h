/* Names of attributes that the spans of a query have.
 * Threads: one thread at a time, with the lock of the store.
 */
#ifndef CN_SERVER_COMPAT_TEMPO_QUERY_TAGS_H
#define CN_SERVER_COMPAT_TEMPO_QUERY_TAGS_H

#include "base/error.h"
#include "base/map.h"
#include "server/compat/common/values.h"

struct cn_compat_call;

struct cn_tempo_names {
    bool is_given; /* there is a query; without it the names of all spans are meant */
    struct cn_names scopes[CN_SCOPE_NONE];
};

/* Read the spans that `q` finds in the newest traces, at most 200. A query that cannot be read is
 * none: editors send what is being typed. The caller releases `out`, also after a failure. */
CN_CHECK bool cn_tempo_names_of_query(struct cn_compat_call *call,
                                      struct cn_tempo_names *out, struct cn_error *err);
void cn_tempo_names_done(struct cn_tempo_names *names);

#endif
