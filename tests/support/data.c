#include "support/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "support/skip.h"

static bool is_real;

/* NULL if the folder is not there. */
static const char *root_of(bool of_real)
{
    const char *folder = getenv(of_real ? "CAIRN_FIXTURES" : "CAIRN_TESTDATA");

    return folder && access(folder, R_OK) == 0 ? folder : NULL;
}

bool cn_test_data_is_real(void)
{
    return is_real;
}

int cn_test_on_data(const struct CMUnitTest *tests, size_t count)
{
    int failed = 0;

    if (!root_of(false)) {
        print_error("no generated data: run ctest, or set CAIRN_TESTDATA to the folder "
                    "testdata of a build\n");
        return 1;
    }
    failed += _cmocka_run_group_tests("generated data", tests, count, NULL, NULL);
    if (root_of(true)) {
        is_real = true;
        failed += _cmocka_run_group_tests("real data", tests, count, NULL, NULL);
        is_real = false;
    }
    return failed;
}

static char *path_of(bool of_real, const char *name)
{
    struct cn_text path = {0};

    cn_text_printf(&path, "%s/%s", root_of(of_real), name);
    return path.chars;
}

char *cn_test_data(const char *name)
{
    char *path = path_of(is_real, name);

    if (access(path, R_OK) == 0)
        return path;
    if (!is_real)
        fail_msg("no %s", path);
    print_message("skipped: %s\n", path);
    free(path);
    skip();
    return NULL;
}

char *cn_test_real_file(const char *name)
{
    char *path = root_of(true) ? path_of(true, name) : NULL;

    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

void cn_test_facts(const char *folder, const char *name, uint64_t *numbers, size_t count)
{
    struct cn_text file = {0};
    char line[1024], *path;
    size_t found = 0, name_len = strlen(name);
    FILE *facts;

    cn_text_printf(&file, "%s/facts", folder);
    path = path_of(false, cn_text_str(&file));
    facts = fopen(path, "r");
    while (facts && found == 0 && fgets(line, sizeof(line), facts)) {
        char *at = line + name_len;

        if (strncmp(line, name, name_len) != 0 || *at != ' ')
            continue;
        while (found < count && *at == ' ')
            numbers[found++] = strtoull(at, &at, 10);
    }
    if (facts)
        (void)fclose(facts);
    if (found != count)
        fail_msg("%s: %zu of %zu numbers of %s", path, found, count, name);
    free(path);
    cn_text_done(&file);
}
