#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/run/progress.h"

static void a_failure_has_a_kind_and_a_text(void **state)
{
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_fail(&err, CN_ERR_LIMIT, "%d threads, can hold %d", 7, 5));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    assert_string_equal(err.text, "7 threads, can hold 5");
}

static void context_reads_outside_in(void **state)
{
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_fail(&err, CN_ERR_FORMAT, "time runs backwards"));
    assert_false(cn_fail_in(&err, "trace %d", 17));
    assert_false(cn_fail_in(&err, "%s", "trace.db"));
    assert_string_equal(err.text, "trace.db: trace 17: time runs backwards");
    assert_int_equal(err.kind, CN_ERR_FORMAT);
}

static void errno_is_explained(void **state)
{
    struct cn_error err = {0};

    (void)state;
    errno = EACCES;
    assert_false(cn_fail_errno(&err, "%s", "a.db"));
    assert_int_equal(err.kind, CN_ERR_IO);
    assert_string_equal(err.text, "a.db: Permission denied");
    errno = ENOENT;
    assert_false(cn_fail_errno(&err, "b.db"));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    assert_string_equal(err.text, "b.db: No such file or directory");
}

/* Whatever the lengths: the text ends, and what was said first is at its front. */
static void long_texts_are_cut(void **state)
{
    char chars[2 * sizeof(((struct cn_error *)0)->text)];

    (void)state;
    for (size_t len = 0; len < sizeof(chars); len++) {
        struct cn_error err = {0};

        memset(chars, 'c', sizeof(chars));
        chars[len] = '\0';
        assert_false(cn_fail(&err, CN_ERR_IO, "cause"));
        assert_false(cn_fail_in(&err, "%s", chars));
        assert_true(memchr(err.text, '\0', sizeof(err.text)) != NULL);
        if (len + strlen(": cause") < sizeof(err.text))
            assert_string_equal(err.text + len, ": cause");
        errno = EIO;
        assert_false(cn_fail_errno(&err, "%s", chars));
        assert_true(memchr(err.text, '\0', sizeof(err.text)) != NULL);
        assert_int_equal(err.kind, CN_ERR_IO);
    }
}

static void a_cause_as_long_as_it_may_be_is_cut_behind_its_context(void **state)
{
    char chars[2 * sizeof(((struct cn_error *)0)->text)];
    struct cn_error err = {0};

    (void)state;
    memset(chars, 'x', sizeof(chars));
    chars[sizeof(chars) - 1] = '\0';
    assert_false(cn_fail(&err, CN_ERR_IO, "%s", chars));
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_false(cn_fail_in(&err, "a.db"));
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_memory_equal(err.text, "a.db: xxx", 9);
}

static bool stop_at_five(void *arg, const char *what, uint64_t done, uint64_t total,
                         const char *unit)
{
    (*(int *)arg)++;
    assert_string_equal(what, "reading values");
    assert_string_equal(unit, "values");
    assert_int_equal(total, 10);
    return done < 5;
}

static void progress_can_stop_the_work(void **state)
{
    int calls = 0;
    struct cn_progress progress = {.report = stop_at_five, .arg = &calls};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_progress_report(&progress, "reading values", 4, 10, "values", &err));
    assert_int_equal(err.kind, CN_ERR_NONE);
    assert_false(cn_progress_report(&progress, "reading values", 5, 10, "values", &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    assert_string_equal(err.text, "interrupted while reading values");
    assert_int_equal(calls, 2);
    assert_true(cn_progress_report(NULL, "reading values", 5, 10, "values", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_has_a_kind_and_a_text),
        cmocka_unit_test(context_reads_outside_in),
        cmocka_unit_test(errno_is_explained),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(a_cause_as_long_as_it_may_be_is_cut_behind_its_context),
        cmocka_unit_test(progress_can_stop_the_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
