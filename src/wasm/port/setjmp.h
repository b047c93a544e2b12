/* There are no jumps out of functions. Only demanglers are left by longjmp(): it lets them end
 * soon, and returns.
 * Threads: one thread at a time.
 */
#ifndef CN_WASM_PORT_SETJMP_H
#define CN_WASM_PORT_SETJMP_H

typedef int jmp_buf;

void cn_port_stop_cp(void);
void cn_port_stop_rust(void);

static inline int setjmp(jmp_buf buffer)
{
    return 0;
}

static inline void longjmp(jmp_buf buffer, int value)
{
    cn_port_stop_cp();
    cn_port_stop_rust();
}

#endif
