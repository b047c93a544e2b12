/* Real databases have the same contents after they are rewritten.
 * Label: threads. */
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
#include "support/data.h"
#include "support/listing.h"
#include "support/scratch.h"

static struct cn_database *must_open(const char *path)
{
    struct cn_database *db = NULL;
    struct cn_error err = {0};

    if (!cn_hpc_v4_open(&db, path, &err))
        fail_msg("%s", err.text);
    return db;
}

/* The independent checker, where it lies beside real data. */
static void check(const char *path)
{
    char *script = cn_test_real_file("../checks/hpcdb_check.py");
    pid_t child;
    int status = 0;

    if (!script)
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
    free(script);
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
    char *path = cn_test_data(folder);
    size_t count = 0;

    databases = cn_listing_of(path);
    for (size_t i = 0; i < databases.count; i++) {
        struct cn_scratch *scratch;
        struct cn_text name = {0};

        cn_text_printf(&name, "%s/%s", path, databases.names[i]);
        if (cn_hpc_v4_probe(name.chars)) {
            scratch = cn_scratch_enter();
            rewrite(name.chars, without_entries);
            cn_scratch_leave(scratch);
            count++;
        }
        cn_text_done(&name);
    }
    cn_listing_done(&databases);
    free(path);
    assert_true(count > 0);
}

static void rewrites_every_database(void **state)
{
    (void)state;
    rewrite_all("hpctoolkit/v4", false);
}

/* The first draft has no entry points: one is put above the roots. */
static void rewrites_every_draft(void **state)
{
    (void)state;
    rewrite_all("hpctoolkit/v4-draft", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewrites_every_database),
        cmocka_unit_test(rewrites_every_draft),
    };

    return CN_TEST_ON_DATA(tests);
}
