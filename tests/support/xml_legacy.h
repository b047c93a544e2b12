/* A small experiment.xml 2.x database in memory, made byte by byte.
 *
 * Two threads, packed; thread p has in column 0 (inclusive) the value 100 p + id, in column 1
 * (exclusive) 1000 p + id for contexts 4 and 6:
 *
 *     2 main thread
 *       3 main()
 *         4 line a.c:6        samples call it 20
 *           6 f()             called from there by call site 5
 *
 * The summary: 90 (inclusive) for the root, 2 and 3; 10 and 10 for 4; 50 and 50 for 6.
 * Thread 0 has three samples: waiting (19), the line (20), and one of no context (77), at 1, 2
 * and 3 microseconds.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_XML_LEGACY_H
#define CN_TEST_XML_LEGACY_H

#include "base/text.h"
#include "formats/hpctoolkit/xml/legacy/legacy.h"

struct cn_xml_legacy {
    struct cn_text packed, traces;
    struct cn_hpc_legacy_files files; /* borrows the texts: change them as you like */
};

void cn_xml_legacy_init(struct cn_xml_legacy *legacy);
void cn_xml_legacy_done(struct cn_xml_legacy *legacy);

/* The file of one thread, 1 or 2, inside the packed one. */
struct cn_bytes cn_xml_legacy_values(const struct cn_xml_legacy *legacy, unsigned thread);

#endif
