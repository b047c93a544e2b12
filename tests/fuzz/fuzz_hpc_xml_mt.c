/* Any bytes as experiment.mt beside an experiment.xml 2.x. */
#include "support/fuzz.h"
#include "support/fuzz_xml_legacy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return cn_fuzz_xml_legacy_run(CN_FUZZ_XML_LEGACY_TRACES, data, len);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    cn_fuzz_xml_legacy_seeds(CN_FUZZ_XML_LEGACY_TRACES, emit);
}
