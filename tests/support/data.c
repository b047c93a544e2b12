#include "support/fixtures.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"

char *cn_test_fixture(const char *name)
{
    const char *folder = getenv("CAIRN_FIXTURES");
    struct cn_text path = {0};

    cn_text_printf(&path, "%s/%s", folder ? folder : "../shared/fixtures", name);
    if (access(path.chars, R_OK) == 0)
        return path.chars;
    printf("skipped: no %s\n", path.chars);
    cn_text_done(&path);
    return NULL;
}
