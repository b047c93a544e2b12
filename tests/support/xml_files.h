/* An experiment.xml database in memory, for tests that damage one of its files.
 *
 * Made by writing the sample database, or read from a directory.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_XML_FILES_H
#define CN_TEST_XML_FILES_H

#include "base/files/file.h"
#include "formats/hpctoolkit/xml/read/open.h"

struct cn_xml_files {
    struct cn_file mapped[4];
    struct cn_hpc_xml_files files; /* `is_mapped` is false: tests may replace them */
};

/* Read the files of a directory. Asserts that all but cct.db and trace.db exist. */
void cn_xml_files_open(struct cn_xml_files *files, const char *dir);
void cn_xml_files_close(struct cn_xml_files *files);

/* A small document of version 4.0: `tree` inside its tree, between tables with modules 0 to 2,
 * files 0, 1 and 2147483647 (unknown), procedures 1 (<program root>), 2 (<no activity>),
 * 3 (main), 4 (f), 5 (an <unknown procedure>), one metric with the ids 1 and 2. Released with
 * free(). */
char *cn_xml_document(const char *tree);

/* The contexts 1 to this have values in cn_xml_profile(): each its id, in both scopes. */
enum { CN_XML_CONTEXTS = 9 };

/* A profile.db for such a document: a summary and one thread with the same values. */
struct cn_bytes cn_xml_profile(void);

#endif
