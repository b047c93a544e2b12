#ifdef CN_HAS_CAPSTONE
#include "symbols/program/capstone.h"

#include <dlfcn.h>

#include "base/host/library.h"
#include "base/run/once.h"

static struct cn_once once = CN_ONCE_NEW;
static struct cn_capstone functions;
static bool is_loaded;

static void load(void *arg)
{
    const struct cn_library_symbol symbols[] = {
        {"cs_open", &functions.open},     {"cs_close", &functions.close},
        {"cs_option", &functions.option}, {"cs_malloc", &functions.malloc},
        {"cs_free", &functions.free},     {"cs_disasm_iter", &functions.disasm_iter},
    };
    void *library = dlopen(CN_CAPSTONE_LIBRARY, RTLD_NOW | RTLD_LOCAL);

    (void)arg;
    is_loaded =
        library && !cn_library_find(library, symbols, sizeof(symbols) / sizeof(*symbols));
}

const struct cn_capstone *cn_capstone(void)
{
    cn_once_run(&once, load, NULL);
    return is_loaded ? &functions : NULL;
}
#endif
