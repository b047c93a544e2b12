/* An opened experiment.xml 4.0 database: the tree in memory; values, profiles and timelines in
 * profile.db, cct.db and trace.db beside it.
 *
 * Opening reads experiment.xml once and stores about 40 bytes for each context. Messages start
 * with the file's name. The caller owns the database; bytes given to cn_hpc_xml_open_bytes()
 * must outlive it.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_OPEN_H

#include "formats/hpctoolkit/sparse/open.h"

struct cn_hpc_xml_files {
    struct cn_bytes experiment;
    bool is_mapped;  /* pages that were read may be given back */
    bool keep_lines; /* leave the values of lines as they are; see database.h */
    struct cn_hpc_sparse_files values;
};

CN_CHECK bool cn_hpc_xml_open_bytes(struct cn_database **out,
                                    const struct cn_hpc_xml_files *files,
                                    struct cn_error *err);

/* Map the files of a directory, or of the directory that contains the file `path`. */
CN_CHECK bool cn_hpc_xml_open(struct cn_database **out, const char *path,
                              struct cn_error *err);

/* True for a directory of version 4.0, or of version 2.x, and for their files. */
bool cn_hpc_xml_probe(const char *path);
bool cn_hpc_xml_legacy_probe(const char *path);

#endif
