/* The tables of waits, locks and calls of MPI: those of `cairn sql`, with columns of the smallest types. */

#include <assert.h>
#include <string.h>

#include "analyze/mpi/tables.h"
#include "analyze/wakers/tables.h"
#include "lib/frame.h"
#include "lib/lib.h"

enum { COLUMNS_MAX = 20 };

struct listed_column {
    const char *name;
    enum cairn_type type;
};

/* A table under construction, and which of the listed cells each column has. */
struct listed_table {
    struct cairn_table *table;
    size_t cell_of[COLUMNS_MAX];
};

#define NAME(name, kind) name,

static const char *const waits_cells[] = {CN_WAITS_COLUMNS(NAME) NULL};
static const char *const locks_cells[] = {CN_LOCKS_COLUMNS(NAME) NULL};
static const char *const mpi_waits_cells[] = {CN_MPI_WAITS_COLUMNS(NAME) NULL};

static const struct listed_column waits_columns[] = {
    {"thread", CAIRN_U32},
    {"begin_ns", CAIRN_U64},
    {"woken_ns", CAIRN_U64},
    {"end_ns", CAIRN_U64},
    {"kind", CAIRN_CATEGORY},
    {"context", CAIRN_U32},
    {"waker", CAIRN_U32},
    {"waker_context", CAIRN_U32},
    {"is_inferred", CAIRN_U16},
    {"lock", CAIRN_CATEGORY},
    {0},
};

static const struct listed_column locks_columns[] = {
    {"lock", CAIRN_CATEGORY},     {"address", CAIRN_U64},
    {"time_ns", CAIRN_U64},       {"count", CAIRN_U64},
    {"threads", CAIRN_U64},       {"longest_ns", CAIRN_U64},
    {"longest_at_ns", CAIRN_U64}, {"kept_count", CAIRN_U64},
    {"kept_ns", CAIRN_U64},       {"longest_kept_ns", CAIRN_U64},
    {"waits_in", CAIRN_CATEGORY}, {"given_by", CAIRN_CATEGORY},
    {"given_in", CAIRN_CATEGORY}, {"meanwhile", CAIRN_CATEGORY},
    {"taken_in", CAIRN_CATEGORY}, {0},
};

static const struct listed_column mpi_waits_columns[] = {
    {"rank", CAIRN_U32},      {"begin_ns", CAIRN_U64},       {"end_ns", CAIRN_U64},
    {"wait_ns", CAIRN_U64},   {"cause", CAIRN_CATEGORY},     {"path", CAIRN_CATEGORY},
    {"late_rank", CAIRN_U32}, {"late_path", CAIRN_CATEGORY}, {0},
};

static size_t find_cell(const char *const *cells, const char *name)
{
    size_t at = 0;

    while (cells[at] && strcmp(cells[at], name) != 0)
        at++;
    assert(cells[at]);
    return at;
}

static void begin(struct listed_table *t, const char *const *cells,
                  const struct listed_column *columns)
{
    t->table = cn_frame_new();
    for (size_t i = 0; columns[i].name; i++) {
        t->cell_of[i] = find_cell(cells, columns[i].name);
        (void)cn_frame_add(t->table, columns[i].name, columns[i].type);
    }
}

static void add_row(void *arg, const struct cn_listed_cell *cells)
{
    struct listed_table *t = arg;

    for (size_t i = 0; i < t->table->column_count; i++) {
        struct cn_frame_column *column = cn_frame_column(t->table, i);
        const struct cn_listed_cell *cell = &cells[t->cell_of[i]];

        if (column->type == CAIRN_CATEGORY)
            cn_column_text(column, cell->text);
        else if (column->type == CAIRN_U16)
            cn_column_u16(column, (uint16_t)cell->number);
        else if (column->type == CAIRN_U32)
            *(uint32_t *)cn_column_next(column, sizeof(uint32_t), cell->is_number) =
                (uint32_t)cell->number;
        else if (cell->is_number)
            cn_column_u64(column, cell->number);
        else
            cn_column_u64_null(column);
    }
}

static struct cairn_table *finish(struct listed_table *t, struct cairn_data *data,
                                  bool ok, struct cn_error *err)
{
    if (!ok) {
        (void)cn_fail_in(err, "%s", data->path);
        cairn_table_free(t->table);
        return NULL;
    }
    cn_frame_finish(t->table);
    return t->table;
}

struct cairn_table *cairn_database_waits(struct cairn_data *data, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct listed_table t;
    struct cn_listed_rows rows = {add_row, &t};

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    begin(&t, waits_cells, waits_columns);
    return finish(&t, data, cn_list_waits(data->db, &rows, e), e);
}

struct cairn_table *cairn_database_locks(struct cairn_data *data, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct listed_table t;
    struct cn_listed_rows rows = {add_row, &t};

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    begin(&t, locks_cells, locks_columns);
    return finish(&t, data, cn_list_locks(data->db, &rows, e), e);
}

struct cairn_table *cairn_database_mpi_waits(struct cairn_data *data,
                                             struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct listed_table t;
    struct cn_listed_rows rows = {add_row, &t};

    if (!cn_lib_needs(data, CAIRN_DATABASE, e))
        return NULL;
    begin(&t, mpi_waits_cells, mpi_waits_columns);
    return finish(&t, data, cn_list_mpi_waits(data->db, NULL, &rows, e), e);
}
