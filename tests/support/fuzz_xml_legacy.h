/* The common part of the fuzz targets of experiment.xml 2.x: open, read and verify a valid
 * database with one file replaced.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FUZZ_XML_LEGACY_H
#define CN_TEST_FUZZ_XML_LEGACY_H

#include <stddef.h>
#include <stdint.h>

enum cn_fuzz_xml_legacy_file {
    CN_FUZZ_XML_LEGACY_EXPERIMENT,
    CN_FUZZ_XML_LEGACY_VALUES, /* *.metric-db */
    CN_FUZZ_XML_LEGACY_PACKED,
    CN_FUZZ_XML_LEGACY_TRACES,
};

/* Returns 0, or ends in a failed assertion. */
int cn_fuzz_xml_legacy_run(enum cn_fuzz_xml_legacy_file file, const uint8_t *data,
                           size_t len);

void cn_fuzz_xml_legacy_seeds(enum cn_fuzz_xml_legacy_file file,
                              void (*emit)(const uint8_t *data, size_t len));

#endif
