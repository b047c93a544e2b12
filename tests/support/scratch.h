/* A folder of its own for a test that writes files: the test runs inside it, and it is
 * gone afterwards.
 *
 * List a test as CN_SCRATCH_TEST(name) to have it run in one, with the scratch as its
 * state.
 * Threads: one thread at a time; the current folder belongs to the process.
 */
#ifndef CN_TEST_SCRATCH_H
#define CN_TEST_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

struct cn_scratch;

/* Make a new empty folder and change into it. Ends the process when it cannot. */
struct cn_scratch *cn_scratch_enter(void);

/* Go back to where the test came from and remove the folder. */
void cn_scratch_leave(struct cn_scratch *scratch);

/* The same for cmocka: enter, and leave. */
int cn_scratch_setup(void **state);
int cn_scratch_teardown(void **state);

/* A test that runs in a scratch. */
#define CN_SCRATCH_TEST(name) \
    cmocka_unit_test_setup_teardown(name, cn_scratch_setup, cn_scratch_teardown)

void cn_scratch_write(const char *path, const void *data, size_t len);

/* Remove a file or a folder with all that is in it; one that does not exist is fine. */
void cn_scratch_remove(const char *path);

/* Is there anything of this name? */
bool cn_scratch_exists(const char *path);

/* Does `path` exist, and does it hold exactly these bytes? */
bool cn_scratch_holds(const char *path, const void *data, size_t len);

/* The number of entries of a folder, hidden ones included. */
size_t cn_scratch_count(const char *folder);

#endif
