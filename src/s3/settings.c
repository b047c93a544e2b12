#include "s3/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"

#define SCHEME         "s3://"
#define DEFAULT_REGION "us-east-1"
enum {
    DEFAULT_TIMEOUT_S = 10,
    DEFAULT_GRACE_S = 900,
    DEFAULT_FRESH_S = 2,
    DEFAULT_REFRESH_S = 10
};

void cn_s3_settings_done(struct cn_s3_settings *settings)
{
    free(settings->bucket);
    free(settings->prefix);
    free(settings->endpoint);
    free(settings->region);
    free(settings->key_id);
    free(settings->secret);
    free(settings->token);
    free(settings->ca_file);
    free(settings->collector_token_file);
    *settings = (struct cn_s3_settings){0};
}

/* Names that mean themselves in a URL: no request encodes them. */
static bool is_plain(const char *text, size_t len)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";

    return strspn(text, allowed) >= len;
}

static char *copy(const char *text, size_t len)
{
    char *made = cn_alloc(len + 1, 1);

    memcpy(made, text, len);
    return made;
}

/* What names in an address and files set. */
struct settings_reading {
    struct cn_s3_settings *settings;
    char *credentials, *profile; /* of the address */
};

static bool read_size(const char *value, uint64_t *out)
{
    static const char units[] = "KMGT";
    char *end;
    uint64_t number = strtoull(value, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;

    if (end == value || *value == '-' || (*end && (!unit || end[1])))
        return false;
    for (const char *u = units; unit && u <= unit; u++)
        number = number > UINT64_MAX / 1024 ? UINT64_MAX : number * 1024;
    *out = number;
    return true;
}

static uint64_t cache_len_max; /* of all addresses; 0: not set */

bool cn_s3_limit_caches(const char *size, struct cn_error *err)
{
    return (read_size(size, &cache_len_max) && cache_len_max > 0) ||
           cn_fail(err, CN_ERR_USAGE, "'%s' is not a size such as 10G", size);
}

static bool read_parameter(struct settings_reading *reading, const char *name,
                           char *value, struct cn_error *err)
{
    struct cn_s3_settings *settings = reading->settings;
    char **to = strcmp(name, "endpoint") == 0          ? &settings->endpoint
                : strcmp(name, "region") == 0          ? &settings->region
                : strcmp(name, "credentials") == 0     ? &reading->credentials
                : strcmp(name, "profile") == 0         ? &reading->profile
                : strcmp(name, "collector-token") == 0 ? &settings->collector_token_file
                                                       : NULL;
    uint64_t *number = strcmp(name, "cache-size") == 0 ? &settings->cache_len
                       : strcmp(name, "timeout") == 0  ? &settings->timeout_s
                       : strcmp(name, "grace") == 0    ? &settings->grace_s
                       : strcmp(name, "fresh") == 0    ? &settings->fresh_s
                       : strcmp(name, "refresh") == 0  ? &settings->refresh_s
                                                       : NULL;

    if (!to && !number)
        return cn_fail(err, CN_ERR_USAGE,
                       "unknown name '%s'; known are endpoint, region, credentials, "
                       "profile, cache-size, timeout, grace, refresh, fresh and "
                       "collector-token",
                       name);
    if (number && !read_size(value, number))
        return cn_fail(err, CN_ERR_USAGE, "%s: '%s' is not a number such as 10 or 4G",
                       name, value);
    if (to) {
        free(*to);
        *to = cn_strdup(value);
    }
    return true;
}

static bool read_parameters(struct settings_reading *reading, const char *list,
                            struct cn_error *err)
{
    char *text = cn_strdup(list), *rest = text, *part;
    bool ok = true;

    while (ok && (part = strsep(&rest, "&"))) {
        char *value = strchr(part, '=');

        if (!value)
            ok = cn_fail(err, CN_ERR_USAGE, "'%s' is not NAME=VALUE", part);
        else
            *value++ = '\0';
        ok = ok && read_parameter(reading, part, value, err);
    }
    free(text);
    return ok;
}

static bool read_address(struct settings_reading *reading, const char *address,
                         struct cn_error *err)
{
    struct cn_s3_settings *settings = reading->settings;
    const char *bucket = address + strlen(SCHEME), *prefix;
    size_t bucket_len = strcspn(bucket, "/?"), len;

    prefix = bucket + bucket_len + (bucket[bucket_len] == '/');
    len = strcspn(prefix, "?");
    if (bucket_len == 0)
        return cn_fail(err, CN_ERR_USAGE, "the bucket is missing: s3://BUCKET/PREFIX");
    if (!is_plain(bucket, bucket_len) || !is_plain(prefix, len))
        return cn_fail(err, CN_ERR_USAGE,
                       "bucket and prefix may have letters, digits and . _ - / only");
    settings->bucket = copy(bucket, bucket_len);
    if (prefix[len] == '?' && !read_parameters(reading, prefix + len + 1, err))
        return false;
    while (len > 0 && prefix[len - 1] == '/')
        len--;
    settings->prefix = cn_alloc(len + 2, 1);
    memcpy(settings->prefix, prefix, len);
    if (len > 0)
        settings->prefix[len] = '/';
    return true;
}

static void set_from(char **to, const char *value)
{
    if (!*to && value && *value)
        *to = cn_strdup(value);
}

static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t");
    len = strlen(text);
    while (len > 0 && strchr(" \t\r", text[len - 1]))
        text[--len] = '\0';
    return text;
}

/* "name = value" of a profile. */
static void read_setting(struct cn_s3_settings *settings, char *line)
{
    char *value = strchr(line, '='), *name;

    if (!value)
        return;
    *value++ = '\0';
    name = trim(line);
    value = trim(value);
    if (strcmp(name, "aws_access_key_id") == 0)
        set_from(&settings->key_id, value);
    else if (strcmp(name, "aws_secret_access_key") == 0)
        set_from(&settings->secret, value);
    else if (strcmp(name, "aws_session_token") == 0)
        set_from(&settings->token, value);
    else if (strcmp(name, "region") == 0)
        set_from(&settings->region, value);
    else if (strcmp(name, "endpoint_url") == 0)
        set_from(&settings->endpoint, value);
    else if (strcmp(name, "ca_bundle") == 0)
        set_from(&settings->ca_file, value);
}

/* True for "[NAME]" and "[profile NAME]". */
static bool is_profile(char *line, const char *profile)
{
    char *end = strchr(line, ']');

    if (!end)
        return false;
    *end = '\0';
    line = trim(line + 1);
    if (strncmp(line, "profile ", 8) == 0)
        line = trim(line + 8);
    return strcmp(line, profile) == 0;
}

static bool read_file(struct cn_s3_settings *settings, const char *path,
                      const char *profile, struct cn_error *err)
{
    struct cn_file file = {0};
    bool is_wanted = false;
    char *text, *rest, *line;

    if (!cn_file_open(&file, path, err))
        return false;
    rest = text = copy((const char *)file.bytes.ptr, file.bytes.len);
    cn_file_close(&file);
    while ((line = strsep(&rest, "\n"))) {
        line = trim(line);
        if (*line == '[')
            is_wanted = is_profile(line, profile);
        else if (is_wanted && *line != '#' && *line != ';')
            read_setting(settings, line);
    }
    free(text);
    return true;
}

/* A file of the user that may be missing. */
static bool read_usual_file(struct cn_s3_settings *settings, const char *variable,
                            const char *name, const char *profile, struct cn_error *err)
{
    const char *path = getenv(variable), *home = getenv("HOME");
    struct cn_text usual = {0};

    if (!path && home)
        cn_text_printf(&usual, "%s/.aws/%s", home, name);
    if (!path)
        path = cn_text_str(&usual);
    /* /dev/null is the usual way to name no file. */
    bool ok = !*path || strcmp(path, "/dev/null") == 0 || access(path, F_OK) != 0 ||
              read_file(settings, path, profile, err);
    cn_text_done(&usual);
    return ok;
}

static bool read_rest(struct settings_reading *reading, struct cn_error *err)
{
    struct cn_s3_settings *settings = reading->settings;
    const char *profile = reading->profile ? reading->profile : getenv("AWS_PROFILE");

    profile = profile && *profile ? profile : "default";
    if (reading->credentials && !read_file(settings, reading->credentials, profile, err))
        return false;
    /* A profile that the address names is meant, whatever the environment has. */
    if (!settings->key_id && !reading->profile) {
        set_from(&settings->key_id, getenv("AWS_ACCESS_KEY_ID"));
        set_from(&settings->secret, getenv("AWS_SECRET_ACCESS_KEY"));
        set_from(&settings->token, getenv("AWS_SESSION_TOKEN"));
    }
    set_from(&settings->endpoint, getenv("AWS_ENDPOINT_URL_S3"));
    set_from(&settings->endpoint, getenv("AWS_ENDPOINT_URL"));
    set_from(&settings->region, getenv("AWS_REGION"));
    set_from(&settings->region, getenv("AWS_DEFAULT_REGION"));
    set_from(&settings->ca_file, getenv("AWS_CA_BUNDLE"));
    set_from(&settings->collector_token_file, getenv("CAIRN_COLLECTOR_TOKEN_FILE"));
    if (!settings->key_id && !read_usual_file(settings, "AWS_SHARED_CREDENTIALS_FILE",
                                              "credentials", profile, err))
        return false;
    if (!read_usual_file(settings, "AWS_CONFIG_FILE", "config", profile, err) &&
        !settings->key_id)
        return false;
    if (!settings->key_id || !settings->secret)
        return cn_fail(err, CN_ERR_USAGE,
                       "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                       "or write ~/.aws/credentials with the profile '%s'",
                       profile);
    return true;
}

static bool check_endpoint(struct cn_s3_settings *settings, struct cn_error *err)
{
    struct cn_text text = {0};
    size_t len;

    set_from(&settings->region, DEFAULT_REGION);
    if (!is_plain(settings->region, strlen(settings->region)))
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a region", settings->region);
    if (!settings->endpoint) {
        cn_text_printf(&text, "https://s3.%s.amazonaws.com", settings->region);
        settings->endpoint = text.chars;
    }
    len = strlen(settings->endpoint);
    while (len > 0 && settings->endpoint[len - 1] == '/')
        settings->endpoint[--len] = '\0';
    return strncmp(settings->endpoint, "http://", 7) == 0 ||
           strncmp(settings->endpoint, "https://", 8) == 0 ||
           cn_fail(err, CN_ERR_USAGE,
                   "endpoint '%s' begins neither with http:// nor "
                   "with https://",
                   settings->endpoint);
}

bool cn_s3_settings_read(struct cn_s3_settings *out, const char *address,
                         struct cn_error *err)
{
    struct cn_s3_settings settings = {.grace_s = DEFAULT_GRACE_S,
                                      .fresh_s = DEFAULT_FRESH_S,
                                      .refresh_s = DEFAULT_REFRESH_S};
    struct settings_reading reading = {.settings = &settings};
    bool ok = read_address(&reading, address, err) && read_rest(&reading, err) &&
              check_endpoint(&settings, err);

    free(reading.credentials);
    free(reading.profile);
    if (!ok) {
        cn_s3_settings_done(&settings);
        return cn_fail_in(err, "%s", address);
    }
    if (settings.timeout_s == 0)
        settings.timeout_s = DEFAULT_TIMEOUT_S;
    if (settings.cache_len == 0)
        settings.cache_len = cache_len_max;
    *out = settings;
    return true;
}
