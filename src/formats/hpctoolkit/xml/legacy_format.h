/* The value files beside an experiment.xml 2.x, byte by byte; all big endian.
 *
 *   NAME-RANK-THREAD-HOST-PID-GENERATION.metric-db   the values of one thread
 *   experiment-N.mdb                                 those of all threads, packed
 *   experiment.mt                                    the timelines of all threads, packed
 *
 * A packed file is a header, a table of the offsets of each thread's file, and these files one
 * after the other; each ends where the next one begins. 8 bytes without meaning follow.
 *
 * Values are a full matrix of doubles: a row for each id from 1 on, a column for each metric of
 * the <MetricDBTable>. Id 1 is the root above all contexts.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_LEGACY_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_XML_LEGACY_FORMAT_H

#include "base/bytes/record.h"

#define CN_HPC_LEGACY_VALUES_MAGIC  "HPCPROF-metricdb__"
#define CN_HPC_LEGACY_TRACE_MAGIC   "HPCRUN-trace______"
#define CN_HPC_LEGACY_VALUES_SUFFIX ".metric-db"
#define CN_HPC_LEGACY_PACKED_PREFIX "experiment-"
#define CN_HPC_LEGACY_PACKED_SUFFIX ".mdb"
#define CN_HPC_LEGACY_TRACES        "experiment.mt"

enum {
    CN_HPC_LEGACY_MAGIC_LEN = 18, /* then 5 bytes of version, and a byte order */
    CN_HPC_LEGACY_BIG_ENDIAN = 'b',
    CN_HPC_LEGACY_ROOT_ID = 1,
    CN_HPC_LEGACY_FILE_MAX = 65536, /* *.metric-db in one directory */
};

#define CN_HPC_LEGACY_PACK(F)                                  \
    F(0x00, u32, type, "bits: which numbers identify threads") \
    F(0x04, u32, count, "number of threads")
CN_RECORD_BE(cn_hpc_legacy_pack, CN_HPC_LEGACY_PACK, 0x08);
enum { CN_HPC_LEGACY_HAS_RANKS = 1 << 0, CN_HPC_LEGACY_HAS_THREADS = 1 << 1 };

#define CN_HPC_LEGACY_MEMBER(F)    \
    F(0x00, u32, process, "rank")  \
    F(0x04, u32, thread, "thread") \
    F(0x08, u64, begin_off, "its file")
CN_RECORD_BE(cn_hpc_legacy_member, CN_HPC_LEGACY_MEMBER, 0x10);

#define CN_HPC_LEGACY_VALUES(F)              \
    F(0x17, u8, byte_order, "b: big endian") \
    F(0x18, u32, row_count, "number of ids") \
    F(0x1c, u32, column_count, "number of metrics")
CN_RECORD_BE(cn_hpc_legacy_values, CN_HPC_LEGACY_VALUES, 0x20);

#define CN_HPC_LEGACY_VALUE(F) F(0x00, f64, value, "a cell of the matrix, row by row")
CN_RECORD_BE(cn_hpc_legacy_value, CN_HPC_LEGACY_VALUE, 0x08);

#define CN_HPC_LEGACY_TRACE(F)               \
    F(0x17, u8, byte_order, "b: big endian") \
    F(0x18, u64, flags, "bit 0: samples also name a metric")
CN_RECORD_BE(cn_hpc_legacy_trace, CN_HPC_LEGACY_TRACE, 0x20);
enum { CN_HPC_LEGACY_HAS_METRICS = 1 << 0 };

#define CN_HPC_LEGACY_SAMPLE(F) \
    F(0x00, u64, time, "when")  \
    F(0x08, u32, sample_id, "where: the attribute `it` of a context")
CN_RECORD_BE(cn_hpc_legacy_sample, CN_HPC_LEGACY_SAMPLE, 0x0c);

#endif
