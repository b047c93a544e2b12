#include "remote/receiver.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "formats/uftrace/format.h"
#include "launcher/files/recording_dir.h"

enum { NUMBER_LEN = 4, DIR_NAME_MAX = 200 }; /* a suffix is added to a directory's name */

void cn_receiver_init(struct cn_receiver *receiver, const char *folder, const char *token,
                      uint64_t size_limit)
{
    *receiver = (struct cn_receiver){
        .folder = folder,
        .token = token,
        .size_limit = size_limit,
        .head_need = cn_remote_header_size,
        .dir = -1,
        .file = -1,
    };
}

static void close_file(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

void cn_receiver_done(struct cn_receiver *receiver)
{
    close_file(&receiver->file);
    close_file(&receiver->dir);
    if (receiver->partial && !receiver->is_complete && receiver->file_count == 0) {
        struct cn_error ignored = {0};

        (void)!cn_recording_dir_remove(receiver->partial, &ignored);
    }
    free(receiver->name);
    free(receiver->partial);
    receiver->name = receiver->partial = NULL;
}

/* A name that stays inside its directory, is visible, and does no harm in a terminal. */
static bool is_plain_name(const char *name, size_t len, size_t len_max)
{
    if (len == 0 || len > len_max || name[0] == '.')
        return false;
    for (size_t i = 0; i < len; i++)
        if (name[i] == '/' || (unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return false;
    return true;
}

static bool begin_dir(struct cn_receiver *receiver, const char *path, size_t len,
                      struct cn_error *err)
{
    struct cn_text partial = {0};
    size_t begin;

    while (len > 1 && path[len - 1] == '/')
        len--;
    for (begin = len; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    if (!is_plain_name(path + begin, len - begin, DIR_NAME_MAX))
        return cn_fail(err, CN_ERR_FORMAT, "'%.*s' is not a name for a recording",
                       (int)(len < DIR_NAME_MAX ? len : DIR_NAME_MAX), path);
    cn_text_add(&partial, path + begin, len - begin);
    receiver->name = partial.chars;
    partial = (struct cn_text){0};
    cn_text_printf(&partial, "%s/%s.partial.XXXXXX", receiver->folder, receiver->name);
    if (!mkdtemp(partial.chars)) {
        (void)cn_fail_errno(err, "cannot create '%s'", partial.chars);
        cn_text_done(&partial);
        return false;
    }
    receiver->partial = partial.chars;
    receiver->dir = open(receiver->partial, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (receiver->dir < 0)
        return cn_fail_errno(err, "cannot open '%s'", receiver->partial);
    return cn_recording_dir_mark(receiver->partial, err);
}

static bool open_file(struct cn_receiver *receiver, const char *name,
                      struct cn_error *err)
{
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

    receiver->file = openat(receiver->dir, name, flags);
    if (receiver->file < 0 && errno == ENOENT) {
        if (receiver->file_count == CN_REMOTE_FILES_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "more than %d files", CN_REMOTE_FILES_MAX);
        receiver->file = openat(receiver->dir, name, flags | O_CREAT | O_EXCL, 0644);
        receiver->file_count++;
    }
    return receiver->file >= 0 ||
           cn_fail_errno(err, "cannot open '%s/%s'", receiver->partial, name);
}

static bool sync_files(const struct cn_receiver *receiver, struct cn_error *err)
{
    DIR *list = opendir(receiver->partial);
    const struct dirent *entry;
    bool ok = list || cn_fail_errno(err, "cannot read '%s'", receiver->partial);

    while (ok && (entry = readdir(list))) {
        int fd;

        if (entry->d_name[0] == '.')
            continue;
        fd = openat(receiver->dir, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        ok = (fd >= 0 && fsync(fd) == 0) ||
             cn_fail_errno(err, "cannot write '%s/%s'", receiver->partial, entry->d_name);
        close_file(&fd);
    }
    if (list)
        (void)closedir(list);
    return ok && (fsync(receiver->dir) == 0 ||
                  cn_fail_errno(err, "cannot write '%s'", receiver->partial));
}

/* Give the recording its name, on the disk as well: the sender may remove its own. */
static bool complete(struct cn_receiver *receiver, struct cn_error *err)
{
    int folder;
    bool ok = sync_files(receiver, err);
    char *target = cn_strprintf("%s/%s", receiver->folder, receiver->name);

    ok = ok && cn_recording_dir_place(receiver->partial, target, err);
    folder = open(receiver->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ok && (folder < 0 || fsync(folder) != 0))
        ok = cn_fail_errno(err, "cannot write '%s'", receiver->folder);
    close_file(&folder);
    free(target);
    receiver->is_complete = ok;
    return ok;
}

static bool write_body(struct cn_receiver *receiver, struct cn_bytes bytes,
                       struct cn_error *err)
{
    if (bytes.len > receiver->size_limit - receiver->len)
        return cn_fail(err, CN_ERR_LIMIT, "larger than %" PRIu64 " bytes",
                       receiver->size_limit);
    receiver->len += bytes.len;
    while (bytes.len > 0) {
        ssize_t done = write(receiver->file, bytes.ptr, bytes.len);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0 || !cn_bytes_from(bytes, (uint64_t)done, &bytes))
            return cn_fail_errno(err, "cannot write to '%s'", receiver->partial);
    }
    return true;
}

/* The next `len` bytes of the payload are what `step` needs. */
static bool expect(struct cn_receiver *receiver, enum cn_receiver_step step, uint32_t len,
                   uint32_t len_max, struct cn_error *err)
{
    if (len == 0 || len > len_max || len > receiver->left)
        return cn_fail(err, CN_ERR_FORMAT,
                       "message %" PRIu16 " with %" PRIu32 " bytes has %" PRIu32
                       " for its first part",
                       receiver->header.type, receiver->header.len, len);
    receiver->step = step;
    receiver->head_need = len;
    receiver->left -= len;
    return true;
}

static bool begin_body(struct cn_receiver *receiver, const char *name,
                       struct cn_error *err)
{
    receiver->step = CN_RECEIVER_BODY;
    return open_file(receiver, name, err);
}

static bool read_header(struct cn_receiver *receiver, struct cn_error *err)
{
    struct cn_remote_header *header = &receiver->header;

    if (!cn_remote_header_decode((struct cn_bytes){receiver->head, cn_remote_header_size},
                                 header) ||
        header->magic != CN_REMOTE_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT,
                       "not a sender of recordings: a message begins with 0x%04x",
                       header->magic);
    if (header->type == CN_REMOTE_TOKEN && !receiver->name && !receiver->is_trusted) {
        receiver->left = header->len;
        return expect(receiver, CN_RECEIVER_TOKEN, header->len, CN_REMOTE_TOKEN_MAX, err);
    }
    if (receiver->token && !receiver->is_trusted)
        return cn_fail(err, CN_ERR_FORMAT,
                       "no token; the sender needs that of this receiver: cairn record "
                       "--token");
    if ((header->type == CN_REMOTE_DIR) == (receiver->name != NULL))
        return cn_fail(err, CN_ERR_FORMAT, "message %" PRIu16 " %s", header->type,
                       receiver->name ? "renames the recording"
                                      : "before the name of the recording");
    receiver->left = header->len;
    switch (header->type) {
    case CN_REMOTE_DIR:
        return expect(receiver, CN_RECEIVER_DIR, header->len, CN_REMOTE_PATH_MAX, err);
    case CN_REMOTE_TASK:
    case CN_REMOTE_KERNEL:
    case CN_REMOTE_PERF:
    case CN_REMOTE_META:
        return expect(receiver, CN_RECEIVER_NUMBER, NUMBER_LEN, NUMBER_LEN, err);
    case CN_REMOTE_INFO:
        return expect(receiver, CN_RECEIVER_INFO, cn_uft_info_header_size,
                      cn_uft_info_header_size, err);
    case CN_REMOTE_END:
        return complete(receiver, err);
    default:
        return cn_fail(err, CN_ERR_FORMAT, "unknown message %" PRIu16, header->type);
    }
}

static bool read_number(struct cn_receiver *receiver, struct cn_error *err)
{
    uint32_t number = cn_u32_be_get(receiver->head);
    char name[sizeof("kernel-cpu4294967295.dat")];

    switch (receiver->header.type) {
    case CN_REMOTE_TASK:
        (void)snprintf(name, sizeof(name), "%" PRIu32 ".dat", number);
        break;
    case CN_REMOTE_KERNEL:
        (void)snprintf(name, sizeof(name), "kernel-cpu%" PRIu32 ".dat", number);
        break;
    case CN_REMOTE_PERF:
        (void)snprintf(name, sizeof(name), "perf-cpu%" PRIu32 ".dat", number);
        break;
    default:
        return expect(receiver, CN_RECEIVER_NAME, number, CN_REMOTE_NAME_MAX, err);
    }
    return begin_body(receiver, name, err);
}

/* The header of info arrives in the byte order of the network, whatever that of the
 * recording is. */
static bool read_info(struct cn_receiver *receiver, struct cn_error *err)
{
    struct cn_bytes head = {receiver->head, cn_uft_info_header_size};
    struct cn_uft_info_header info;
    uint8_t magic[CN_UFT_MAGIC_LEN];

    if (!cn_uft_info_header_decode_any(head, true, &info) ||
        (info.byte_order != CN_UFT_LITTLE_ENDIAN && info.byte_order != CN_UFT_BIG_ENDIAN))
        return cn_fail(err, CN_ERR_FORMAT, "info has byte order %d", info.byte_order);
    memcpy(magic, receiver->head, sizeof(magic));
    cn_uft_info_header_encode_any(&info, info.byte_order == CN_UFT_BIG_ENDIAN,
                                  receiver->head);
    memcpy(receiver->head, magic, sizeof(magic));
    return begin_body(receiver, "info", err) && write_body(receiver, head, err);
}

/* Compare all of it, so that the time does not depend on where it differs. */
static bool read_token(struct cn_receiver *receiver, size_t len, struct cn_error *err)
{
    const char *token = receiver->token ? receiver->token : "";
    size_t wanted = strlen(token);
    unsigned difference = len != wanted;

    for (size_t i = 0; i < len && wanted > 0; i++)
        difference |= (unsigned)(receiver->head[i] ^ (uint8_t)token[i % wanted]);
    receiver->is_trusted = !receiver->token || difference == 0;
    return receiver->is_trusted || cn_fail(err, CN_ERR_FORMAT, "wrong token");
}

static void begin_message(struct cn_receiver *receiver)
{
    close_file(&receiver->file);
    receiver->step = CN_RECEIVER_HEADER;
    receiver->head_need = cn_remote_header_size;
}

/* All bytes of a step that is not the body are there. */
static bool read_head(struct cn_receiver *receiver, struct cn_error *err)
{
    char *name = (char *)receiver->head;
    size_t len = receiver->head_len;

    receiver->head_len = 0;
    switch (receiver->step) {
    case CN_RECEIVER_HEADER:
        return read_header(receiver, err);
    case CN_RECEIVER_TOKEN:
        begin_message(receiver);
        return read_token(receiver, len, err);
    case CN_RECEIVER_DIR:
        begin_message(receiver);
        return begin_dir(receiver, name, len, err);
    case CN_RECEIVER_NUMBER:
        return read_number(receiver, err);
    case CN_RECEIVER_NAME:
        name[len] = '\0';
        return is_plain_name(name, len, CN_REMOTE_NAME_MAX)
                   ? begin_body(receiver, name, err)
                   : cn_fail(err, CN_ERR_FORMAT, "'%s' is not the name of a file", name);
    case CN_RECEIVER_INFO:
        return read_info(receiver, err);
    case CN_RECEIVER_BODY:
        break;
    }
    return true;
}

bool cn_receiver_feed(struct cn_receiver *receiver, struct cn_bytes bytes,
                      struct cn_error *err)
{
    while (bytes.len > 0 && !receiver->is_complete) {
        bool is_body = receiver->step == CN_RECEIVER_BODY;
        size_t wanted =
            is_body ? receiver->left : receiver->head_need - receiver->head_len;
        struct cn_bytes part;

        if (wanted > bytes.len)
            wanted = bytes.len;
        if (!cn_bytes_take(&bytes, wanted, &part))
            return false; /* never: there are so many */
        if (is_body) {
            if (!write_body(receiver, part, err))
                return false;
            receiver->left -= (uint32_t)part.len;
        } else {
            memcpy(receiver->head + receiver->head_len, part.ptr, part.len);
            receiver->head_len += part.len;
            if (receiver->head_len == receiver->head_need && !read_head(receiver, err))
                return false;
        }
        if (receiver->step == CN_RECEIVER_BODY && receiver->left == 0)
            begin_message(receiver);
    }
    return true;
}
