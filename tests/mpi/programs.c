/* Small MPI programs with a planted cause of waiting.
 *
 *     mpirun -n 4 ./programs [barrier|sender|receiver|allreduce|chain|root]
 *
 * All of them, one after the other, without a name.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STEPS = 3, LONG_MS = 20, SHORT_MS = 3 };

static int rank, size;

/* Sleeps: ranks may share processors. */
static void use_time(long ms)
{
    struct timespec left = {0, ms * 1000000};

    while (nanosleep(&left, &left) != 0)
        ;
}

void late_part(void)
{
    use_time(LONG_MS);
}

void usual_part(void)
{
    use_time(SHORT_MS);
}

static void compute(int is_late)
{
    if (is_late)
        late_part();
    else
        usual_part();
}

/* Rank 2 comes late to a barrier. */
void barrier_step(void)
{
    compute(rank == 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 waits for what rank 1 sends late. */
void sender_step(void)
{
    int word = 1;

    compute(rank == 1);
    if (rank == 1)
        MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 waits until rank 3 receives. */
void receiver_step(void)
{
    int word = 1;

    compute(rank == 3);
    if (rank == 0)
        MPI_Ssend(&word, 1, MPI_INT, 3, 7, MPI_COMM_WORLD);
    if (rank == 3)
        MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 3 has more to do before a sum. */
void allreduce_step(void)
{
    int part = rank, sum;

    compute(rank == 3);
    MPI_Allreduce(&part, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Each rank computes when it has what the rank before sends. */
void chain_step(void)
{
    int word = 0;
    MPI_Request request;

    if (rank > 0) {
        MPI_Irecv(&word, 1, MPI_INT, rank - 1, 3, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    usual_part();
    if (rank < size - 1)
        MPI_Send(&word, 1, MPI_INT, rank + 1, 3, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The root of a broadcast comes late. */
void root_step(void)
{
    int word = 1;

    compute(rank == 1);
    MPI_Bcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*step)(void);
} programs[] = {
    {"barrier", barrier_step},     {"sender", sender_step}, {"receiver", receiver_step},
    {"allreduce", allreduce_step}, {"chain", chain_step},   {"root", root_step},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        for (int n = 0; (argc < 2 || strcmp(argv[1], programs[i].name) == 0) && n < STEPS;
             n++)
            programs[i].step();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
