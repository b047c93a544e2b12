/* experiment.xml, versions 2.x and 4.0: the words of the format, and limits.
 *
 *   HPCToolkitExperiment
 *     Header                    title
 *     SecCallPathProfile
 *       SecHeader               tables: identifiers, metrics, modules, files, procedures
 *       SecCallPathProfileData  the context tree
 *
 * The tables, and the DTD of 2.x files, are small and may contain any text: expat parses them
 * (xml_events.h). The tree is the rest of a file that can be gigabytes: six kinds of elements
 * whose attributes are numbers, which read/scanner.h scans.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_XML_FORMAT_H

#include "base/bytes/record.h"

#define CN_HPC_XML_FILE "experiment.xml"

enum {
    CN_HPC_XML_MAJOR = 4,
    CN_HPC_XML_LEGACY_MAJOR = 2,

    CN_HPC_XML_DEPTH_MAX = 65536,    /* nested elements in the tree */
    CN_HPC_XML_HEAD_DEPTH_MAX = 64,  /* nested elements before the tree */
    CN_HPC_XML_ATTRIBUTE_MAX = 16,   /* of one element of the tree */
    CN_HPC_XML_HEAD_MAX = 64 * 1024, /* bytes before the root element */
    CN_HPC_XML_KIND_MAX = 255,       /* of an <Identifier> */
    CN_HPC_XML_METRIC_MAX = 16384,   /* rows of <Metric>, and of <MetricDB> */
    CN_HPC_XML_STATISTIC_MAX = 256,  /* of one metric; further ones are ignored */
    /* Locations of a procedure that are deduplicated; further ones are listed again. */
    CN_HPC_XML_VARIANT_MAX = 32,
    /* Pages of the tree are given back each time this much was read. */
    CN_HPC_XML_FORGET_LEN = 16 * 1024 * 1024,
};

/* The scopes of costs: exclusive and inclusive. */
enum { CN_HPC_XML_FUNCTION, CN_HPC_XML_EXECUTION, CN_HPC_XML_SCOPE_COUNT };

/* hpcprof numbers the statistics of a metric in steps of this. */
enum { CN_HPC_XML_STATISTIC_STEP = 3 };

/* Names of unknown objects. */
#define CN_HPC_XML_UNKNOWN_FILE      "<unknown file>"
#define CN_HPC_XML_UNKNOWN_MODULE    "<unknown module>"
#define CN_HPC_XML_NO_MODULE         "<no module>"
#define CN_HPC_XML_UNKNOWN_PROCEDURE "<unknown procedure>"

/* Prefix of a <File> whose source is copied into the database. */
#define CN_HPC_XML_COPIED "./src/"

/* hpcprof writes the costs of a line without its calls. A file with this <NV> includes the
 * calls. */
#define CN_HPC_XML_LINES_NAME  "line-inclusive"
#define CN_HPC_XML_LINES_VALUE "with-calls"
#define CN_HPC_XML_DESCRIPTION "description"

/* Ids of rows, as hpcprof writes them. */
enum {
    CN_HPC_XML_UNKNOWN_FILE_ID = 2147483647,
    CN_HPC_XML_UNKNOWN_MODULE_ID = 0,
    CN_HPC_XML_NO_MODULE_ID = 1,
};

/* The attribute `f` of <Procedure>: not a function of the program. */
enum { CN_HPC_XML_IS_FAKE = 1 };

/* The attribute `show` of <Metric>. */
enum {
    CN_HPC_XML_HIDDEN = 0,
    CN_HPC_XML_SHOWN = 1,
    CN_HPC_XML_INTERNAL = 4,
};

/* An element as `cairn dump` shows it; its text is the tag. */
#define CN_HPC_XML_ELEMENT(F)                  \
    F(0x00, u32, line, "where its tag begins") \
    F(0x04, u32, column, "where in the line")  \
    F(0x08, u32, depth, "elements around it")
CN_RECORD(cn_hpc_xml_element, CN_HPC_XML_ELEMENT, 0x0c);

#endif
