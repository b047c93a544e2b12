/* The formats of databases with an experiment.xml: 4.0, which is read and written, and 2.x,
 * which is read.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_XML_H
#define CN_FORMATS_HPCTOOLKIT_XML_XML_H

#include "formats/hpctoolkit/dump.h"
#include "model/format.h"

extern const struct cn_format cn_format_hpctoolkit_xml;
extern const struct cn_format cn_format_hpctoolkit_xml_legacy;

/* Every element of an experiment.xml and every structure of its value files, for
 * `cairn dump`. */

CN_CHECK bool cn_hpc_xml_dump(const char *path, cn_dump_fn emit, void *arg,
                              struct cn_error *err);
CN_CHECK bool cn_hpc_legacy_dump(const char *path, cn_dump_fn emit, void *arg,
                                 struct cn_error *err);

/* The elements alone. */
CN_CHECK bool cn_hpc_xml_dump_document(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
