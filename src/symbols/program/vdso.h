/* The vDSO of the running kernel, as a file: programs that ran on this kernel had the same.
 * A zeroed one is not open.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_VDSO_H
#define CN_SYMBOLS_PROGRAM_VDSO_H

#include <stdbool.h>

struct cn_vdso {
    bool is_open;
    int fd;
    char path[32]; /* of the image, while it is open */
};

/* False if there is none. */
bool cn_vdso_open(struct cn_vdso *vdso);
void cn_vdso_close(struct cn_vdso *vdso);

#endif
