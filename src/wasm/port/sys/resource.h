/* There is one thread, which gives way to none.
 * Threads: one thread at a time.
 */
#ifndef CN_WASM_PORT_SYS_RESOURCE_H
#define CN_WASM_PORT_SYS_RESOURCE_H

#define PRIO_PROCESS 0

static inline int setpriority(int which, unsigned who, int priority)
{
    (void)which;
    (void)who;
    (void)priority;
    return 0;
}

#endif
