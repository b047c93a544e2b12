/* The demangler of Rust of libiberty, made to stop, as demangle_cp.c. */

static void *running; /* while the output is collected */
#define callback(text, len, arg) \
    callback(text, len, (running = rdm, arg)), running = (void *)0

#include <rust-demangle.c>

void cn_port_stop_rust(void)
{
    struct rust_demangler *printing = running;

    if (printing)
        printing->errored = 1;
}
