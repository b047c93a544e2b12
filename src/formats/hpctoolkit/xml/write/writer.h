/* Writes a database as experiment.xml 4.0, with profile.db, cct.db and trace.db beside it, into
 * a directory that appears when it is complete.
 * Threads: one thread at a time per database; uses several threads itself.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_WRITE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_XML_WRITE_WRITER_H

#include "model/format.h"

CN_CHECK bool cn_hpc_xml_write(struct cn_database *db, const char *path,
                               const struct cn_write_options *options,
                               struct cn_error *err);

#endif
