/* What mpirun and MPI cost before and after any work: connects the ranks through the library
 * that cairn uses, and disconnects them. bench/scale compiles and measures it.
 *
 *     cc -O2 -Isrc rank_start.c -o rank_start
 *     mpirun -n 16 ./rank_start build/release/libcairn-mpi.so
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/run/ranks.h"

int main(int argc, char **argv)
{
    void *object = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
    void *symbol = object ? dlsym(object, "cn_ranks_connect") : NULL;
    struct cn_error err = {0};
    cn_ranks_connect_fn connect;
    struct cn_ranks *ranks;

    if (!symbol) {
        (void)fprintf(stderr, "usage: rank_start libcairn-mpi.so: %s\n", dlerror());
        return 2;
    }
    memcpy(&connect, &symbol, sizeof(connect));
    if (!connect(&ranks, &err)) {
        (void)fprintf(stderr, "rank_start: %s\n", err.text);
        return 1;
    }
    ranks->ops->close(ranks);
    return 0;
}
