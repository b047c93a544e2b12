/* Searches as the APIs of other trace stores have them: the newest traces with a span that all
 * conditions hold for, each loaded whole.
 *
 *     struct cn_find find = {.limit = 20};
 *     cn_find_add(&find, "service", "=", "shop");
 *     cn_find_add_attribute(&find, "http.method", "GET");
 *     cn_find_traces(store, &find, visit, arg, err)
 *     cn_find_done(&find);
 *
 * A condition is written in the language of store/search/query.h.
 * Threads: one thread at a time, with the lock of the store.
 */
#ifndef CN_SERVER_COMPAT_COMMON_FIND_H
#define CN_SERVER_COMPAT_COMMON_FIND_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct cn_served_store;
struct cn_trace_set;

enum {
    CN_FIND_MAX = 2000,             /* traces of one answer */
    CN_FIND_ANSWER_MAX = 256 << 20, /* bytes of it */
};

struct cn_find {
    struct cn_text query;
    const char *name; /* that the span has, exactly; NULL: any. Borrowed */
    size_t limit;
    const struct cn_text *answer; /* that is written; NULL: it may become any length */
};

void cn_find_done(struct cn_find *find);

/* A condition: a field of the language, an operator, and a value that is quoted here. */
void cn_find_add(struct cn_find *find, const char *field, const char *sign,
                 const char *value);

/* An attribute of the span or of its resource has this value, or, if it is NULL, any. `error`,
 * `span.kind` and `otel.status_code` are what a span has, not attributes. */
void cn_find_add_attribute(struct cn_find *find, const char *name, const char *value);

/* The name of the span. */
void cn_find_add_name(struct cn_find *find, const char *name);

/* The span begins between these times, and takes so long; 0 and UINT64_MAX are no limit. */
void cn_find_add_times(struct cn_find *find, uint64_t first_ns, uint64_t last_ns);
void cn_find_add_durations(struct cn_find *find, uint64_t min_ns, uint64_t max_ns);

/* Visit the traces, the one with the newest such span first. Fails with CN_ERR_LIMIT if the answer
 * becomes too long. */
typedef bool cn_find_visit(void *arg, const struct cn_trace_set *set,
                           struct cn_error *err);
CN_CHECK bool cn_find_traces(struct cn_served_store *store, const struct cn_find *find,
                             cn_find_visit *visit, void *arg, struct cn_error *err);

/* Visit the trace with an id of 1 to 32 hexadecimal digits. Fails with CN_ERR_NOT_FOUND if there is
 * none, with CN_ERR_USAGE if this is no id. */
CN_CHECK bool cn_find_trace(struct cn_served_store *store, const char *id,
                            cn_find_visit *visit, void *arg, struct cn_error *err);

#endif
