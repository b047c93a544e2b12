/* There is no kernel that could tell a program anything.
 * Threads: any thread.
 */
#ifndef CN_WASM_PORT_SYS_AUXV_H
#define CN_WASM_PORT_SYS_AUXV_H

#define AT_SYSINFO_EHDR 33

static inline unsigned long getauxval(unsigned long type)
{
    (void)type;
    return 0;
}

#endif
