#include "base/host/library.h"

#include <dlfcn.h>
#include <string.h>

const char *cn_library_find(void *library, const struct cn_library_symbol *symbols,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, symbols[i].name);

        if (!symbol)
            return symbols[i].name;
        memcpy(symbols[i].to, &symbol, sizeof(symbol));
    }
    return NULL;
}
