#include "analyze/timeline/processor_tracks.h"

#include <stdlib.h>

#include "analyze/timeline/occupancy.h"
#include "base/alloc.h"
#include "base/search.h"
#include "model/thread_runs.h"

/* The time of one thread in a column, while its runs are read. */
struct column_sum {
    uint32_t column;
    uint64_t ns;
};

struct tracks_builder {
    const struct cn_processor_question *question;
    struct cn_occupancy columns;
    struct cn_processor_tracks *out;
    uint32_t track_of[CN_PROCESSOR_MAX]; /* 1 + its number in the list; 0: none */
    struct column_sum *sums;             /* by track */
};

static const struct cn_thread_runs *runs_of(const struct tracks_builder *builder,
                                            uint32_t thread)
{
    static const struct cn_thread_runs none = {0};
    const struct cn_thread_runs *runs =
        builder->question->runs_of(builder->question->arg, thread);

    return runs ? runs : &none;
}

static void find_processors(struct tracks_builder *builder)
{
    const struct cn_processor_question *question = builder->question;
    struct cn_processor_tracks *out = builder->out;
    size_t capacity = 0;

    for (uint32_t thread = question->first_thread; thread < question->thread_end;
         thread++) {
        const struct cn_thread_runs *runs = runs_of(builder, thread);

        for (size_t i = 0; i < runs->count; i++)
            builder->track_of[cn_thread_runs_at(runs, i).processor] = 1;
    }
    for (uint32_t i = 0; i < CN_PROCESSOR_MAX; i++) {
        if (builder->track_of[i] == 0)
            continue;
        if (out->count < question->processor_max)
            CN_PUSH(out->list, out->count, capacity,
                    (struct cn_processor_track){.number = i});
        builder->track_of[i] = out->count > 0 && out->list[out->count - 1].number == i
                                   ? (uint32_t)out->count
                                   : 0;
    }
}

/* What a thread did in the last column of a track is complete. */
static void close_column(struct tracks_builder *builder, size_t track, uint32_t thread)
{
    struct column_sum *sum = &builder->sums[track];
    struct cn_processor_cell *cell = &builder->out->list[track].cells[sum->column];
    uint64_t room_ns = cn_occupancy_column_ns(&builder->columns, sum->column + 1) -
                       cn_occupancy_column_ns(&builder->columns, sum->column) -
                       cell->busy_ns;

    if (sum->ns > cell->most_ns) {
        cell->most_ns = sum->ns;
        cell->thread = thread;
    }
    /* Runs of damaged data may overlap. */
    cell->busy_ns += sum->ns < room_ns ? sum->ns : room_ns;
    sum->ns = 0;
}

/* The column of a time in the range. */
static uint32_t column_at(const struct cn_occupancy *columns, uint64_t time_ns)
{
    double share = (double)(time_ns - columns->begin_ns) /
                   (double)(columns->end_ns - columns->begin_ns);
    uint32_t last = columns->column_count - 1;
    uint32_t column = (uint32_t)(share * columns->column_count);

    column = column < last ? column : last;
    while (column > 0 && cn_occupancy_column_ns(columns, column) > time_ns)
        column--;
    while (column < last && cn_occupancy_column_ns(columns, column + 1) <= time_ns)
        column++;
    return column;
}

static void add_run(struct tracks_builder *builder, uint32_t thread,
                    const struct cn_thread_run *run)
{
    const struct cn_occupancy *columns = &builder->columns;
    uint64_t at_ns =
        run->begin_ns > columns->begin_ns ? run->begin_ns : columns->begin_ns;
    uint64_t end_ns = run->end_ns < columns->end_ns ? run->end_ns : columns->end_ns;
    uint32_t track = builder->track_of[run->processor];

    if (track == 0 || at_ns >= end_ns)
        return;
    track--;
    for (uint32_t column = column_at(columns, at_ns); at_ns < end_ns; column++) {
        uint64_t next_ns = cn_occupancy_column_ns(columns, column + 1);
        uint64_t until_ns = next_ns < end_ns ? next_ns : end_ns;

        if (builder->sums[track].column != column) {
            close_column(builder, track, thread);
            builder->sums[track].column = column;
        }
        builder->sums[track].ns += until_ns - at_ns;
        at_ns = until_ns;
    }
}

static bool ends_until(const void *data, uint64_t at, uint64_t time_ns)
{
    return cn_thread_runs_at(data, (size_t)at).end_ns <= time_ns;
}

static void add_thread(struct tracks_builder *builder, uint32_t thread)
{
    const struct cn_processor_question *question = builder->question;
    const struct cn_thread_runs *runs = runs_of(builder, thread);
    bool has_any = false;

    for (size_t i =
             (size_t)cn_search(0, runs->count, ends_until, runs, question->begin_ns);
         i < runs->count; i++) {
        struct cn_thread_run run = cn_thread_runs_at(runs, i);

        if (run.begin_ns >= question->end_ns)
            break;
        add_run(builder, thread, &run);
        has_any = true;
    }
    for (size_t i = 0; has_any && i < builder->out->count; i++)
        close_column(builder, i, thread);
}

void cn_processor_tracks_build(struct cn_processor_tracks *out,
                               const struct cn_processor_question *question)
{
    struct tracks_builder *builder = cn_alloc(1, sizeof(*builder));

    *out = (struct cn_processor_tracks){0};
    builder->question = question;
    builder->out = out;
    builder->columns = (struct cn_occupancy){.begin_ns = question->begin_ns,
                                             .end_ns = question->end_ns,
                                             .column_count = question->column_count};
    find_processors(builder);
    out->cells = cn_alloc(out->count * question->column_count, sizeof(*out->cells));
    builder->sums = cn_alloc(out->count, sizeof(*builder->sums));
    for (size_t i = 0; i < out->count; i++)
        out->list[i].cells = &out->cells[i * question->column_count];
    for (uint32_t i = question->first_thread;
         out->count > 0 && question->begin_ns < question->end_ns &&
         i < question->thread_end;
         i++)
        add_thread(builder, i);
    for (size_t i = 0; i < out->count; i++)
        for (uint32_t k = 0; k < question->column_count; k++)
            out->list[i].busy_ns += out->list[i].cells[k].busy_ns;
    free(builder->sums);
    free(builder);
}

void cn_processor_tracks_done(struct cn_processor_tracks *tracks)
{
    free(tracks->list);
    free(tracks->cells);
    *tracks = (struct cn_processor_tracks){0};
}
