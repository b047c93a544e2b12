/* Small valid inputs of the exchange formats, for tests that damage them.
 * Threads: any thread.
 */
#ifndef CN_TEST_EXCHANGE_INPUTS_H
#define CN_TEST_EXCHANGE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char cn_test_folded[], cn_test_chrome[], cn_test_chrome_array[];
extern const char cn_test_speedscope[], cn_test_speedscope_calls[], cn_test_perf_script[];
extern const char cn_test_cpuprofile[], cn_test_heapprofile[], cn_test_chrome_js[];
extern const char cn_test_kineto[];
extern const char cn_test_heaptrack[], cn_test_massif[];
extern const char cn_test_zipkin[], cn_test_otlp_json[];

/* Each to be released with free(). */
uint8_t *cn_test_pprof(size_t *len);
uint8_t *cn_test_otlp(size_t *len);
uint8_t *cn_test_heapprofd(size_t *len);

#endif
