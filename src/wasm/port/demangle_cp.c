/* The demangler of C++ of libiberty, made to stop: a name can stand for one that is exponentially
 * longer, and there is no longjmp() out of it here. */

static void *running; /* while the output is collected */
#define callback(text, len, arg) \
    callback(text, len, (running = dpi, arg)), running = (void *)0

#include <cp-demangle.c>

void cn_port_stop_cp(void)
{
    struct d_print_info *printing = running;

    if (printing)
        printing->demangle_failure = 1;
}
