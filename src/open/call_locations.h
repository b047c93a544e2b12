/* Locations of calls from debug information, and the source files to copy into a database
 * that is made of calls.
 *
 * The strings that an analysis takes from here live until cn_call_locations_done().
 * Threads: one thread at a time.
 */
#ifndef CN_OPEN_CALL_LOCATIONS_H
#define CN_OPEN_CALL_LOCATIONS_H

#include "analyze/cct/locations.h"
#include "symbols/sources.h"

struct cn_call_locations {
    struct cn_cct_locations locations; /* for the analysis */
    struct cn_resolver *resolver;
    struct cn_sources sources; /* zeroed; the caller may add moves */
    bool without_sources;      /* copy none */
};

/* The struct must stay where it is. */
void cn_call_locations_init(struct cn_call_locations *of, bool without_sources);
void cn_call_locations_done(struct cn_call_locations *of);

#endif
