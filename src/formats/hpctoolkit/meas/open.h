/* Measurement directories of hpcrun and hpcstruct as measurements of the model.
 *
 * Opening lists the profiles; structure files, kernel symbols and binaries are read when an
 * address in their module is first looked up.
 * Threads: as model/contexts/samples.h.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_OPEN_H

#include "formats/hpctoolkit/meas/code/options.h"
#include "formats/hpctoolkit/meas/code/path_map.h"
#include "model/contexts/samples.h"

/* True for a measurement directory or a .hpcrun file. */
bool cn_hpc_meas_probe(const char *path);

/* Open one or more directories; their profiles follow each other. The caller owns the
 * measurements. `options` may be NULL; what it points at must outlive them. */
CN_CHECK bool cn_hpc_meas_open(struct cn_measurements **out, const char *const *paths,
                               size_t count, const struct cn_hpc_meas_options *options,
                               struct cn_error *err);

#endif
