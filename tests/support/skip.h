/* Skipping a test of cmocka. tools/run-tests counts a skip without a reason as a failure.
 *
 * Threads: the thread that runs the test.
 */
#ifndef CN_TEST_SKIP_H
#define CN_TEST_SKIP_H

/* Print why and end the test. <cmocka.h> comes first. */
#define CN_SKIP(reason)                           \
    do {                                          \
        print_message("skipped: %s\n", (reason)); \
        skip();                                   \
    } while (0)

#endif
