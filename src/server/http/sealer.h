/* Seals segments of a store in a thread of its own, so that the next segment is filled
 * meanwhile. A segment that cannot be sealed now is sealed when the store is opened again.
 * Threads: any thread may add and wait.
 */
#ifndef CN_SERVER_HTTP_SEALER_H
#define CN_SERVER_HTTP_SEALER_H

#include <stdint.h>

#include "base/error.h"

struct cn_disk;
struct cn_sealer;

CN_CHECK bool cn_sealer_start(struct cn_sealer **out, const char *path,
                              const struct cn_disk *io, struct cn_error *err);

/* A segment that nobody writes to any more. */
void cn_sealer_add(struct cn_sealer *sealer, uint32_t segment);

/* Returns when nothing is left to be sealed. */
void cn_sealer_wait(struct cn_sealer *sealer);

/* Seals what is left first. NULL is fine. */
void cn_sealer_stop(struct cn_sealer *sealer);

#endif
