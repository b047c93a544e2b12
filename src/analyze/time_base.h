/* What a time is: corrected for the cost of recording or as recorded, running time alone or with
 * waiting. Views, columns and answers name it, so that no two of them are compared by mistake.
 *
 *     costs of calls        corrected unless the analysis was raw; running where that is known
 *     durations of calls    the same, always with waiting
 *     what has a time axis  recorded, so that threads stay aligned
 *
 * Names are static. Threads: any thread.
 */
#ifndef CN_ANALYZE_TIME_BASE_H
#define CN_ANALYZE_TIME_BASE_H

#include <stdbool.h>
#include <stdint.h>

struct cn_database;
struct cn_recording;

enum cn_time_source { CN_TIME_MEASURED, CN_TIME_RECORDED, CN_TIME_CORRECTED };
enum cn_time_waits { CN_TIME_PLAIN, CN_TIME_RUNNING, CN_TIME_WAITING, CN_TIME_ALL };

struct cn_time_base {
    enum cn_time_source source;
    enum cn_time_waits waits;
};

/* "corrected running time". */
const char *cn_time_base_name(struct cn_time_base base);

/* The base of a metric of a database, whose name says that it is a time; else false. */
bool cn_time_base_of(const struct cn_database *db, const char *metric,
                     struct cn_time_base *out);

/* The base of the durations of calls, of a database and of a recording. */
struct cn_time_base cn_time_base_of_durations(const struct cn_database *db);
struct cn_time_base cn_time_base_of_calls(const struct cn_recording *rec, bool is_raw);

/* The base of the costs of a recording: running time where it has scheduler events. Whether one that was
 * imported has any is not known before it is read. */
struct cn_time_base cn_time_base_of_costs(const struct cn_recording *rec, bool is_raw);

/* The base of sums over a range of time. */
struct cn_time_base cn_time_base_of_timeline(const struct cn_database *db);

/* What was subtracted from the duration of each call is known no better than the clock tells times
 * apart. Durations that are shorter are "less than" this; 0: all are right. */
uint64_t cn_time_resolution_ns(const struct cn_database *db);
uint64_t cn_time_resolution_of_calls(const struct cn_recording *rec, bool is_raw);

#endif
