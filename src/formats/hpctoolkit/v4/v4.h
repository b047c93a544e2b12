/* HPCToolkit v4.0 databases as a format cairn knows; drafts of it are read too.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_V4_H
#define CN_FORMATS_HPCTOOLKIT_V4_V4_H

#include "model/format.h"

extern const struct cn_format cn_format_hpctoolkit_v4;

#endif
