/* The format of databases of HPCToolkit's prototype.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_PROTO_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_PROTO_H

#include "model/format.h"

extern const struct cn_format cn_format_hpctoolkit_proto;

#endif
