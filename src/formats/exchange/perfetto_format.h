/* The messages of Perfetto's trace.proto that a trace of calls needs, from
 * perfetto.dev/docs/reference/trace-packet-proto.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_PERFETTO_FORMAT_H
#define CN_FORMATS_EXCHANGE_PERFETTO_FORMAT_H

#include "base/bytes/protobuf.h"

/* clang-format off */
#define CN_PERFETTO_TRACE(F, m) \
    F(m, 1, message, packet, "")
CN_MESSAGE(cn_perfetto_trace, CN_PERFETTO_TRACE);

#define CN_PERFETTO_PACKET(F, m)                                          \
    F(m, 6, message, clock_snapshot, "the same moment on several clocks") \
    F(m, 8, uint64, timestamp, "nanoseconds of the clock at boot time")   \
    F(m, 10, uint32, sequence_id, "packets of a sequence are in order")          \
    F(m, 11, message, track_event, "")                                    \
    F(m, 12, message, interned_data, "names by number, for its sequence") \
    F(m, 13, uint32, sequence_flags, "see below")                         \
    F(m, 37, message, profile_packet, "of heapprofd")                     \
    F(m, 58, uint32, clock_id, "of the timestamp")                        \
    F(m, 59, message, defaults, "of the packets that follow in its sequence") \
    F(m, 60, message, track_descriptor, "")
CN_MESSAGE(cn_perfetto_packet, CN_PERFETTO_PACKET);

/* Bits of sequence_flags. */
enum { CN_PERFETTO_STATE_CLEARED = 1, CN_PERFETTO_NEEDS_STATE = 2 };

#define CN_PERFETTO_SNAPSHOT(F, m) \
    F(m, 1, message, clocks, "")
CN_MESSAGE(cn_perfetto_snapshot, CN_PERFETTO_SNAPSHOT);

#define CN_PERFETTO_CLOCK(F, m)       \
    F(m, 1, uint32, clock_id, "")     \
    F(m, 2, uint64, timestamp, "")    \
    F(m, 3, bool, is_incremental, "timestamps are differences") \
    F(m, 4, uint64, unit_ns, "of timestamps")
CN_MESSAGE(cn_perfetto_clock, CN_PERFETTO_CLOCK);

/* Clocks of a sequence have ids from CN_PERFETTO_CLOCK_OWN on. */
enum {
    CN_PERFETTO_CLOCK_REALTIME = 1,
    CN_PERFETTO_CLOCK_BOOTTIME = 6,
    CN_PERFETTO_CLOCK_OWN = 64,
    CN_PERFETTO_CLOCK_OWN_END = 128,
};

#define CN_PERFETTO_DEFAULTS(F, m)                                        \
    F(m, 11, message, track_event, "only its track_uuid")                 \
    F(m, 58, uint32, clock_id, "")
CN_MESSAGE(cn_perfetto_defaults, CN_PERFETTO_DEFAULTS);

#define CN_PERFETTO_TRACK(F, m)                             \
    F(m, 1, uint64, uuid, "")                               \
    F(m, 2, string, name, "")                               \
    F(m, 3, message, process, "")                           \
    F(m, 4, message, thread, "")                            \
    F(m, 5, uint64, parent_uuid, "the track it is in")      \
    F(m, 8, message, counter, "it is a track of readings")
CN_MESSAGE(cn_perfetto_track, CN_PERFETTO_TRACK);

#define CN_PERFETTO_PROCESS(F, m)           \
    F(m, 1, int32, pid, "")                 \
    F(m, 2, string, cmdline, "repeated")    \
    F(m, 6, string, process_name, "")
CN_MESSAGE(cn_perfetto_process, CN_PERFETTO_PROCESS);

#define CN_PERFETTO_THREAD(F, m)       \
    F(m, 1, int32, pid, "")            \
    F(m, 2, int32, tid, "")            \
    F(m, 5, string, thread_name, "")
CN_MESSAGE(cn_perfetto_thread, CN_PERFETTO_THREAD);

#define CN_PERFETTO_EVENT(F, m)                                          \
    F(m, 4, message, debug_annotations, "arguments")                     \
    F(m, 9, enum, type, "see below")                                     \
    F(m, 10, uint64, name_iid, "an interned name")                   \
    F(m, 11, uint64, track_uuid, "")                                     \
    F(m, 23, string, name, "instead of name_iid")                                     \
    F(m, 30, int64, counter_value, "")                                   \
    F(m, 44, double, double_counter_value, "")                           \
    F(m, 47, fixed64, flow_ids, "a flow begins or continues here")     \
    F(m, 48, fixed64, terminating_flow_ids, "a flow ends here")
CN_MESSAGE(cn_perfetto_event, CN_PERFETTO_EVENT);

enum {
    CN_PERFETTO_BEGIN = 1,
    CN_PERFETTO_END = 2,
    CN_PERFETTO_INSTANT = 3,
    CN_PERFETTO_COUNTER = 4,
};

#define CN_PERFETTO_INTERNED(F, m)                    \
    F(m, 2, message, event_names, "")                 \
    F(m, 3, message, annotation_names, "")            \
    F(m, 5, message, function_names, "")              \
    F(m, 6, message, frames, "of functions")          \
    F(m, 7, message, callstacks, "")                  \
    F(m, 17, message, mapping_paths, "parts of paths") \
    F(m, 19, message, mappings, "of files")
CN_MESSAGE(cn_perfetto_interned, CN_PERFETTO_INTERNED);

#define CN_PERFETTO_NAME(F, m)       \
    F(m, 1, uint64, iid, "never 0")  \
    F(m, 2, string, name, "")
CN_MESSAGE(cn_perfetto_name, CN_PERFETTO_NAME);

#define CN_PERFETTO_ANNOTATION(F, m)       \
    F(m, 1, uint64, name_iid, "")          \
    F(m, 3, uint64, uint_value, "")        \
    F(m, 6, string, string_value, "")
CN_MESSAGE(cn_perfetto_annotation, CN_PERFETTO_ANNOTATION);

#define CN_PERFETTO_MAPPING(F, m)                           \
    F(m, 1, uint64, iid, "")                                \
    F(m, 7, uint64, path_string_ids, "repeated: its parts")
CN_MESSAGE(cn_perfetto_mapping, CN_PERFETTO_MAPPING);

#define CN_PERFETTO_FRAME(F, m)             \
    F(m, 1, uint64, iid, "")                \
    F(m, 2, uint64, function_name_id, "")   \
    F(m, 3, uint64, mapping_id, "")         \
    F(m, 4, uint64, rel_pc, "in the file")
CN_MESSAGE(cn_perfetto_frame, CN_PERFETTO_FRAME);

#define CN_PERFETTO_CALLSTACK(F, m)                            \
    F(m, 1, uint64, iid, "")                                   \
    F(m, 2, uint64, frame_ids, "repeated, the outermost first")
CN_MESSAGE(cn_perfetto_callstack, CN_PERFETTO_CALLSTACK);

/* Tables of Android 10 are in the packet itself. */
#define CN_PERFETTO_PROFILE(F, m)                     \
    F(m, 1, message, strings, "names and parts of paths") \
    F(m, 2, message, frames, "")                      \
    F(m, 3, message, callstacks, "")                  \
    F(m, 4, message, mappings, "")                    \
    F(m, 5, message, process_dumps, "")
CN_MESSAGE(cn_perfetto_profile, CN_PERFETTO_PROFILE);

#define CN_PERFETTO_HEAP(F, m)                        \
    F(m, 1, uint64, pid, "")                          \
    F(m, 2, message, samples, "sums since the start") \
    F(m, 4, bool, rejected_concurrent, "")            \
    F(m, 6, bool, disconnected, "it ended, or lost its connection") \
    F(m, 7, bool, buffer_overran, "")                 \
    F(m, 8, bool, buffer_corrupted, "")               \
    F(m, 11, string, heap_name, "")
CN_MESSAGE(cn_perfetto_heap, CN_PERFETTO_HEAP);

#define CN_PERFETTO_HEAP_SAMPLE(F, m)        \
    F(m, 1, uint64, callstack_id, "")        \
    F(m, 2, uint64, self_allocated, "bytes") \
    F(m, 3, uint64, self_freed, "of these")  \
    F(m, 5, uint64, alloc_count, "")         \
    F(m, 6, uint64, free_count, "")          \
    F(m, 8, uint64, self_max, "live when the process had most")
CN_MESSAGE(cn_perfetto_heap_sample, CN_PERFETTO_HEAP_SAMPLE);
/* clang-format on */

#endif
