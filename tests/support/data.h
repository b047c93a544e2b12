/* Data that tests read: generated, and real where there is any.
 *
 * tests/generators writes the generated data, which is always there, below CAIRN_TESTDATA. Real
 * data is outside of the repository, in CAIRN_FIXTURES (CMake: `../shared/fixtures` beside the
 * source folder unless the environment says otherwise). Both have the same names.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_DATA_H
#define CN_TEST_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CMUnitTest;

/* Run a group of tests on generated data, then on real data if there is any. Returns how many
 * failed. */
#define CN_TEST_ON_DATA(tests) \
    cn_test_on_data((tests), sizeof(tests) / sizeof((tests)[0]))
int cn_test_on_data(const struct CMUnitTest *tests, size_t count);

/* Whether the tests now run on real data. */
bool cn_test_data_is_real(void);

/* The path of `name` in the data that the tests now run on; the caller frees it. If generated data
 * has no such name, the test fails; if real data has none, it is skipped, with a message. */
char *cn_test_data(const char *name);

/* The path of a file that is only there beside real data, or NULL; the caller frees it. */
char *cn_test_real_file(const char *name);

/* The numbers that generators note about `name` in the file `facts` of a folder, like
 * "hpctoolkit". The test fails unless there are `count` of them. */
void cn_test_facts(const char *folder, const char *name, uint64_t *numbers, size_t count);

#endif
