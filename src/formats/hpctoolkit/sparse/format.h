/* The big-endian value files of HPCToolkit's older databases, byte by byte: profile.db,
 * cct.db and trace.db next to an experiment.xml 4.0 or a prototype meta.db.
 *
 *   header area of 128 bytes -> records -> value blocks or samples -> footer
 *
 * Integers and doubles are big endian, offsets count from the start of the file. A block is
 * an array of pairs (value, id), then an index whose last entry is an end marker. Blocks
 * follow each other without padding.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_FORMAT_H

#include "base/bytes/record.h"

enum {
    CN_HPC_SPARSE_MAGIC_LEN = 16,
    CN_HPC_SPARSE_HEADER_LEN = 128, /* zero padded; the first section starts here */
    CN_HPC_SPARSE_FOOTER_LEN = 8,
    /* 4.0 in the specification, 1.0 in real files, 4.0 in a prototype's trace.db. */
    CN_HPC_SPARSE_MAJOR_MIN = 1,
    CN_HPC_SPARSE_MAJOR_MAX = 4,
    CN_HPC_SPARSE_MAJOR = 1,
    CN_HPC_SPARSE_TIMED_MAJOR = 4, /* of a trace.db that declares its time range */
    CN_HPC_SPARSE_ALIGN = 8,       /* of the first block and of the identity tuples */
    CN_HPC_SPARSE_METRIC_ID_MAX = 32767, /* readers of the time: ids are signed */
};

/* Two magics for each file: early writers used others for two of them. */
#define CN_HPC_SPARSE_PROFILE_MAGIC       "HPCPROF-profdb__"
#define CN_HPC_SPARSE_PROFILE_EARLY_MAGIC "HPCPROF-pmsdb___"
#define CN_HPC_SPARSE_CCT_MAGIC           "HPCPROF-cctdb___"
#define CN_HPC_SPARSE_CCT_EARLY_MAGIC     "HPCPROF-cmsdb___"
#define CN_HPC_SPARSE_TRACE_MAGIC         "HPCPROF-tracedb_"

/* Footers are numbers in the byte order of the machine, hence the two spellings; the first
 * is written. trace.db has none. */
#define CN_HPC_SPARSE_PROFILE_FOOTER         "tfBDFORP"
#define CN_HPC_SPARSE_PROFILE_SWAPPED_FOOTER "PROFDBft"
#define CN_HPC_SPARSE_CCT_FOOTER             "rtfBDTCC"
#define CN_HPC_SPARSE_CCT_SWAPPED_FOOTER     "CCTDBftr"

/* Every file: 16 bytes of magic, then this. */
#define CN_HPC_SPARSE_HEADER(F)                                   \
    F(0x10, u8, major, "major version")                           \
    F(0x11, u8, minor, "minor version")                           \
    F(0x12, u32, count, "number of profiles, contexts or traces") \
    F(0x16, u16, section_count, "sections in this header")        \
    F(0x18, u64, infos_len, "size of the records")                \
    F(0x20, u64, infos_off, "the records")
CN_RECORD_BE(cn_hpc_sparse_header, CN_HPC_SPARSE_HEADER, 0x28);

/* profile.db: after the header. */
#define CN_HPC_SPARSE_PROFILE_HEADER(F)                     \
    F(0x28, u64, tuples_len, "size of the identity tuples") \
    F(0x30, u64, tuples_off, "the identity tuples")
CN_RECORD_BE(cn_hpc_sparse_profile_header, CN_HPC_SPARSE_PROFILE_HEADER, 0x38);
enum { CN_HPC_SPARSE_PROFILE_SECTIONS = 2 };

#define CN_HPC_SPARSE_PROFILE(F)                                  \
    F(0x00, u64, tuple_off, "identity tuple")                     \
    F(0x08, u64, metadata_off, "reserved")                        \
    F(0x10, u64, spare_one_off, "reserved")                       \
    F(0x18, u64, spare_two_off, "reserved")                       \
    F(0x20, u64, value_count, "number of values")                 \
    F(0x28, u32, context_count, "number of contexts with values") \
    F(0x2c, u64, block_off, "values and index")
CN_RECORD_BE(cn_hpc_sparse_profile, CN_HPC_SPARSE_PROFILE, 0x34);

#define CN_HPC_SPARSE_PROFILE_VALUE(F) \
    F(0x00, f64, value, "a value")     \
    F(0x08, u16, metric, "metric id")
CN_RECORD_BE(cn_hpc_sparse_profile_value, CN_HPC_SPARSE_PROFILE_VALUE, 0x0a);

#define CN_HPC_SPARSE_PROFILE_INDEX(F)               \
    F(0x00, u32, context, "context id, or \"end!\"") \
    F(0x04, u64, start, "index of the context's first value")
CN_RECORD_BE(cn_hpc_sparse_profile_index, CN_HPC_SPARSE_PROFILE_INDEX, 0x0c);
#define CN_HPC_SPARSE_PROFILE_END UINT32_C(0x656E6421)

/* An identity tuple is followed by its ids. */
#define CN_HPC_SPARSE_TUPLE(F) F(0x00, u16, id_count, "number of ids")
CN_RECORD_BE(cn_hpc_sparse_tuple, CN_HPC_SPARSE_TUPLE, 0x02);

#define CN_HPC_SPARSE_IDENTITY(F)                                                    \
    F(0x00, u16, kind, "what the id identifies; bits 14-15 say which number counts") \
    F(0x02, u64, physical, "host id, bus index, ...")                                \
    F(0x0a, u64, logical, "dense towards 0")
CN_RECORD_BE(cn_hpc_sparse_identity, CN_HPC_SPARSE_IDENTITY, 0x12);
enum {
    CN_HPC_SPARSE_KIND_MASK = 0x3fff,
    CN_HPC_SPARSE_LOGICAL_ONLY = 0xc000, /* both bits: the physical id is unused */
    CN_HPC_SPARSE_KIND_SUMMARY = 0,
};

/* cct.db. */
enum { CN_HPC_SPARSE_CCT_SECTIONS = 1 };

#define CN_HPC_SPARSE_CONTEXT(F)                                \
    F(0x00, u32, context, "context id")                         \
    F(0x04, u64, value_count, "number of values")               \
    F(0x0c, u16, metric_count, "number of metrics with values") \
    F(0x0e, u64, block_off, "values and index; no block without values")
CN_RECORD_BE(cn_hpc_sparse_context, CN_HPC_SPARSE_CONTEXT, 0x16);

#define CN_HPC_SPARSE_CONTEXT_VALUE(F) \
    F(0x00, f64, value, "a value")     \
    F(0x08, u32, profile, "index of the profile")
CN_RECORD_BE(cn_hpc_sparse_context_value, CN_HPC_SPARSE_CONTEXT_VALUE, 0x0c);

#define CN_HPC_SPARSE_CONTEXT_INDEX(F)           \
    F(0x00, u16, metric, "metric id, or \"ed\"") \
    F(0x02, u64, start, "index of the metric's first value")
CN_RECORD_BE(cn_hpc_sparse_context_index, CN_HPC_SPARSE_CONTEXT_INDEX, 0x0a);
enum { CN_HPC_SPARSE_CONTEXT_END = 0x6564 };

/* trace.db: after the header; zero unless the file declares its time range. */
#define CN_HPC_SPARSE_TRACE_HEADER(F)                      \
    F(0x28, u64, begin_ns, "smallest time of all samples") \
    F(0x30, u64, end_ns, "largest time of all samples")
CN_RECORD_BE(cn_hpc_sparse_trace_header, CN_HPC_SPARSE_TRACE_HEADER, 0x38);
enum { CN_HPC_SPARSE_TRACE_SECTIONS = 1 };

#define CN_HPC_SPARSE_TRACE(F)                                  \
    F(0x00, u32, profile, "index of the profile it belongs to") \
    F(0x04, u16, type, "0: contexts; else a metric id")         \
    F(0x06, u64, begin_off, "first sample")                     \
    F(0x0e, u64, end_off, "one past the last sample")
CN_RECORD_BE(cn_hpc_sparse_trace, CN_HPC_SPARSE_TRACE, 0x16);
enum { CN_HPC_SPARSE_TRACE_OF_CONTEXTS = 0 };

#define CN_HPC_SPARSE_SAMPLE(F)                                   \
    F(0x00, u64, time_ns, "when, in nanoseconds since the epoch") \
    F(0x08, u32, context, "context id")
CN_RECORD_BE(cn_hpc_sparse_sample, CN_HPC_SPARSE_SAMPLE, 0x0c);

#endif
