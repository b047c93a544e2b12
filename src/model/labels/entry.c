/* Labels of entry points, the roots of call paths. */
#include "base/list.h"
#include "model/contexts/context.h"

const char *cn_entry_name(unsigned entry)
{
    static const char *const names[] = {
        [CN_ENTRY_UNKNOWN] = "unknown entry",
        [CN_ENTRY_MAIN_THREAD] = "main thread",
        [CN_ENTRY_APPLICATION_THREAD] = "application thread",
    };

    return entry < CN_COUNT_OF(names) ? names[entry] : NULL;
}
