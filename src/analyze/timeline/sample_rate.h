/* The samples of a thread per second, over time.
 * Threads: any thread, as the database allows.
 */
#ifndef CN_ANALYZE_TIMELINE_SAMPLE_RATE_H
#define CN_ANALYZE_TIMELINE_SAMPLE_RATE_H

#include "analyze/timeline/task_tracks.h"

/* The parts of a rate, at most. */
enum { CN_SAMPLE_RATE_PARTS_MAX = 256 };

/* Read the rate between two times of the database, in parts of 2^n ns that begin at multiples
 * of their length after its begin: moving the range does not change them. Times of readings
 * are those of the database. The caller frees out->list, also after a failure. */
CN_CHECK bool cn_sample_rate_read(struct cn_readings *out, struct cn_database *db,
                                  uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                                  struct cn_error *err);

#endif
