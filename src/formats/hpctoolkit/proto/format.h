/* The meta.db of the prototype of HPCToolkit's binary databases, byte by byte. The other
 * files are those of sparse/format.h.
 *
 *   file header -> section headers -> sections -> 8-byte footer
 *
 * Integers are big endian, offsets count from the start of the file, records are
 * packed. Sections start at multiples of 16. The number of sections tells two layouts
 * apart:
 *   7 (the specification): General is the title and the table of kinds;
 *   8 (the unfinished writer): General is title and description, kinds have a section.
 * That writer stops after the metrics: the headers of later sections are placeholders that
 * point into the header.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_FORMAT_H

#include "base/bytes/record.h"
#include "formats/hpctoolkit/meta/format.h"

enum {
    CN_HPC_PROTO_MAJOR = 4,
    CN_HPC_PROTO_MINOR = 0,
    CN_HPC_PROTO_MAGIC_LEN = 16,
    CN_HPC_PROTO_FOOTER_LEN = 8,
    CN_HPC_PROTO_ALIGN = 16,             /* of sections */
    CN_HPC_PROTO_SECTIONS = 7,           /* of the specification, and written */
    CN_HPC_PROTO_SECTIONS_OF_WRITER = 8, /* kinds have a section */
};

#define CN_HPC_PROTO_MAGIC "HPCTOOLKIT_expmt"

/* A number in the byte order of the machine; the first spelling is written. */
#define CN_HPC_PROTO_FOOTER         "nmBDFORP"
#define CN_HPC_PROTO_SWAPPED_FOOTER "PROFDBmn"

/* 16 bytes of magic, then this, then one cn_hpc_proto_section per section. */
#define CN_HPC_PROTO_HEADER(F)          \
    F(0x10, u8, major, "major version") \
    F(0x11, u8, minor, "minor version") \
    F(0x12, u16, section_count, "sections in this header: 7 or 8")
CN_RECORD_BE(cn_hpc_proto_header, CN_HPC_PROTO_HEADER, 0x18);

#define CN_HPC_PROTO_SECTION(F)              \
    F(0x00, u64, len, "size of the section") \
    F(0x08, u64, off, "start of the section")
CN_RECORD_BE(cn_hpc_proto_section, CN_HPC_PROTO_SECTION, 0x10);

/* Followed by that many names, each ended by NUL. */
#define CN_HPC_PROTO_KINDS_HEADER(F) F(0x00, u16, kind_count, "number of names")
CN_RECORD_BE(cn_hpc_proto_kinds_header, CN_HPC_PROTO_KINDS_HEADER, 0x02);

/* Followed by that many metrics. */
#define CN_HPC_PROTO_METRICS_HEADER(F) F(0x00, u32, metric_count, "number of metrics")
CN_RECORD_BE(cn_hpc_proto_metrics_header, CN_HPC_PROTO_METRICS_HEADER, 0x04);

/* Followed by the name and then the scopes. */
#define CN_HPC_PROTO_METRIC(F) F(0x00, u16, scope_count, "propagation scopes")
CN_RECORD_BE(cn_hpc_proto_metric, CN_HPC_PROTO_METRIC, 0x02);

/* Followed by the name and then the statistics. */
#define CN_HPC_PROTO_SCOPE(F)                               \
    F(0x00, u16, prop_id, "metric id in threads' profiles") \
    F(0x02, u16, statistic_count, "statistics over threads")
CN_RECORD_BE(cn_hpc_proto_scope, CN_HPC_PROTO_SCOPE, 0x04);

/* Followed by the formula. */
#define CN_HPC_PROTO_STATISTIC(F)                               \
    F(0x00, u16, stat_id, "metric id in the summary's profile") \
    F(0x02, u8, combine, "0 sum, 1 min, 2 max")
CN_RECORD_BE(cn_hpc_proto_statistic, CN_HPC_PROTO_STATISTIC, 0x03);

/* Modules, files and functions: the same header, followed by records. */
#define CN_HPC_PROTO_TABLE(F)                \
    F(0x00, u32, count, "number of records") \
    F(0x04, u16, record_len, "size of a record")
CN_RECORD_BE(cn_hpc_proto_table, CN_HPC_PROTO_TABLE, 0x06);

#define CN_HPC_PROTO_MODULE(F)      \
    F(0x00, u32, flags, "reserved") \
    F(0x04, u64, path_off, "path of the binary")
CN_RECORD_BE(cn_hpc_proto_module, CN_HPC_PROTO_MODULE, 0x0c);

#define CN_HPC_PROTO_SOURCE_FILE(F)                        \
    F(0x00, u32, flags, "bit 0: copied into the database") \
    F(0x04, u64, path_off, "path; of a copied file below src/")
CN_RECORD_BE(cn_hpc_proto_source_file, CN_HPC_PROTO_SOURCE_FILE, 0x0c);
#define CN_HPC_PROTO_COPIES "src/" /* the folder of copied files */

#define CN_HPC_PROTO_FUNCTION(F)                                              \
    F(0x00, u32, flags, "reserved")                                           \
    F(0x04, u64, name_off, "name, or 0")                                      \
    F(0x0c, u64, module_off, "module, or 0")                                  \
    F(0x14, u64, entry_off, "offset of its entry in the module, or all ones") \
    F(0x1c, u64, file_off, "source file, or 0")                               \
    F(0x24, u32, line, "line of its definition, or 0")
CN_RECORD_BE(cn_hpc_proto_function, CN_HPC_PROTO_FUNCTION, 0x28);
#define CN_HPC_PROTO_NO_ENTRY UINT64_MAX

/* The context section: the size of the block of roots, then that block. */
#define CN_HPC_PROTO_CONTEXTS_HEADER(F) F(0x00, u64, roots_len, "size of the roots")
CN_RECORD_BE(cn_hpc_proto_contexts_header, CN_HPC_PROTO_CONTEXTS_HEADER, 0x08);

/* A context is followed by its callee specification (none: it was not called) and its
 * lexical specification. */
#define CN_HPC_PROTO_CONTEXT(F)                                 \
    F(0x00, u32, context, "context id")                         \
    F(0x04, u64, children_off, "block of child contexts, or 0") \
    F(0x0c, u64, children_len, "size of that block")            \
    F(0x14, u8, callee_len, "size of the callee specification") \
    F(0x15, u8, lexical_len, "size of the lexical specification")
CN_RECORD_BE(cn_hpc_proto_context, CN_HPC_PROTO_CONTEXT, 0x16);

#define CN_HPC_PROTO_CALLEE(F)                  \
    F(0x00, u8, type, "0 call, 1 inlined call") \
    F(0x01, u8, flags, "bit 0: a caller location follows")
CN_RECORD_BE(cn_hpc_proto_callee, CN_HPC_PROTO_CALLEE, 0x02);
enum { CN_HPC_PROTO_HAS_CALLER = 1 << 0 };

#define CN_HPC_PROTO_LEXICAL(F)                                    \
    F(0x00, u8, kind, "0 function, 1 loop, 2 line, 3 instruction") \
    F(0x01, u16, flags, "1 has function, 2 has source, 4 has point, 8 is of calls")
CN_RECORD_BE(cn_hpc_proto_lexical, CN_HPC_PROTO_LEXICAL, 0x03);
enum {
    CN_HPC_PROTO_HAS_FUNCTION = 1 << 0,
    CN_HPC_PROTO_HAS_SOURCE = 1 << 1,
    CN_HPC_PROTO_HAS_POINT = 1 << 2,
    CN_HPC_PROTO_IS_CALL_SOURCE = 1 << 3, /* the line of calls below */
};

/* In this order, as the flags say. A caller location is also a cn_hpc_proto_source. */
#define CN_HPC_PROTO_FUNCTION_POINTER(F) F(0x00, u64, function_off, "the function")
CN_RECORD_BE(cn_hpc_proto_function_pointer, CN_HPC_PROTO_FUNCTION_POINTER, 0x08);

#define CN_HPC_PROTO_SOURCE(F)                \
    F(0x00, u64, file_off, "the source file") \
    F(0x08, u32, line, "line in the file, or 0")
CN_RECORD_BE(cn_hpc_proto_source, CN_HPC_PROTO_SOURCE, 0x0c);

#define CN_HPC_PROTO_POINT(F)              \
    F(0x00, u64, module_off, "the module") \
    F(0x08, u64, offset, "offset in the module")
CN_RECORD_BE(cn_hpc_proto_point, CN_HPC_PROTO_POINT, 0x10);

/* The longest node. */
enum {
    CN_HPC_PROTO_CALLEE_MAX = cn_hpc_proto_callee_size + cn_hpc_proto_source_size,
    CN_HPC_PROTO_LEXICAL_MAX = cn_hpc_proto_lexical_size +
                               cn_hpc_proto_function_pointer_size +
                               cn_hpc_proto_source_size + cn_hpc_proto_point_size,
    CN_HPC_PROTO_NODE_MAX =
        cn_hpc_proto_context_size + CN_HPC_PROTO_CALLEE_MAX + CN_HPC_PROTO_LEXICAL_MAX,
};

#endif
