/* Taxonomies of metrics as YAML, read and written by a test.
 *
 * Each fails the test with the message of what went wrong.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_YAML_ROUND_TRIP_H
#define CN_TEST_YAML_ROUND_TRIP_H

#include "base/arena.h"
#include "base/text.h"
#include "model/contexts/taxonomy.h"

struct cn_taxonomy cn_yaml_must_read(struct cn_arena *arena, const char *text);

/* What is written reads as the same taxonomy. The text is added to `written`. */
void cn_yaml_must_round_trip(const struct cn_taxonomy *taxonomy, struct cn_text *written);

#endif
