#include "formats/hpctoolkit/scopes.h"

#include <string.h>

enum { NO_BIT = 255 };

struct cn_scope cn_hpc_scope_of(const char *name)
{
    struct cn_scope scope = {name, CN_SCOPE_CUSTOM, NO_BIT};

    if (strcmp(name, "point") == 0)
        scope.type = CN_SCOPE_POINT;
    else if (strcmp(name, "execution") == 0)
        scope.type = CN_SCOPE_EXECUTION;
    else if (strcmp(name, "function") == 0)
        scope = (struct cn_scope){name, CN_SCOPE_TRANSITIVE, CN_HPC_FUNCTION_BIT};
    return scope;
}
