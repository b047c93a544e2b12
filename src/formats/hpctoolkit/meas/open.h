/* Measurement directories: what hpcrun and hpcstruct have left, as measurements of
 * the model.
 *
 * Opening lists the profiles; structure files, kernel symbols and binaries are read
 * when an address in their module is asked for.
 * Threads: as model/contexts/samples.h.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_OPEN_H

#include "formats/hpctoolkit/meas/code/options.h"
#include "formats/hpctoolkit/meas/code/path_map.h"
#include "model/contexts/samples.h"

/* Whether the path is a measurement directory or one .hpcrun file. */
bool cn_hpc_meas_probe(const char *path);

/* Open one or more; their profiles follow each other. `options` may be NULL; what
 * it points at is needed until the measurements are closed. The caller owns them. */
CN_CHECK bool cn_hpc_meas_open(struct cn_measurements **out, const char *const *paths,
                               size_t count, const struct cn_hpc_meas_options *options,
                               struct cn_error *err);

#endif
