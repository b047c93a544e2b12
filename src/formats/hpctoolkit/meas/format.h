/* The files of hpcrun, byte by byte: .hpcrun 04.00 and .hpctrace 01.01.
 *
 *   .hpcrun:   header, load map, nodes, metrics, kinds, values, footer
 *   .hpctrace: header, samples
 *
 * Integers and doubles are big endian. A string is a u32 length and that many bytes.
 * The footer contains the offsets of the sections; bytes between them have no meaning.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_FORMAT_H

#include "base/bytes/record.h"

#define CN_HPC_RUN_MAGIC        "HPCRUN-profile____"
#define CN_HPC_RUN_VERSION      "04.00"
#define CN_HPC_RUN_FOOTER_MAGIC UINT64_C(0x48504352554e736d) /* "HPCRUNsm" */
#define CN_HPC_TRACE_MAGIC      "HPCRUN-trace______"
#define CN_HPC_TRACE_VERSION    "01.01"
#define CN_HPC_LOGICAL_MAGIC    "HPCLOGICAL"

enum {
    CN_HPC_MAGIC_LEN = 18, /* of both files; the version follows */
    CN_HPC_VERSION_LEN = 5,
    CN_HPC_LOGICAL_MAGIC_LEN = 10,
    CN_HPC_NODE_ID_MAX = INT32_MAX,
    CN_HPC_VALUES_END = 0x656e6421, /* "end!" */
    /* Reserved load modules: GPU work that was measured in ranges. */
    CN_HPC_MODULE_GPU_CONTEXT = 65531,
    CN_HPC_MODULE_GPU_RANGE = 65532,
    CN_HPC_MODULE_GPU_RANGE_ROOT = 65533,
    CN_HPC_STRUCT_DEPTH_MAX = 1000,     /* nested elements */
    CN_HPC_STRUCT_TAG_MAX = 16 << 20,   /* bytes of one tag: a list of ranges */
    CN_HPC_SYMBOLS_LEN_MAX = 256 << 20, /* kernel symbols, decompressed */
    CN_HPC_CALLS_MAX = 1 << 22,         /* calls in a GPU binary */
    CN_HPC_PATHS_MAX = 256,             /* call paths to a GPU function */
    CN_HPC_PATH_CALLS_MAX = 1 << 14,    /* calls on all these paths */
};

/* 18 bytes of magic, 5 of version and 1 of byte order come first. */
#define CN_HPC_RUN_HEADER(F) \
    F(0x18, u32, pair_count, "pairs of names and values that follow")
CN_RECORD_BE(cn_hpc_run_header, CN_HPC_RUN_HEADER, 0x1c);

#define CN_HPC_RUN_FOOTER(F)                                 \
    F(0x00, u64, header_off, "first byte of the header")     \
    F(0x08, u64, header_end_off, "one past its last")        \
    F(0x10, u64, modules_off, "load map")                    \
    F(0x18, u64, modules_end_off, "one past its last byte")  \
    F(0x20, u64, nodes_off, "calling context tree")          \
    F(0x28, u64, nodes_end_off, "one past its last byte")    \
    F(0x30, u64, metrics_off, "metric table")                \
    F(0x38, u64, metrics_end_off, "one past its last byte")  \
    F(0x40, u64, kinds_off, "names of kinds in identities")  \
    F(0x48, u64, kinds_end_off, "one past their last byte")  \
    F(0x50, u64, values_off, "identity and values")          \
    F(0x58, u64, values_end_off, "one past their last byte") \
    F(0x60, u64, footer_off, "this record")                  \
    F(0x68, u64, magic, "\"HPCRUNsm\": the file is complete")
CN_RECORD_BE(cn_hpc_run_footer, CN_HPC_RUN_FOOTER, 0x70);

/* A string: this record and its bytes. A pair of the header is two strings. */
#define CN_HPC_RUN_STRING(F) F(0x00, u32, len, "bytes that follow")
CN_RECORD_BE(cn_hpc_run_string, CN_HPC_RUN_STRING, 0x04);

/* The name follows as a string. */
#define CN_HPC_RUN_KIND(F) F(0x00, u16, id, "id in identities")
CN_RECORD_BE(cn_hpc_run_kind_head, CN_HPC_RUN_KIND, 0x02);

/* The path follows as a string, then the flags. */
#define CN_HPC_RUN_MODULE(F) F(0x00, u16, id, "id in nodes")
CN_RECORD_BE(cn_hpc_run_module, CN_HPC_RUN_MODULE, 0x02);

#define CN_HPC_RUN_NODE(F)                                        \
    F(0x00, u32, id, "odd: a sample of the trace may end here")   \
    F(0x04, u32, parent, "id of an earlier node; 0 for the root") \
    F(0x08, u16, module, "load module; 0: no code")               \
    F(0x0a, u64, address, "in the module, or eight characters")   \
    F(0x12, u8, flags, "bit 0: the calls from the parent to this node are known")
CN_RECORD_BE(cn_hpc_run_node, CN_HPC_RUN_NODE, 0x13);

enum { CN_HPC_NODE_UNWOUND = 1 };

/* Name and description come before this as strings; formula and format follow, then
 * CN_HPC_RUN_METRIC_TAIL_LEN bytes about how the metric was sampled. */
#define CN_HPC_RUN_METRIC(F)                                                \
    F(0x00, u8, type, "1 measured, 2 computed")                             \
    F(0x01, u8, value_type, "ignored")                                      \
    F(0x02, u8, value_format, "1 integers, 2 doubles")                      \
    F(0x03, u8, is_moved, "1: values belong to the function of their node") \
    F(0x04, u16, partner, "ignored")                                        \
    F(0x06, u8, show, "0 hidden, 1 shown, 2 inclusive, 3 exclusive, 4 not") \
    F(0x07, u8, shows_percent, "1: with percentages")                       \
    F(0x08, u64, reserved, "0")                                             \
    F(0x10, u64, period, "factor of every value")
CN_RECORD_BE(cn_hpc_run_metric, CN_HPC_RUN_METRIC, 0x18);

enum {
    CN_HPC_METRIC_RAW = 1,
    CN_HPC_METRIC_FINAL = 2,
    CN_HPC_VALUES_INTEGER = 1,
    CN_HPC_VALUES_DOUBLE = 2,
    CN_HPC_RUN_METRIC_TAIL_LEN = 2 + 2 + 8 + 8,
};

#define CN_HPC_RUN_ID(F)                                       \
    F(0x00, u16, kind, "low 14 bits: kind; high 2: numbering") \
    F(0x02, u64, physical, "number outside of the program")    \
    F(0x0a, u64, logical, "number from 0")
CN_RECORD_BE(cn_hpc_run_id, CN_HPC_RUN_ID, 0x12);

enum { CN_HPC_KIND_BITS = 14, CN_HPC_NUMBERING_BITS = 2 };

#define CN_HPC_RUN_COUNTS(F)            \
    F(0x00, u64, value_count, "values") \
    F(0x08, u32, node_count, "nodes that have some")
CN_RECORD_BE(cn_hpc_run_counts, CN_HPC_RUN_COUNTS, 0x0c);

#define CN_HPC_RUN_VALUE(F)                 \
    F(0x00, u64, bits, "integer or double") \
    F(0x08, u16, metric, "index in the metric table")
CN_RECORD_BE(cn_hpc_run_value, CN_HPC_RUN_VALUE, 0x0a);

#define CN_HPC_RUN_VALUE_INDEX(F)                         \
    F(0x00, u32, node, "id; \"end!\" after the last one") \
    F(0x04, u64, first, "index of its first value")
CN_RECORD_BE(cn_hpc_run_value_index, CN_HPC_RUN_VALUE_INDEX, 0x0c);

/* Magic, version and byte order come first, as in the other file. */
#define CN_HPC_TRACE_FILE(F) \
    F(0x18, u64, flags, "bit 0: records are longer; bit 2: of calls, not samples")
CN_RECORD_BE(cn_hpc_trace_file, CN_HPC_TRACE_FILE, 0x20);

enum { CN_HPC_TRACE_DATA_CENTRIC = 1, CN_HPC_TRACE_CALLS = 4 };

#define CN_HPC_TRACE_RECORD(F)               \
    F(0x00, u64, time_ns, "since the epoch") \
    F(0x08, u32, node, "id of a node of the .hpcrun")
CN_RECORD_BE(cn_hpc_trace_record, CN_HPC_TRACE_RECORD, 0x0c);

#endif
