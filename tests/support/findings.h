/* What a verifier reports about a small database, as text.
 *
 * One line a finding: "error meta.db 0x158 string-bounds: title at ...".
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FINDINGS_H
#define CN_TEST_FINDINGS_H

#include "base/text.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "support/tiny_v4.h"

/* Verify and list the findings. `*error_count` counts the errors among them. */
void cn_findings_list(const struct cn_hpc_v4_files *files, struct cn_text *out,
                      size_t *error_count);

/* Fail the test unless verifying the database reports exactly this, among others. */
CN_PRINTF(2, 3)
void cn_findings_expect(const struct cn_tiny_v4 *tiny, const char *fmt, ...);

#endif
