/* The format of HPCToolkit v4.0 databases; its drafts are read as well.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_V4_H
#define CN_FORMATS_HPCTOOLKIT_V4_V4_H

#include "model/format.h"

extern const struct cn_format cn_format_hpctoolkit_v4;

#endif
