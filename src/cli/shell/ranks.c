#include "cli/shell/ranks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/wire.h"
#include "base/host/library.h"
#include "base/run/ranks.h"
#include "cli/shell/args.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"

#define MPI_LIBRARY "libcairn-mpi.so"

/* A number that the launcher put into the environment; false if it did not. */
static bool find_number(const char *const *names, unsigned *out)
{
    for (; *names; names++) {
        const char *text = getenv(*names);
        char *end;
        unsigned long number = text ? strtoul(text, &end, 10) : 0;

        if (text && *text != '\0' && *end == '\0' && number <= CN_RANKS_COUNT_MAX) {
            *out = (unsigned)number;
            return true;
        }
    }
    return false;
}

static bool find_rank(unsigned *out)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        NULL};

    *out = 0;
    return find_number(names, out);
}

unsigned cn_cli_launched_rank(void)
{
    unsigned rank;

    (void)find_rank(&rank);
    return rank;
}

/* The number of processes, including this one; 0: several, number unknown. */
static unsigned launched_size(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    /* Also set without ranks: used only where there is a rank. */
    static const char *const step_names[] = {"SLURM_STEP_NUM_TASKS", NULL};
    unsigned size, rank;

    if (find_number(names, &size))
        return size;
    if (!find_rank(&rank))
        return 1;
    return find_number(step_names, &size) ? size : 0;
}

static bool stop_is_asked(void)
{
    return cn_bar_signal() != 0;
}

/* The library stays loaded: MPI cannot be unloaded safely. */
static bool connect_ranks(struct cn_ranks **out, struct cn_error *err)
{
    char *library = NULL;
    struct cn_error missing;
    cn_ranks_connect_fn connect;
    void *object, *symbol;

    if (!cn_own_library_find(MPI_LIBRARY, &library, &missing))
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "started by mpirun, but this cairn has no MPI (%s); start it "
                       "without mpirun, or use --no-mpi",
                       missing.text);
    /* RTLD_GLOBAL: plugins of MPI look up its symbols globally. */
    object = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    symbol = object ? dlsym(object, "cn_ranks_connect") : NULL;
    free(library);
    if (!symbol)
        return cn_fail(err, CN_ERR_IO, "cannot load MPI: %s", dlerror());
    memcpy(&connect, &symbol, sizeof(connect));
    return connect(out, err);
}

static void add_words(const struct cn_args *args, struct cn_text *text)
{
    for (size_t i = 0; i < args->given_count; i++) {
        cn_wire_str(text, args->given[i]->name);
        cn_wire_str(text, args->values[i] ? args->values[i] : "");
    }
    for (size_t i = 0; i < args->operand_count; i++)
        cn_wire_str(text, args->operands[i]);
}

/* Processes with different command lines cannot work together. */
static bool check_words(struct cn_ranks *ranks, const struct cn_args *args,
                        struct cn_error *err)
{
    struct cn_text own = {0}, first = {0};
    bool ok;

    add_words(args, &own);
    if (cn_ranks_is_first(ranks))
        add_words(args, &first);
    ok = cn_ranks_broadcast(ranks, &first, err);
    if (ok && (own.len != first.len || memcmp(own.chars, first.chars, own.len) != 0))
        ok = cn_fail(err, CN_ERR_USAGE,
                     "rank %u has another command line than rank 0; use --no-mpi if each "
                     "is to work alone",
                     ranks->rank);
    cn_text_done(&own);
    cn_text_done(&first);
    return cn_ranks_agree(ranks, ok, err);
}

/* If another MPI started the processes, ours sees each one alone: all would write the same
 * database. */
static bool check_size(struct cn_ranks *ranks, unsigned launched, struct cn_error *err)
{
    unsigned size = ranks->size;

    if (launched == 0 || size == launched)
        return true;
    cn_ranks_close(ranks);
    return cn_fail(
        err, CN_ERR_USAGE,
        "mpirun started %u processes, but cairn's MPI sees %u: they are not the "
        "same MPI",
        launched, size);
}

/* mpirun ends all processes when one has failed: the first has to print why before that. */
static bool fail_after_first(const struct cn_args *args)
{
    if (args->session->is_mute)
        (void)sleep(1);
    return false;
}

bool cn_cli_ranks_open(struct cn_ranks **ranks, const struct cn_args *args,
                       struct cn_error *err)
{
    struct cn_ranks *found = &cn_ranks_alone;
    unsigned launched = cn_args_has(args, "no-mpi") ? 1 : launched_size();

    *ranks = NULL;
    if (launched == 1) {
        *ranks = found;
        return true;
    }
    args->session->is_mute = cn_cli_launched_rank() > 0;
    if (!connect_ranks(&found, err) || !check_size(found, launched, err))
        return fail_after_first(args);
    *ranks = found;
    found->is_stopped = stop_is_asked;
    args->session->is_mute = !cn_ranks_is_first(found);
    return check_words(found, args, err);
}

bool cn_cli_ranks_close(struct cn_ranks *ranks, const struct cn_args *args, bool ok,
                        struct cn_error *err)
{
    bool is_agreed = cn_args_has(args, "no-mpi") || (ranks && ranks != &cn_ranks_alone);

    if (!ok && is_agreed) {
        if (!args->session->is_mute)
            cn_cli_fail(args->command, err);
        err->text[0] = '\0';
    }
    cn_ranks_close(ranks);
    return ok;
}
