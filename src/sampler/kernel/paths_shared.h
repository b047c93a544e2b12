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

enum cn_kernel_path_kind {
    CN_KERNEL_IS_PATH,
    CN_KERNEL_IS_ADDRESS, /* of a socket, as connect() takes it */
    CN_KERNEL_IS_PAIR,    /* two descriptors that were made */
};

struct cn_kernel_path {
    struct cn_kernel_record head; /* CN_KERNEL_PATH */
    uint32_t len;
    uint32_t kind;
    uint64_t flags; /* of a pair: an argument */
    char text[CN_KERNEL_PATH_MAX];
};

#endif
