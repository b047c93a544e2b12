#include "store/segment/config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/text.h"
#include "store/segment/log_format.h"

#define DEFAULT_ROTATE_LEN (UINT64_C(256) << 20)

struct cn_store_config cn_store_config_of(const struct cn_store_options *options,
                                          uint64_t now_ns)
{
    static const struct cn_store_options defaults = {0};

    if (!options)
        options = &defaults;
    struct cn_store_config config = {
        .version = CN_STORE_VERSION_PLAIN,
        .dialect = options->dialect,
        .form = options->form == CN_STORE_LZ4 ? CN_STORE_LZ4 : CN_STORE_DEFLATE,
        .rotate_len = options->rotate_len ? options->rotate_len : DEFAULT_ROTATE_LEN,
        .rotate_ns = options->rotate_ns,
        .created_ns = now_ns,
    };
    cn_store_config_set_form(&config, options->form);
    return config;
}

void cn_store_config_set_form(struct cn_store_config *config, enum cn_store_form form)
{
    if (config->dialect == CN_STORE_JAVA || form == CN_STORE_FORM_SAME ||
        (form == CN_STORE_FORM_DEFAULT && config->is_form_asked))
        return;
    config->form = form == CN_STORE_FORM_DEFAULT ? CN_STORE_COLUMNS : form;
    config->is_form_asked = config->form != CN_STORE_COLUMNS;
    config->version =
        config->form == CN_STORE_COLUMNS ? CN_STORE_VERSION : CN_STORE_VERSION_PLAIN;
}

bool cn_store_config_change_form(struct cn_store_config *config, enum cn_store_form form,
                                 const char *path, struct cn_form_change *out,
                                 struct cn_error *err)
{
    struct cn_store_config before = *config;

    if (form > CN_STORE_FORM_SAME && config->dialect == CN_STORE_JAVA)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s: a store of the dialect java keeps its form", path);
    cn_store_config_set_form(config, form);
    *out = (struct cn_form_change){
        .is_any =
            config->form != before.form || config->is_form_asked != before.is_form_asked,
        .is_new = config->form == CN_STORE_COLUMNS && before.form != CN_STORE_COLUMNS,
    };
    return true;
}

static bool is_key(const char *line, size_t len, const char *key, const char **value)
{
    size_t key_len = strlen(key);

    if (len < key_len + 3 || memcmp(line, key, key_len) != 0 ||
        memcmp(line + key_len, " = ", 3) != 0)
        return false;
    *value = line + key_len + 3;
    return true;
}

static bool is_word(const char *value, const char *line_end, const char *word)
{
    return (size_t)(line_end - value) == strlen(word) &&
           memcmp(value, word, strlen(word)) == 0;
}

bool cn_store_lane_is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t len = strlen(name);

    return len > 0 && len < CN_STORE_LANE_LEN && strspn(name, allowed) == len;
}

/* Any other name is that of the first lane. */
static void read_lane(struct cn_store_config *config, const char *value, const char *end)
{
    (void)snprintf(config->lane, sizeof(config->lane), "%.*s", (int)(end - value), value);
    if (!cn_store_lane_is_name(config->lane))
        config->lane[0] = '\0';
}

/* Deflate was the default of versions up to 0.9, LZ4 never. */
static void read_compression(struct cn_store_config *config, const char *value,
                             const char *end)
{
    bool is_packed = is_word(value, end, "columns"), is_lz4 = is_word(value, end, "lz4");

    config->form = is_packed ? CN_STORE_COLUMNS
                   : is_lz4  ? CN_STORE_LZ4
                             : CN_STORE_DEFLATE;
    config->is_form_asked |= is_lz4;
}

static void read_sampled(struct cn_store_config *config, const char *value,
                         const char *end)
{
    config->sampled.is_sampled = is_word(value, end, "yes");
    config->sampled.is_awaited = is_word(value, end, "later");
}

/* "16:1000000 8832:50000". Without what the traces stand for, counts would be wrong: that is damage. */
static void read_rates(struct cn_store_config *config, const char *value, const char *end)
{
    struct cn_store_sampled *sampled = &config->sampled;
    int len = 0;

    sampled->rate_count = 0;
    for (; value < end; value += len + (value[len] == ' ')) {
        struct cn_store_rate *rate = &sampled->rates[sampled->rate_count];

        if (sampled->rate_count == CN_STORE_RATES_MAX ||
            !isdigit((unsigned char)*value) ||
            sscanf(value, "%20" SCNu64 ":%7" SCNu32 "%n", &rate->from_off, &rate->rate,
                   &len) != 2 ||
            rate->rate == 0 || rate->rate > CN_RATE_ALL ||
            (sampled->rate_count > 0 && rate->from_off <= rate[-1].from_off) ||
            (value + len != end && value[len] != ' ')) {
            (void)cn_store_config_note_damage(
                config, "", CN_CONFIG_NAME ": 'rates' is damaged: counts are too low");
            return;
        }
        sampled->rate_count++;
    }
}

static void read_line(struct cn_store_config *config, const char *line, size_t len)
{
    const char *value, *end = line + len;

    if (is_key(line, len, "version", &value))
        config->version = (uint32_t)strtoul(value, NULL, 10);
    else if (is_key(line, len, "dialect", &value))
        config->dialect = is_word(value, end, "java") ? CN_STORE_JAVA : CN_STORE_SPEC;
    else if (is_key(line, len, "compression", &value))
        read_compression(config, value, end);
    else if (is_key(line, len, "compression.asked", &value))
        config->is_form_asked |= is_word(value, end, "yes");
    else if (is_key(line, len, "rotate.bytes", &value))
        config->rotate_len = strtoull(value, NULL, 10);
    else if (is_key(line, len, "rotate.ns", &value))
        config->rotate_ns = strtoull(value, NULL, 10);
    else if (is_key(line, len, "created.ns", &value))
        config->created_ns = strtoull(value, NULL, 10);
    else if (is_key(line, len, "sealed", &value))
        config->is_sealed = is_word(value, end, "yes");
    else if (is_key(line, len, "gone", &value))
        config->is_gone = is_word(value, end, "yes");
    else if (is_key(line, len, "replaces", &value))
        config->has_replaced = sscanf(value, "%6x-%6x", &config->replaced_first,
                                      &config->replaced_last) == 2;
    else if (is_key(line, len, "sampled", &value))
        read_sampled(config, value, end);
    else if (is_key(line, len, "dropped.traces", &value))
        config->sampled.dropped_traces = strtoull(value, NULL, 10);
    else if (is_key(line, len, "dropped.spans", &value))
        config->sampled.dropped_spans = strtoull(value, NULL, 10);
    else if (is_key(line, len, "rates", &value))
        read_rates(config, value, end);
    else if (is_key(line, len, "lane", &value))
        read_lane(config, value, end);
    else if (is_key(line, len, "damage", &value))
        (void)snprintf(config->damage, sizeof(config->damage), "%.*s", (int)(end - value),
                       value);
}

bool cn_store_config_parse(struct cn_store_config *out, struct cn_bytes bytes,
                           struct cn_error *err)
{
    struct cn_store_config config = {
        .form = CN_STORE_DEFLATE,
        .rotate_len = DEFAULT_ROTATE_LEN,
    };
    struct cn_text text = {0};
    const char *line;

    cn_text_add(&text, (const char *)bytes.ptr, bytes.len);
    for (line = cn_text_str(&text); *line;) {
        size_t len = strcspn(line, "\n");

        read_line(&config, line, len);
        line += len + (line[len] == '\n');
    }
    cn_text_done(&text);
    if (config.version == 0)
        return cn_fail(err, CN_ERR_FORMAT, "damaged: it has no version");
    if (config.version > CN_STORE_VERSION)
        return cn_fail(err, CN_ERR_VERSION,
                       "store version %u is not supported, only up to %d", config.version,
                       CN_STORE_VERSION);
    *out = config;
    return true;
}

bool cn_store_config_read(struct cn_store_config *out, const char *dir,
                          struct cn_error *err)
{
    struct cn_file file = {0};

    if (!cn_file_open_at(&file, dir, CN_CONFIG_NAME, err))
        return false;
    bool ok = cn_store_config_parse(out, file.bytes, err) ||
              cn_fail_in(err, "%s/" CN_CONFIG_NAME, dir);
    cn_file_close(&file);
    return ok;
}

static void print_sampled(const struct cn_store_sampled *sampled, struct cn_text *text)
{
    if (sampled->is_awaited)
        cn_text_str_add(text, "sampled = later\n");
    if (!sampled->is_sampled)
        return;
    cn_text_printf(text,
                   "sampled = yes\ndropped.traces = %" PRIu64 "\ndropped.spans = %" PRIu64
                   "\n",
                   sampled->dropped_traces, sampled->dropped_spans);
    for (size_t i = 0; i < sampled->rate_count; i++)
        cn_text_printf(text, "%s%" PRIu64 ":%" PRIu32, i == 0 ? "rates = " : " ",
                       sampled->rates[i].from_off, sampled->rates[i].rate);
    if (sampled->rate_count > 0)
        cn_text_char(text, '\n');
}

void cn_store_config_print(const struct cn_store_config *config, struct cn_text *text)
{
    cn_text_printf(text, "version = %u\n", config->version);
    cn_text_printf(text, "dialect = %s\n",
                   config->dialect == CN_STORE_JAVA ? "java" : "spec");
    cn_text_printf(text, "compression = %s\n",
                   config->form == CN_STORE_COLUMNS ? "columns"
                   : config->form == CN_STORE_LZ4   ? "lz4"
                                                    : "deflate");
    if (config->is_form_asked)
        cn_text_str_add(text, "compression.asked = yes\n");
    cn_text_printf(text, "rotate.bytes = %" PRIu64 "\n", config->rotate_len);
    cn_text_printf(text, "rotate.ns = %" PRIu64 "\n", config->rotate_ns);
    cn_text_printf(text, "created.ns = %" PRIu64 "\n", config->created_ns);
    cn_text_printf(text, "sealed = %s\n", config->is_sealed ? "yes" : "no");
    if (config->is_gone)
        cn_text_str_add(text, "gone = yes\n");
    if (config->has_replaced)
        cn_text_printf(text, "replaces = %06x-%06x\n", config->replaced_first,
                       config->replaced_last);
    if (config->lane[0] != '\0')
        cn_text_printf(text, "lane = %s\n", config->lane);
    print_sampled(&config->sampled, text);
    if (config->damage[0] != '\0')
        cn_text_printf(text, "damage = %s\n", config->damage);
}

bool cn_store_config_note_damage(struct cn_store_config *config, const char *dir,
                                 const char *text)
{
    const char *found = strstr(text, dir);
    size_t len;

    if (config->damage[0] != '\0')
        return false;
    if (found && found[strlen(dir)] == '/')
        text = found + strlen(dir) + 1;
    len = strcspn(text, "\n");
    if (len >= sizeof(config->damage))
        len = sizeof(config->damage) - 1;
    memcpy(config->damage, text, len);
    config->damage[len] = '\0';
    return true;
}

bool cn_store_config_write(const struct cn_store_config *config, const char *dir,
                           const struct cn_disk *io, struct cn_error *err)
{
    struct cn_text text = {0};

    cn_store_config_print(config, &text);
    bool ok = cn_disk_replace(io, dir, CN_CONFIG_NAME, cn_text_str(&text), text.len, err);
    cn_text_done(&text);
    return ok;
}
