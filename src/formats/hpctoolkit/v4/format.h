/* HPCToolkit databases, version 4.0, byte by byte: meta.db, profile.db, cct.db, trace.db.
 *
 *   file header -> section headers -> arrays of records -> ... -> 8-byte footer
 *
 * Integers are little endian, offsets count from the start of the file. Records may grow in a
 * later minor version: step by the size the file declares and ignore what lies beyond the fields
 * below. Two drafts carry the same magic and version; see the end of this file.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_V4_FORMAT_H

#include "base/bytes/record.h"
#include "formats/hpctoolkit/meta/format.h"

enum {
    CN_HPC_MAJOR = 4,
    CN_HPC_MINOR = 0,
    CN_HPC_MAGIC_LEN = 10,
    CN_HPC_FORMAT_LEN = 4,
    CN_HPC_FOOTER_LEN = 8,
    CN_HPC_SECTION_MAX = 8,       /* sections of any file header */
    CN_HPC_YAML_MAX = 64,         /* files in metrics/ */
    CN_HPC_METRIC_ID_MAX = 32767, /* hpcviewer: ids are signed */
};

#define CN_HPC_MAGIC          "HPCTOOLKIT"
#define CN_HPC_META_FORMAT    "meta"
#define CN_HPC_META_FOOTER    "_meta.db"
#define CN_HPC_PROFILE_FORMAT "prof"
#define CN_HPC_PROFILE_FOOTER "_prof.db"
#define CN_HPC_CCT_FORMAT     "ctxt"
#define CN_HPC_CCT_FOOTER     "__ctx.db"
#define CN_HPC_TRACE_FORMAT   "trce"
#define CN_HPC_TRACE_FOOTER   "trace.db"

/* Every file: the header, followed by one cn_hpc_section per section. The first 14 bytes are
 * the magic and the format. */
#define CN_HPC_FILE_HEADER(F)                  \
    F(0x0e, u8, major, "common major version") \
    F(0x0f, u8, minor, "minor version of this file's format")
CN_RECORD(cn_hpc_file_header, CN_HPC_FILE_HEADER, 0x10);

#define CN_HPC_SECTION(F)                    \
    F(0x00, u64, len, "size of the section") \
    F(0x08, u64, off, "start of the section")
CN_RECORD(cn_hpc_section, CN_HPC_SECTION, 0x10);

#define CN_HPC_GENERAL_HEADER(F)                     \
    F(0x00, u64, title_off, "title of the database") \
    F(0x08, u64, description_off, "description, in Markdown")
CN_RECORD(cn_hpc_general_header, CN_HPC_GENERAL_HEADER, 0x10);

#define CN_HPC_ID_NAMES_HEADER(F)                                   \
    F(0x00, u64, names_off, "array of offsets of the kinds' names") \
    F(0x08, u8, kind_count, "number of names")
CN_RECORD(cn_hpc_id_names_header, CN_HPC_ID_NAMES_HEADER, 0x10); /* padded */

#define CN_HPC_NAME_POINTER(F) F(0x00, u64, name_off, "a name")
CN_RECORD(cn_hpc_name_pointer, CN_HPC_NAME_POINTER, 0x08);

#define CN_HPC_METRICS_HEADER(F)                              \
    F(0x00, u64, metrics_off, "metric descriptions")          \
    F(0x08, u32, metric_count, "number of metrics")           \
    F(0x0c, u8, metric_len, "size of a metric description")   \
    F(0x0d, u8, instance_len, "size of a scope instance")     \
    F(0x0e, u8, statistic_len, "size of a summary statistic") \
    F(0x10, u64, scopes_off, "propagation scopes")            \
    F(0x18, u16, scope_count, "number of propagation scopes") \
    F(0x1a, u8, scope_len, "size of a propagation scope")
CN_RECORD(cn_hpc_metrics_header, CN_HPC_METRICS_HEADER, 0x1b);

#define CN_HPC_METRIC(F)                                             \
    F(0x00, u64, name_off, "canonical name")                         \
    F(0x08, u64, instances_off, "scopes this metric has values for") \
    F(0x10, u64, statistics_off, "statistics over threads")          \
    F(0x18, u16, instance_count, "number of scope instances")        \
    F(0x1a, u16, statistic_count, "number of statistics")
CN_RECORD(cn_hpc_metric, CN_HPC_METRIC, 0x20);

#define CN_HPC_SCOPE_INSTANCE(F)         \
    F(0x00, u64, scope_off, "the scope") \
    F(0x08, u16, prop_id, "metric id in threads' profiles")
CN_RECORD(cn_hpc_scope_instance, CN_HPC_SCOPE_INSTANCE, 0x10);

#define CN_HPC_STATISTIC(F)                                     \
    F(0x00, u64, scope_off, "the scope summarised")             \
    F(0x08, u64, formula_off, "applied to each thread's value") \
    F(0x10, u8, combine, "0 sum, 1 min, 2 max")                 \
    F(0x12, u16, stat_id, "metric id in summary profiles")
CN_RECORD(cn_hpc_statistic, CN_HPC_STATISTIC, 0x18);

#define CN_HPC_SCOPE(F)                                               \
    F(0x00, u64, name_off, "name of the scope")                       \
    F(0x08, u8, type, "0 custom, 1 point, 2 execution, 3 transitive") \
    F(0x09, u8, propagation, "bit of the contexts' mask, when transitive")
CN_RECORD(cn_hpc_scope, CN_HPC_SCOPE, 0x10);

/* Modules, files and functions: the same header. */
#define CN_HPC_TABLE_HEADER(F)               \
    F(0x00, u64, array_off, "the records")   \
    F(0x08, u32, count, "number of records") \
    F(0x0c, u16, record_len, "size of a record")
CN_RECORD(cn_hpc_table_header, CN_HPC_TABLE_HEADER, 0x0e);

#define CN_HPC_MODULE(F)            \
    F(0x00, u32, flags, "reserved") \
    F(0x08, u64, path_off, "path of the binary")
CN_RECORD(cn_hpc_module, CN_HPC_MODULE, 0x10);

#define CN_HPC_SOURCE_FILE(F)                              \
    F(0x00, u32, flags, "bit 0: copied into the database") \
    F(0x08, u64, path_off, "absolute, or relative to the database")
CN_RECORD(cn_hpc_source_file, CN_HPC_SOURCE_FILE, 0x10);

#define CN_HPC_FUNCTION(F)                                       \
    F(0x00, u64, name_off, "name, or 0")                         \
    F(0x08, u64, module_off, "module, or 0")                     \
    F(0x10, u64, entry_off, "offset of its entry in the module") \
    F(0x18, u64, file_off, "source file, or 0")                  \
    F(0x20, u32, line, "line of its definition")                 \
    F(0x24, u32, flags, "reserved")
CN_RECORD(cn_hpc_function, CN_HPC_FUNCTION, 0x28);

#define CN_HPC_CONTEXTS_HEADER(F)                       \
    F(0x00, u64, entries_off, "entry points")           \
    F(0x08, u16, entry_count, "number of entry points") \
    F(0x0a, u8, entry_len, "size of an entry point")
CN_RECORD(cn_hpc_contexts_header, CN_HPC_CONTEXTS_HEADER, 0x0b);

#define CN_HPC_ENTRY(F)                                                   \
    F(0x00, u64, children_len, "size of the array of children, in bytes") \
    F(0x08, u64, children_off, "array of child contexts")                 \
    F(0x10, u32, context, "context id")                                   \
    F(0x14, u16, entry, "0 unknown, 1 main thread, 2 application thread") \
    F(0x18, u64, name_off, "name of the entry point")
CN_RECORD(cn_hpc_entry, CN_HPC_ENTRY, 0x20);

/* A context is followed by `flex_count` words of 8 bytes: in this order, as its flags say,
 * function; file, line; module, offset. */
#define CN_HPC_CONTEXT(F)                                                 \
    F(0x00, u64, children_len, "size of the array of children, in bytes") \
    F(0x08, u64, children_off, "array of child contexts")                 \
    F(0x10, u32, context, "context id")                                   \
    F(0x14, u8, flags, "1 has function, 2 has source line, 4 has point")  \
    F(0x15, u8, relation, "0 lexical, 1 call, 2 inlined call")            \
    F(0x16, u8, kind, "0 function, 1 loop, 2 line, 3 instruction")        \
    F(0x17, u8, flex_count, "words that follow")                          \
    F(0x18, u16, propagation, "bits for transitive scopes")
CN_RECORD(cn_hpc_context, CN_HPC_CONTEXT, 0x20);
enum {
    CN_HPC_HAS_FUNCTION = 1 << 0,
    CN_HPC_HAS_SOURCE = 1 << 1,
    CN_HPC_HAS_POINT = 1 << 2,
    CN_HPC_FLEX_WORD = 8,
    CN_HPC_FLEX_MAX = 5, /* words the fields of this version can fill */
};

#define CN_HPC_FLEX_FUNCTION(F) F(0x00, u64, function_off, "the function")
CN_RECORD(cn_hpc_flex_function, CN_HPC_FLEX_FUNCTION, 0x08);

#define CN_HPC_FLEX_SOURCE(F)                 \
    F(0x00, u64, file_off, "the source file") \
    F(0x08, u32, line, "line in the file")
CN_RECORD(cn_hpc_flex_source, CN_HPC_FLEX_SOURCE, 0x10);

#define CN_HPC_FLEX_POINT(F)               \
    F(0x00, u64, module_off, "the module") \
    F(0x08, u64, offset, "offset in the module")
CN_RECORD(cn_hpc_flex_point, CN_HPC_FLEX_POINT, 0x10);

/* profile.db: a record starts with the value block of its profile. */
enum { CN_HPC_PROFILE_INFOS, CN_HPC_ID_TUPLES, CN_HPC_PROFILE_SECTION_COUNT };

#define CN_HPC_PROFILES_HEADER(F)                     \
    F(0x00, u64, profiles_off, "profile records")     \
    F(0x08, u32, profile_count, "number of profiles") \
    F(0x0c, u8, profile_len, "size of a profile record")
CN_RECORD(cn_hpc_profiles_header, CN_HPC_PROFILES_HEADER, 0x0d);

#define CN_HPC_PROFILE(F)                                         \
    F(0x00, u64, value_count, "number of values")                 \
    F(0x08, u64, values_off, "values")                            \
    F(0x10, u32, context_count, "number of contexts with values") \
    F(0x18, u64, index_off, "where each context's values start")  \
    F(0x20, u64, tuple_off, "identity tuple, or 0")               \
    F(0x28, u32, flags, "bit 0: a summary over threads")
CN_RECORD(cn_hpc_profile, CN_HPC_PROFILE, 0x30);
enum { CN_HPC_IS_SUMMARY = 1 << 0 };

#define CN_HPC_PROFILE_VALUE(F)       \
    F(0x00, u16, metric, "metric id") \
    F(0x02, f64, value, "its value")
CN_RECORD(cn_hpc_profile_value, CN_HPC_PROFILE_VALUE, 0x0a);

#define CN_HPC_PROFILE_INDEX(F)         \
    F(0x00, u32, context, "context id") \
    F(0x04, u64, start, "index of the context's first value")
CN_RECORD(cn_hpc_profile_index, CN_HPC_PROFILE_INDEX, 0x0c);

/* An identity tuple is followed by its ids. */
#define CN_HPC_TUPLE(F) F(0x00, u16, id_count, "number of ids")
CN_RECORD(cn_hpc_tuple, CN_HPC_TUPLE, 0x08);

#define CN_HPC_IDENTITY(F)                      \
    F(0x00, u8, kind, "what the id identifies") \
    F(0x02, u16, flags, "bit 0: a physical id") \
    F(0x04, u32, logical, "dense towards 0")    \
    F(0x08, u64, physical, "host id, bus index, ...")
CN_RECORD(cn_hpc_identity, CN_HPC_IDENTITY, 0x10);
enum { CN_HPC_IS_PHYSICAL = 1 << 0 };

/* cct.db. */
enum { CN_HPC_CONTEXT_INFOS, CN_HPC_CCT_SECTION_COUNT };

#define CN_HPC_CONTEXT_INFOS_HEADER(F)                             \
    F(0x00, u64, infos_off, "one record a context, indexed by id") \
    F(0x08, u32, context_count, "number of records")               \
    F(0x0c, u8, info_len, "size of a record")
CN_RECORD(cn_hpc_context_infos_header, CN_HPC_CONTEXT_INFOS_HEADER, 0x0d);

#define CN_HPC_CONTEXT_INFO(F)                                  \
    F(0x00, u64, value_count, "number of values")               \
    F(0x08, u64, values_off, "values")                          \
    F(0x10, u16, metric_count, "number of metrics with values") \
    F(0x18, u64, index_off, "where each metric's values start")
CN_RECORD(cn_hpc_context_info, CN_HPC_CONTEXT_INFO, 0x20);

#define CN_HPC_CONTEXT_VALUE(F)                   \
    F(0x00, u32, profile, "index of the profile") \
    F(0x04, f64, value, "its value")
CN_RECORD(cn_hpc_context_value, CN_HPC_CONTEXT_VALUE, 0x0c);

#define CN_HPC_CONTEXT_INDEX(F)       \
    F(0x00, u16, metric, "metric id") \
    F(0x02, u64, start, "index of the metric's first value")
CN_RECORD(cn_hpc_context_index, CN_HPC_CONTEXT_INDEX, 0x0a);

/* trace.db. */
enum { CN_HPC_TRACES, CN_HPC_TRACE_SECTION_COUNT };

#define CN_HPC_TRACES_HEADER(F)                            \
    F(0x00, u64, traces_off, "trace records")              \
    F(0x08, u32, trace_count, "number of traces")          \
    F(0x0c, u8, trace_len, "size of a trace record")       \
    F(0x10, u64, begin_ns, "smallest time of all samples") \
    F(0x18, u64, end_ns, "largest time of all samples")
CN_RECORD(cn_hpc_traces_header, CN_HPC_TRACES_HEADER, 0x20);

#define CN_HPC_TRACE(F)                                         \
    F(0x00, u32, profile, "index of the profile it belongs to") \
    F(0x08, u64, begin_off, "first sample")                     \
    F(0x10, u64, end_off, "one past the last sample")
CN_RECORD(cn_hpc_trace, CN_HPC_TRACE, 0x18);

#define CN_HPC_SAMPLE(F)                                          \
    F(0x00, u64, time_ns, "when, in nanoseconds since the epoch") \
    F(0x08, u32, context, "context id; 0: not running")
CN_RECORD(cn_hpc_sample, CN_HPC_SAMPLE, 0x0c);

/* Draft A (February to May 2022): metrics nest scopes, scopes nest statistics, the context
 * tree has no entry points and contexts no propagation mask. Recognised by metric_len 24. */
enum { CN_HPC_DRAFT_METRIC_LEN = 0x18 };

#define CN_HPC_DRAFT_METRIC(F)                    \
    F(0x00, u64, name_off, "canonical name")      \
    F(0x08, u16, scope_count, "number of scopes") \
    F(0x10, u64, scopes_off, "scopes")
CN_RECORD(cn_hpc_draft_metric, CN_HPC_DRAFT_METRIC, 0x18);

#define CN_HPC_DRAFT_SCOPE(F)                               \
    F(0x00, u64, name_off, "name of the scope")             \
    F(0x08, u16, statistic_count, "number of statistics")   \
    F(0x0a, u16, prop_id, "metric id in threads' profiles") \
    F(0x10, u64, statistics_off, "statistics over threads")
CN_RECORD(cn_hpc_draft_scope, CN_HPC_DRAFT_SCOPE, 0x18);

#define CN_HPC_DRAFT_STATISTIC(F)                               \
    F(0x00, u64, formula_off, "applied to each thread's value") \
    F(0x08, u8, combine, "0 sum, 1 min, 2 max")                 \
    F(0x0a, u16, stat_id, "metric id in summary profiles")
CN_RECORD(cn_hpc_draft_statistic, CN_HPC_DRAFT_STATISTIC, 0x10);

#define CN_HPC_DRAFT_CONTEXTS_HEADER(F)                  \
    F(0x00, u64, roots_len, "size of the root contexts") \
    F(0x08, u64, roots_off, "root contexts")
CN_RECORD(cn_hpc_draft_contexts_header, CN_HPC_DRAFT_CONTEXTS_HEADER, 0x10);

/* A context without propagation mask, followed by its flex words. */
#define CN_HPC_DRAFT_CONTEXT(F)                                           \
    F(0x00, u64, children_len, "size of the array of children, in bytes") \
    F(0x08, u64, children_off, "array of child contexts")                 \
    F(0x10, u32, context, "context id")                                   \
    F(0x14, u8, flags, "1 has function, 2 has source line, 4 has point")  \
    F(0x15, u8, relation, "0 lexical, 1 call, 2 inlined call")            \
    F(0x16, u8, kind, "0 function, 1 loop, 2 line, 3 instruction")        \
    F(0x17, u8, flex_count, "words that follow")
CN_RECORD(cn_hpc_draft_context, CN_HPC_DRAFT_CONTEXT, 0x18);

/* Drafts A and B: a profile record ends before its flags; profile 0 is the summary. */
#define CN_HPC_DRAFT_PROFILE(F)                                   \
    F(0x00, u64, value_count, "number of values")                 \
    F(0x08, u64, values_off, "values")                            \
    F(0x10, u32, context_count, "number of contexts with values") \
    F(0x18, u64, index_off, "where each context's values start")  \
    F(0x20, u64, tuple_off, "identity tuple, or 0")
CN_RECORD(cn_hpc_draft_profile, CN_HPC_DRAFT_PROFILE, 0x28);

/* The description that cairn adds to a database. Where timelines have fewer samples than were
 * measured, it says "exact to N ns", which readers look for: trace.db has no room for it. */
#define CN_HPC_FORMATS_NAME "FORMATS.md"
#define CN_HPC_ORIGIN_NAME  "origin.txt"
#define CN_HPC_EXACT_TO     "are exact to "

#endif
