/* Where the code of a recording is in source files, for an analysis: from debug
 * information, with the folders moved as the user says.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DATABASE_ANALYZE_PLACES_H
#define CN_CLI_DATABASE_ANALYZE_PLACES_H

#include "analyze/cct/cct_locations.h"
#include "symbols/sources.h"

struct cn_args;
struct cn_resolver;

struct cn_analyze_places {
    struct cn_cct_locations places; /* hand this to the analysis */
    struct cn_resolver *resolver;
    struct cn_sources sources;
    bool without_sources;
};

/* As --source-path and --no-source want it. `self` must stay where it is. On failure
 * it is to be released as well. */
CN_CHECK bool cn_analyze_places_init(struct cn_analyze_places *self,
                                     const struct cn_args *args, struct cn_error *err);
void cn_analyze_places_done(struct cn_analyze_places *self);

#endif
