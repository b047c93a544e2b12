/* Real data that is not part of the repository.
 *
 * The folder is CAIRN_FIXTURES; CMake sets it to `../shared/fixtures` beside the source
 * folder unless the environment says otherwise.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FIXTURES_H
#define CN_TEST_FIXTURES_H

/* What a test program returns to be counted as skipped. */
enum { CN_TEST_SKIPPED = 77 };

/* The path of `name` in the fixtures, to be released with free(). NULL, after a line on
 * standard output that says `skipped`, when it is not there. */
char *cn_test_fixture(const char *name);

#endif
