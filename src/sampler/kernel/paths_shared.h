/* What the program that reads paths in the kernel (paths.bpf.c) and the sampler agree on.
 * Threads: immutable.
 */
#ifndef CN_SAMPLER_KERNEL_PATHS_SHARED_H
#define CN_SAMPLER_KERNEL_PATHS_SHARED_H

#include <stdint.h>

#include "sampler/kernel/shared.h"

enum {
    CN_KERNEL_PATH_MAX = 1024, /* with its NUL; longer ones are cut off */
    CN_KERNEL_ADDRESS_MAX = 128,
    CN_KERNEL_PATHS_LEN = 4 << 20,
};

struct cn_kernel_path {
    struct cn_kernel_record head; /* CN_KERNEL_PATH */
    uint32_t len;
    uint32_t is_address; /* of a socket, as connect() takes it */
    char text[CN_KERNEL_PATH_MAX];
};

#endif
