/* Real databases have the same contents after they are rewritten. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/contexts/database.h"
#include "open/formats.h"
#include "support/compare.h"
#include "support/fixtures.h"
#include "support/listing.h"
#include "support/scratch.h"

static char *root; /* of the fixtures, absolute */

static struct cn_database *must_open(const char *path)
{
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_hpc_v4_open(&db, path, &err))
        fail_msg("%s", err.text);
    return db;
}

/* The independent checker, where it lies beside the fixtures. */
static void check(const char *path)
{
    char script[PATH_MAX];
    pid_t child;
    int status = 0;

    (void)snprintf(script, sizeof(script), "%s/../checks/hpcdb_check.py", root);
    if (access(script, R_OK) < 0)
        return;
    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        (void)execlp("python3", "python3", script, path, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 127))
        fail_msg("%s found errors", script);
}

static void rewrite(const char *path, bool without_entries)
{
    struct cn_write_options options = {.workers = 2, .memory_len = 100000};
    struct cn_database *from = must_open(path);
    struct cn_error err = {0};
    struct cn_database *to;

    if (!cn_hpc_v4_write(from, "db", &options, &err))
        fail_msg("%s: %s", path, err.text);
    to = must_open("db");
    if (!cn_compare_databases(from, to, without_entries, &err) ||
        !cn_compare_planes(to, &err))
        fail_msg("%s: %s", path, err.text);
    cn_database_close(to);
    cn_database_close(from);
    check("db");
}

static void rewrite_all(const char *folder, bool without_entries)
{
    struct cn_listing databases;
    struct cn_text path = {0};
    size_t count = 0;

    cn_text_printf(&path, "%s/hpctoolkit/%s", root, folder);
    databases = cn_listing_of(path.chars);
    for (size_t i = 0; i < databases.count; i++) {
        struct cn_scratch *scratch;
        struct cn_text name = {0};

        cn_text_printf(&name, "%s/%s", path.chars, databases.names[i]);
        if (cn_hpc_v4_probe(name.chars)) {
            scratch = cn_scratch_enter();
            rewrite(name.chars, without_entries);
            cn_scratch_leave(scratch);
            count++;
        }
        cn_text_done(&name);
    }
    cn_listing_done(&databases);
    cn_text_done(&path);
    assert_true(count > 0);
}

static void rewrites_every_database(void **state)
{
    (void)state;
    rewrite_all("v4", false);
}

/* They have no entry points: one is put above the roots. */
static void rewrites_every_draft(void **state)
{
    (void)state;
    rewrite_all("v4-draft", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewrites_every_database),
        cmocka_unit_test(rewrites_every_draft),
    };
    char *folder = cn_test_fixture("");
    int status = 0;

    if (!folder)
        return CN_TEST_SKIPPED;
    root = realpath(folder, NULL);
    status = cmocka_run_group_tests(tests, NULL, NULL);
    free(root);
    free(folder);
    return status;
}
