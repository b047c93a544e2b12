#include "formats/hpctoolkit/xml/xml.h"

#include "formats/hpctoolkit/xml/legacy/legacy.h"
#include "formats/hpctoolkit/xml/read/open.h"
#include "formats/hpctoolkit/xml/verify/verify.h"
#include "formats/hpctoolkit/xml/write/writer.h"

const struct cn_format cn_format_hpctoolkit_xml = {
    .name = "hpctoolkit-xml",
    .summary =
        "HPCToolkit database of 2021: experiment.xml 4.0, profile.db, cct.db, trace.db",
    .holds = "database",
    .probe = cn_hpc_xml_probe,
    .open_database = cn_hpc_xml_open,
    .write_database = cn_hpc_xml_write,
    .verify = cn_hpc_xml_verify,
    .dump = cn_hpc_xml_dump,
};

const struct cn_format cn_format_hpctoolkit_xml_legacy = {
    .name = "hpctoolkit-xml-legacy",
    .summary =
        "HPCToolkit database before: experiment.xml 2.x, *.metric-db, experiment.mt",
    .holds = "database",
    .probe = cn_hpc_xml_legacy_probe,
    .open_database = cn_hpc_legacy_open,
    .verify = cn_hpc_legacy_verify,
    .dump = cn_hpc_legacy_dump,
};
