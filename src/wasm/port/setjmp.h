/* There are no jumps out of functions: longjmp() returns.
 * Threads: one thread at a time.
 */
#ifndef CN_WASM_PORT_SETJMP_H
#define CN_WASM_PORT_SETJMP_H

typedef int jmp_buf;

static inline int setjmp(jmp_buf buffer)
{
    (void)buffer;
    return 0;
}

static inline void longjmp(jmp_buf buffer, int value)
{
    (void)buffer;
    (void)value;
}

#endif
