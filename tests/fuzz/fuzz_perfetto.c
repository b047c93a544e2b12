/* Any bytes as a Perfetto trace: they are read or refused, and the calls that were read nest. */

#include <assert.h>
#include <string.h>

#include "base/bytes/protobuf.h"
#include "formats/exchange/perfetto_format.h"
#include "formats/exchange/read/readers.h"
#include "model/calls/recording.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_error err = {0};
    struct cn_recording *rec;

    if (!cn_perfetto_read((struct cn_bytes){data, len}, &rec, &err)) {
        assert(err.text[0] != '\0');
        return 0;
    }
    for (uint32_t i = 0; i < rec->task_count && i < 100; i++) {
        struct cn_call_stream *stream;
        struct cn_call_batch batch;
        enum cn_step step;
        unsigned depth = 0;

        assert(cn_recording_stream_open(rec, i, cn_time_always, &stream, &err));
        while ((step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM)
            for (size_t k = 0; k < batch.count; k++) {
                depth -= batch.calls[k].kind == CN_CALL_EXIT;
                depth += batch.calls[k].kind == CN_CALL_ENTER;
            }
        assert(step == CN_FAIL || depth == 0);
        cn_call_stream_close(stream);
    }
    cn_recording_close(rec);
    return 0;
}

static void add_event(struct cn_pb *pb, uint64_t time, unsigned type, const char *name)
{
    size_t at = cn_pb_open(pb, cn_perfetto_trace_packet), event;

    cn_pb_u64(pb, cn_perfetto_packet_timestamp, time);
    cn_pb_u64(pb, cn_perfetto_packet_sequence_id, 3);
    event = cn_pb_open(pb, cn_perfetto_packet_track_event);
    cn_pb_u64(pb, cn_perfetto_event_type, type);
    cn_pb_u64(pb, cn_perfetto_event_track_uuid, 5);
    if (name)
        cn_pb_str(pb, cn_perfetto_event_name, name);
    cn_pb_u64(pb, cn_perfetto_event_counter_value, 7);
    cn_pb_fixed64(pb, cn_perfetto_event_flow_ids, 8);
    cn_pb_close(pb, event);
    cn_pb_close(pb, at);
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_pb pb = {0};
    size_t at = cn_pb_open(&pb, cn_perfetto_trace_packet), track, inner;

    track = cn_pb_open(&pb, cn_perfetto_packet_track_descriptor);
    cn_pb_u64(&pb, cn_perfetto_track_uuid, 5);
    cn_pb_u64(&pb, cn_perfetto_track_parent_uuid, 6);
    inner = cn_pb_open(&pb, cn_perfetto_track_thread);
    cn_pb_u64(&pb, cn_perfetto_thread_pid, 1);
    cn_pb_u64(&pb, cn_perfetto_thread_tid, 2);
    cn_pb_str(&pb, cn_perfetto_thread_thread_name, "t");
    cn_pb_close(&pb, inner);
    cn_pb_close(&pb, track);
    cn_pb_close(&pb, at);
    add_event(&pb, 10, CN_PERFETTO_BEGIN, "f");
    add_event(&pb, 11, CN_PERFETTO_COUNTER, NULL);
    add_event(&pb, 12, CN_PERFETTO_INSTANT, "now");
    add_event(&pb, 20, CN_PERFETTO_END, NULL);
    emit(pb.bytes, pb.len);
    cn_pb_done(&pb);
}
