#include "analyze/mpi/operation.h"

#include <string.h>
#include <strings.h>

/* Numbers of arguments in the order of enum cn_mpi_argument. */
const struct cn_mpi_operation cn_mpi_operations[] = {
    {"Init", CN_MPI_INIT, false, {0}},
    {"Init_thread", CN_MPI_INIT, false, {0}},
    {"Finalize", CN_MPI_FINALIZE, false, {0}},
    {"Barrier", CN_MPI_ALL, false, {1}},
    {"Allreduce", CN_MPI_ALL, false, {6}},
    {"Allgather", CN_MPI_ALL, false, {7}},
    {"Allgatherv", CN_MPI_ALL, false, {8}},
    {"Alltoall", CN_MPI_ALL, false, {7}},
    {"Alltoallv", CN_MPI_ALL, false, {9}},
    {"Alltoallw", CN_MPI_ALL, false, {9}},
    {"Reduce_scatter", CN_MPI_ALL, false, {6}},
    {"Reduce_scatter_block", CN_MPI_ALL, false, {6}},
    {"Comm_dup", CN_MPI_ALL, false, {1}},
    {"Comm_split", CN_MPI_ALL, false, {1}},
    {"Comm_split_type", CN_MPI_ALL, false, {1}},
    {"Comm_create", CN_MPI_ALL, false, {1}},
    {"Cart_create", CN_MPI_ALL, false, {1}},
    {"Win_create", CN_MPI_ALL, false, {5}},
    {"Win_allocate", CN_MPI_ALL, false, {4}},
    {"File_open", CN_MPI_ALL, false, {1}},
    {"Bcast", CN_MPI_FROM_ROOT, false, {5, 4}},
    {"Scatter", CN_MPI_FROM_ROOT, false, {8, 7}},
    {"Scatterv", CN_MPI_FROM_ROOT, false, {9, 8}},
    {"Reduce", CN_MPI_TO_ROOT, false, {7, 6}},
    {"Gather", CN_MPI_TO_ROOT, false, {8, 7}},
    {"Gatherv", CN_MPI_TO_ROOT, false, {9, 8}},
    {"Send", CN_MPI_SEND, false, {6, 4, 5}},
    {"Ssend", CN_MPI_SEND, false, {6, 4, 5}},
    {"Rsend", CN_MPI_SEND, false, {6, 4, 5}},
    {"Bsend", CN_MPI_SEND, true, {6, 4, 5}},
    {"Isend", CN_MPI_SEND, true, {6, 4, 5}},
    {"Issend", CN_MPI_SEND, true, {6, 4, 5}},
    {"Irsend", CN_MPI_SEND, true, {6, 4, 5}},
    {"Ibsend", CN_MPI_SEND, true, {6, 4, 5}},
    {"Recv", CN_MPI_RECEIVE, false, {6, 4, 5}},
    {"Irecv", CN_MPI_START_RECEIVE, true, {6, 4, 5, 7}},
    {"Sendrecv", CN_MPI_SEND_RECEIVE, false, {11, 4, 5, 0, 9, 10}},
    {"Wait", CN_MPI_WAIT, false, {0, 0, 0, 1}},
    {"Waitall", CN_MPI_WAIT_ALL, false, {0, 1, 0, 2}},
    {0},
};

/* Names, or beginnings of names ("Type_"), of functions that wait for no other rank. */
static const char *const locals[] = {
    "Abort",        "Address",      "Aint_",       "Attr_",
    "Buffer_",      "Cart_coords",  "Cart_get",    "Cart_rank",
    "Cart_shift",   "Comm_compare", "Comm_get",    "Comm_group",
    "Comm_rank",    "Comm_set",     "Comm_size",   "Comm_test_inter",
    "Dims_create",  "Error_",       "Errhandler_", "Finalized",
    "Get_",         "Group_",       "Info_",       "Initialized",
    "Iprobe",       "Is_thread",    "Op_",         "Pack",
    "Query_thread", "Request_free", "Status_",     "Test",
    "Testall",      "Testany",      "Testsome",    "Type_",
    "Unpack",       "Wtick",        "Wtime",       NULL,
};

static const struct cn_mpi_operation other = {.name = "", .kind = CN_MPI_OTHER};
static const struct cn_mpi_operation local = {.name = "", .kind = CN_MPI_LOCAL};

/* The length of a name without what compilers of Fortran append. */
static size_t fortran_len(const char *name, size_t len)
{
    static const char *const endings[] = {"_f08_", "_f08", "__", "_"};

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t ending = strlen(endings[i]);

        if (len > ending && strncasecmp(name + len - ending, endings[i], ending) == 0)
            return len - ending;
    }
    return len;
}

static bool is_local(const char *name)
{
    for (size_t i = 0; locals[i]; i++) {
        size_t len = strlen(locals[i]);

        if (strncasecmp(name, locals[i], len) == 0 &&
            (name[len] == '\0' || locals[i][len - 1] == '_' || name[len] == '_'))
            return true;
    }
    return false;
}

const struct cn_mpi_operation *cn_mpi_operation_find(const char *function, bool *is_c)
{
    const char *name = function + (*function == 'P' || *function == 'p');
    size_t len;

    if (strncasecmp(name, "mpi_", 4) != 0)
        return NULL;
    *is_c = strncmp(name, "MPI_", 4) == 0 && name[4] != '\0' && name[5] >= 'a' &&
            name[5] <= 'z';
    name += 4;
    /* "MPI_Send [libmpi.so.40]", "MPI_Send@plt" */
    len = strcspn(name, " @");
    len = *is_c ? len : fortran_len(name, len);
    for (const struct cn_mpi_operation *it = cn_mpi_operations; it->name; it++)
        if (strlen(it->name) == len && strncasecmp(it->name, name, len) == 0)
            return it;
    return is_local(name) ? &local : &other;
}
