/* The timelines of a database as calls of a recording, for formats of calls: a function is one call for as
 * long as consecutive samples have it on the stack below the same callers. Waits are scheduler events,
 * wake-ups by threads are flows.
 *
 *     cn_export_samples(x, write_calls, err)     of a format's export_database
 *
 * In memory: 32 bytes for each begin and each end. Threads: as export.h.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_SPANS_SAMPLES_H
#define CN_FORMATS_EXCHANGE_WRITE_SPANS_SAMPLES_H

#include "formats/exchange/export.h"

/* Write the database of the export with `write`, which finds the calls in its query. Fails if the database
 * has no timelines. */
CN_CHECK bool cn_export_samples(struct cn_export *x, cn_export_fn write,
                                struct cn_error *err);

#endif
