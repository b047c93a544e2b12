/* Every element of an experiment.xml and every structure of its value files, for
 * `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_XML_DUMP_H

#include "formats/hpctoolkit/dump.h"

CN_CHECK bool cn_hpc_xml_dump(const char *path, cn_dump_fn emit, void *arg,
                              struct cn_error *err);
CN_CHECK bool cn_hpc_legacy_dump(const char *path, cn_dump_fn emit, void *arg,
                                 struct cn_error *err);

/* The elements alone. */
CN_CHECK bool cn_hpc_xml_dump_document(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
