/* An experiment.xml 4.0 database, opened: the tree in memory, values, profiles and timelines
 * in profile.db, cct.db and trace.db beside it.
 *
 * Opening reads experiment.xml once and keeps about 40 bytes for each context. Messages start with
 * the file's name; a directory's opener puts the path before it.
 * The caller owns the database; bytes given to cn_hpc_xml_open_bytes() must outlive it.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_OPEN_H

#include "formats/hpctoolkit/sparse/open.h"

struct cn_hpc_xml_files {
    struct cn_bytes experiment;
    bool is_mapped; /* pages of it may be given back while it is read */
    bool
        keep_lines; /* leave the values of lines as the files have them; see database.h */
    struct cn_hpc_sparse_files values;
};

CN_CHECK bool cn_hpc_xml_open_bytes(struct cn_database **out,
                                    const struct cn_hpc_xml_files *files,
                                    struct cn_error *err);

/* Map the files of a directory, or of the directory that holds the file `path`. */
CN_CHECK bool cn_hpc_xml_open(struct cn_database **out, const char *path,
                              struct cn_error *err);

/* The value files of a database that was opened. */
const struct cn_hpc_values *cn_hpc_xml_values(const struct cn_database *db);

/* Whether `path` is such a directory, or one of its files. */
bool cn_hpc_xml_probe(const char *path);

/* The same for 2.x. */
bool cn_hpc_xml_legacy_probe(const char *path);

#endif
