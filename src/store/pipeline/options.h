/* Options of a collector that were not given.
 *
 * Threads: any thread.
 */
#ifndef CN_STORE_PIPELINE_OPTIONS_H
#define CN_STORE_PIPELINE_OPTIONS_H

#include "store/pipeline/collector.h"

struct cn_store_config;
struct cn_store_options;

/* Those of `given`, which may be NULL, with numbers for the others. */
void cn_collector_choose(struct cn_collector_options *options,
                         const struct cn_collector_options *given);

/* When segments end. Whole segments are removed: those of a store with limits are so short that it is not far
 * below them. */
void cn_collector_choose_rotation(const struct cn_collector_options *given,
                                  const struct cn_store_config *config,
                                  struct cn_store_options *options);

#endif
