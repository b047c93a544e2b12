#include "server/http/state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/lens/code.h"
#include "analyze/lens/database.h"
#include "analyze/lens/lens.h"
#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/list.h"
#include "formats/exchange/exchange.h"
#include "server/api/parameters.h"
#include "server/api/request.h"

enum {
    DOWNLOAD_MAX = 4,       /* written at a time; each takes what `cairn convert` takes */
    POLL_NS = 20 * 1000000, /* while the source is analysed */
    WARNING_LEN = 400,
};

static const char prefix[] = "/pprof";

struct cn_download {
    struct cn_job job;
    struct MHD_Connection *connection; /* suspended until the job has done its work */
    struct cn_served *served;
    struct cn_lens lens;
    struct cn_write_options options;
    int fd; /* of the file that was written, which has no name; -1: none */
    struct cn_error err;
    struct cn_text damage; /* of the source, which was written up to it */
};

bool cn_download_is_address(const char *url)
{
    size_t len = strlen(prefix);

    return strncmp(url, prefix, len) == 0 && (url[len] == '\0' || url[len] == '/');
}

static void note_damage(struct cn_download *download, const char *text)
{
    if (download->damage.len == 0)
        cn_text_str_add(&download->damage, text);
}

static bool write_database(struct cn_download *download, struct cn_database *db,
                           const char *path, struct cn_error *err)
{
    const struct cn_warning *w = cn_opened_warnings(&download->served->opened);

    for (; w; w = w->next)
        if (w->is_damage)
            note_damage(download, w->text);
    return cn_format_write_database(&cn_format_pprof, db, path, &download->options, err);
}

/* As `cairn convert` does: costs that are seen through a lens, all others as the data has them. */
static bool write_profile(struct cn_download *download,
                          const struct cn_progress *progress, const char *path,
                          struct cn_error *err)
{
    struct cn_served *served = download->served;
    const struct cn_lens *lens = &download->lens;
    struct cn_database *shown;
    struct cn_codes codes;

    if (served->recording && lens->count == 0) {
        const struct cn_warning *w = served->recording->warnings;

        for (; w; w = w->next)
            if (w->is_damage)
                note_damage(download, w->text);
        return cn_format_write_recording(&cn_format_pprof, served->recording,
                                         served->opened.options.is_raw, path,
                                         &download->options, err);
    }
    while (!cn_served_ready(served, err)) {
        struct cn_error stopped;

        if (err->kind != CN_ERR_BUSY)
            return false;
        if (!cn_progress_check(progress, "waiting for the analysis", &stopped)) {
            *err = stopped;
            return false;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    if (lens->count == 0)
        return write_database(download, served->db, path, err);
    if (!cn_codes_build(&codes, served->db, &lens->mine, err) ||
        !cn_lens_database_open(&shown, served->db, &codes, lens, progress, err))
        return false;
    bool ok = write_database(download, shown, path, err);
    cn_database_close(shown);
    return ok;
}

/* Write a file, and leave it open without its name. */
static bool write_file(struct cn_download *download, const struct cn_progress *progress,
                       struct cn_error *err)
{
    char *folder = cn_temporary_make("pprof", err), *path;

    if (!folder)
        return false;
    path = cn_strprintf("%s/profile", folder);
    bool ok = write_profile(download, progress, path, err);
    if (ok || err->kind == CN_ERR_FORMAT)
        download->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (ok && download->fd < 0)
        ok = cn_fail_errno(err, "%s", path);
    if (!ok && download->fd >= 0) { /* up to the damage */
        note_damage(download, err->text);
        ok = true;
    }
    (void)unlink(path);
    (void)rmdir(folder);
    free(path);
    free(folder);
    return ok;
}

static bool work(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_download *download = arg;
    bool ok = write_file(download, progress, err);

    if (!ok)
        download->err = *err;
    cn_served_tidy(download->served);
    MHD_resume_connection(download->connection); /* the last use of it here */
    return ok;
}

/* The parameters of an address: all others would be about what is not written. */
static bool check_parameters(const struct cn_request *request, struct cn_error *err)
{
    static const char *const known[] = {"token", "metric", "waits", "mycode", "mine"};

    for (size_t i = 0; i < request->parameter_count; i++) {
        const char *name = request->parameters[i].name;
        bool is_known = false;

        for (size_t k = 0; k < CN_COUNT_OF(known); k++)
            is_known |= strcmp(name, known[k]) == 0;
        for (unsigned k = 0; k < CN_LENS_ACTIONS; k++)
            is_known |= strcmp(name, cn_lens_action_name(k)) == 0;
        if (!is_known)
            return cn_fail(err, CN_ERR_USAGE,
                           "parameter %.80s: not known here; the profile is one that was "
                           "measured before, and takes metric, waits and filters",
                           name);
    }
    return true;
}

static bool find_source(const struct cn_served_list *sources, const char *path,
                        struct cn_served **out, struct cn_error *err)
{
    const char *rest = path + strlen(prefix);
    uint64_t index = 0;

    rest += *rest == '/';
    if (*rest && (!cn_number_take(&rest, UINT32_MAX, &index) || *rest))
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%.200s: no such page; a profile is /pprof/SOURCE", path);
    if (index >= sources->count)
        return cn_fail(err, CN_ERR_NOT_FOUND, "there is no source %u here",
                       (unsigned)index);
    *out = sources->list[index];
    return (*out)->kind != CN_SERVED_STORE ||
           cn_fail(err, CN_ERR_NOT_FOUND,
                   "source %u is a store of traces, which has no profile",
                   (unsigned)index);
}

static bool ask(struct cn_download *download, const struct cn_served_list *sources,
                const struct cn_request *request, struct cn_error *err)
{
    struct cn_write_options *options = &download->options;
    bool has_lens;

    options->metric = cn_request_value(request, "metric");
    options->counts_waits = cn_request_flag(request, "waits");
    if (!find_source(sources, request->path, &download->served, err) ||
        !check_parameters(request, err) ||
        !cn_request_lens(request, &download->lens, &has_lens, err))
        return false;
    download->lens.is_written = true;
    if (options->metric && options->counts_waits)
        return cn_fail(err, CN_ERR_USAGE, "waits=1 and metric exclude each other");
    return !options->metric || !download->served->recording || download->lens.count > 0 ||
           cn_fail(err, CN_ERR_USAGE,
                   "parameter metric: this source has calls; their number and time are "
                   "written");
}

static bool has_no_room(struct cn_download *download)
{
    (void)pthread_mutex_lock(&download->job.group->lock);
    bool is_new = download->job.state == CN_JOB_NEW;
    (void)pthread_mutex_unlock(&download->job.group->lock);
    return is_new;
}

bool cn_download_begin(struct cn_server *server, const struct cn_served_list *sources,
                       const struct cn_request *request,
                       struct MHD_Connection *connection, struct cn_download **out,
                       struct cn_error *err)
{
    struct cn_download *download = cn_alloc(1, sizeof(*download));

    download->fd = -1;
    download->connection = connection;
    download->job = (struct cn_job){
        .group = &server->downloads, .work = work, .arg = download, .what = "writing"};
    if (!ask(download, sources, request, err)) {
        cn_download_end(download);
        return false;
    }
    *out = download;
    MHD_suspend_connection(connection); /* before the job can resume it */
    bool ok = cn_job_start(&download->job, &download->err);
    if (ok && has_no_room(download))
        ok = cn_fail(&download->err, CN_ERR_BUSY,
                     "%d other profiles are being written; ask again", DOWNLOAD_MAX);
    if (!ok)
        MHD_resume_connection(connection);
    return true;
}

/* The first line of it, as a value of a header may have it. */
static void print_warning(const char *text, char out[WARNING_LEN])
{
    static const char begin[] = "299 cairn \"";
    size_t len = strlen(begin);

    memcpy(out, begin, len);
    for (; *text && *text != '\n' && len < WARNING_LEN - 2; text++)
        out[len++] = (unsigned char)*text < ' ' || (unsigned char)*text > '~' ? '?'
                     : *text == '"' || *text == '\\'                          ? '\''
                                                                              : *text;
    out[len++] = '"';
    out[len] = '\0';
}

struct MHD_Response *cn_download_answer(struct cn_download *download,
                                        struct cn_error *err)
{
    struct MHD_Response *response = NULL;
    char warning[WARNING_LEN];
    struct stat st;

    *err = download->err;
    if (download->fd < 0)
        return NULL;
    if (fstat(download->fd, &st) == 0)
        response = MHD_create_response_from_fd_at_offset64((uint64_t)st.st_size,
                                                           download->fd, 0);
    if (!response) {
        (void)cn_fail(err, CN_ERR_NO_MEMORY, "no memory for the answer");
        return NULL;
    }
    download->fd = -1; /* the response closes it */
    if (download->damage.len > 0) {
        print_warning(cn_text_str(&download->damage), warning);
        (void)MHD_add_response_header(response, "Warning", warning);
    }
    return response;
}

void cn_download_end(struct cn_download *download)
{
    if (!download)
        return;
    cn_job_end(&download->job);
    if (download->fd >= 0)
        (void)close(download->fd);
    cn_lens_done(&download->lens);
    cn_text_done(&download->damage);
    free(download);
}

void cn_downloads_init(struct cn_server *server)
{
    cn_job_group_init(&server->downloads, DOWNLOAD_MAX);
}

void cn_downloads_stop(struct cn_server *server)
{
    struct cn_job_group *group = &server->downloads;

    cn_job_group_cancel(group);
    (void)pthread_mutex_lock(&group->lock);
    while (group->running_count > 0)
        (void)pthread_cond_wait(&group->changed, &group->lock);
    (void)pthread_mutex_unlock(&group->lock);
}
