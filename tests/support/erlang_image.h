/* The memory of a process that runs Erlang, as far as it tells debuggers of its code.
 *
 * Threads: immutable.
 */
#ifndef CN_TEST_ERLANG_IMAGE_H
#define CN_TEST_ERLANG_IMAGE_H

#include "base/text.h"

enum {
    CN_ERLANG_BASE = 0x10000, /* of the memory */
    CN_ERLANG_DESCRIPTOR = CN_ERLANG_BASE,
    CN_ERLANG_CODE =
        0x500000, /* of shop, of 0x100 bytes: total/1 from 0x40 on, the outermost frame at 0x80 */
    CN_ERLANG_SHARED = 0x600000, /* of global, of 0x40 bytes */
};

/* The caller ends it with cn_text_done(). */
struct cn_text cn_erlang_image(void);

#endif
