/* Durations, times, numbers and texts in columns of a fixed width, laid out as uftrace does.
 * Without printf(): a line of replay has several.
 * Threads: any thread.
 */
#ifndef CN_CLI_PRINT_FIXED_WIDTH_H
#define CN_CLI_PRINT_FIXED_WIDTH_H

#include <stddef.h>
#include <stdint.h>

struct cn_text;

enum { CN_DURATION_LEN = 10 };

/* Append ten characters: "  1.234 us", " 93.290  s", "1234.56  s", blanks for 0. Times of 116 days
 * or more take more. */
void cn_duration_add(struct cn_text *text, uint64_t ns);

/* Append seconds with nine decimals, right aligned: "      626.392746455" in 18 columns. */
void cn_timestamp_add(struct cn_text *text, uint64_t ns, size_t width);

/* Append the fraction of a second: ".392746455". */
void cn_nanoseconds_add(struct cn_text *text, uint32_t ns);

/* Append a number, right aligned. */
void cn_number_add(struct cn_text *text, uint64_t value, size_t width);
void cn_hex_number_add(struct cn_text *text, uint64_t value, size_t width);

/* Append a string, right aligned. */
void cn_right_add(struct cn_text *text, const char *str, size_t width);

#endif
