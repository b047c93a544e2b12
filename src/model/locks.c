#include "model/locks.h"

#include <stdlib.h>

void cn_locks_done(struct cn_locks *locks)
{
    free(locks->list);
    free(locks->waits);
    *locks = (struct cn_locks){0};
}
