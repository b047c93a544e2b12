/* The format of measurement directories of hpcrun and hpcstruct.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_MEAS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_MEAS_H

#include "model/format.h"

extern const struct cn_format cn_format_hpctoolkit_meas;

#endif
