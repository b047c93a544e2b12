/* Every element of an experiment.xml and every structure of its value files, for
 * `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_XML_DUMP_H

#include "model/format.h"

CN_CHECK bool cn_hpc_xml_dump(const char *path, cn_dump_fn emit, void *arg,
                              struct cn_error *err);
CN_CHECK bool cn_hpc_legacy_dump(const char *path, cn_dump_fn emit, void *arg,
                                 struct cn_error *err);

/* The elements alone. If the receiver stops, it succeeds and sets *is_stopped. */
CN_CHECK bool cn_hpc_xml_dump_document(struct cn_bytes text, cn_dump_fn emit, void *arg,
                                       bool *is_stopped, struct cn_error *err);

#endif
