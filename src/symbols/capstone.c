#ifdef CN_HAS_CAPSTONE
#include "symbols/capstone.h"

#include <dlfcn.h>
#include <string.h>

#include "base/run/once.h"

static struct cn_once once = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct cn_capstone functions;
static bool is_loaded;

static void load(void *arg)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"cs_open", &functions.open},     {"cs_close", &functions.close},
        {"cs_option", &functions.option}, {"cs_malloc", &functions.malloc},
        {"cs_free", &functions.free},     {"cs_disasm_iter", &functions.disasm_iter},
    };
    void *library = dlopen(CN_CAPSTONE_LIBRARY, RTLD_NOW | RTLD_LOCAL);

    (void)arg;
    for (size_t i = 0; library && i < sizeof(symbols) / sizeof(*symbols); i++) {
        void *symbol = dlsym(library, symbols[i].name);

        if (!symbol)
            return;
        memcpy(symbols[i].to, &symbol, sizeof(symbol));
    }
    is_loaded = library != NULL;
}

const struct cn_capstone *cn_capstone(void)
{
    cn_once_run(&once, load, NULL);
    return is_loaded ? &functions : NULL;
}
#endif
