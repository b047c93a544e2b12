/* The messages of profile.proto, from github.com/google/pprof.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_PPROF_FORMAT_H
#define CN_FORMATS_EXCHANGE_PPROF_FORMAT_H

#include "base/bytes/protobuf.h"

/* clang-format off */
#define CN_PPROF_PROFILE(F, m)                                                      \
    F(m, 1, message, sample_type, "type and unit of each value")                 \
    F(m, 2, message, sample, "a stack and its values")                              \
    F(m, 3, message, mapping, "a module; the first is the program")                 \
    F(m, 4, message, location, "an address, and its lines")                               \
    F(m, 5, message, function, "")                                                  \
    F(m, 6, string, string_table, "all strings; the first is empty")     \
    F(m, 7, int64, drop_frames, "a string: frames to hide") \
    F(m, 8, int64, keep_frames, "a string: exceptions from it") \
    F(m, 9, int64, time_nanos, "start, since the epoch")                \
    F(m, 10, int64, duration_nanos, "")                                             \
    F(m, 11, message, period_type, "")                                              \
    F(m, 12, int64, period, "")                                                     \
    F(m, 13, int64, comment, "strings")                                             \
    F(m, 14, int64, default_sample_type, "the string of its type")
CN_MESSAGE(cn_pprof_profile, CN_PPROF_PROFILE);

#define CN_PPROF_VALUE_TYPE(F, m)      \
    F(m, 1, int64, type, "a string")   \
    F(m, 2, int64, unit, "a string")
CN_MESSAGE(cn_pprof_value_type, CN_PPROF_VALUE_TYPE);

#define CN_PPROF_SAMPLE(F, m)                                        \
    F(m, 1, uint64, location_id, "packed; innermost first") \
    F(m, 2, int64, value, "packed; one for each sample_type")        \
    F(m, 3, message, label, "")
CN_MESSAGE(cn_pprof_sample, CN_PPROF_SAMPLE);

#define CN_PPROF_LABEL(F, m)                    \
    F(m, 1, int64, key, "a string")             \
    F(m, 2, int64, str, "a string")         \
    F(m, 3, int64, num, "instead of str")             \
    F(m, 4, int64, num_unit, "a string")
CN_MESSAGE(cn_pprof_label, CN_PPROF_LABEL);

#define CN_PPROF_MAPPING(F, m)                               \
    F(m, 1, uint64, id, "never 0")                           \
    F(m, 2, uint64, memory_start, "")                        \
    F(m, 3, uint64, memory_limit, "")                        \
    F(m, 4, uint64, file_offset, "")                         \
    F(m, 5, int64, filename, "a string")                     \
    F(m, 6, int64, build_id, "a string")                     \
    F(m, 7, bool, has_functions, "functions are resolved")       \
    F(m, 8, bool, has_filenames, "")                         \
    F(m, 9, bool, has_line_numbers, "")                      \
    F(m, 10, bool, has_inline_frames, "")
CN_MESSAGE(cn_pprof_mapping, CN_PPROF_MAPPING);

#define CN_PPROF_LOCATION(F, m)                                       \
    F(m, 1, uint64, id, "never 0")                                    \
    F(m, 2, uint64, mapping_id, "0: none")                            \
    F(m, 3, uint64, address, "")                                      \
    F(m, 4, message, line, "several if calls are inlined")
CN_MESSAGE(cn_pprof_location, CN_PPROF_LOCATION);

#define CN_PPROF_LINE(F, m)              \
    F(m, 1, uint64, function_id, "")     \
    F(m, 2, int64, line, "")
CN_MESSAGE(cn_pprof_line, CN_PPROF_LINE);

#define CN_PPROF_FUNCTION(F, m)                              \
    F(m, 1, uint64, id, "never 0")                           \
    F(m, 2, int64, name, "a string")                         \
    F(m, 3, int64, system_name, "a string: the mangled name") \
    F(m, 4, int64, filename, "a string")                     \
    F(m, 5, int64, start_line, "")
CN_MESSAGE(cn_pprof_function, CN_PPROF_FUNCTION);
/* clang-format on */

#endif
