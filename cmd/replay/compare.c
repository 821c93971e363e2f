/* `bide replay --compare` and `--html`. */
#include "cmd/replay/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/output.h"
#include "replay/answer.h"
#include "replay/page.h"
#include "replay/replay.h"
#include "replay/traffic.h"

/* ===== policies ===== */

static int add(struct compared *c, const struct policy_choice *flags,
               const char *name)
{
    static const char preset[] = "preset:";
    struct policy_choice *p = &c->policies[c->n];

    if (c->n == COMPARED_MAX)
        return complain("replay", "found more policies, expected at most %d",
                        COMPARED_MAX);
    *p = *flags;
    if (name) {
        bool named = strncmp(name, preset, sizeof preset - 1) == 0;
        p->file = named ? NULL : name;
        p->preset = named ? name + sizeof preset - 1 : NULL;
    }
    c->n++;
    return policy_settle(p);
}

int compared_settle(struct compared *c, const struct policy_choice *flags,
                    char **operands, int n)
{
    int rc = flags->file || flags->preset ? add(c, flags, NULL) : -1;

    for (int i = 0; i < n && rc < 0; i++)
        rc = add(c, flags, operands[i]);
    if (rc < 0 && c->n == 0)
        rc = complain("replay", "--compare: expected policies after the log: "
                                "files, or presets such as preset:envoy");
    return rc;
}

void compared_done(struct compared *c)
{
    for (int i = 0; i < c->n; i++)
        policy_done(&c->policies[i]);
}

static const char *label(const struct policy_choice *p)
{
    return p->file ? p->file : p->preset;
}

/* ===== the page ===== */

static int write_page(const char *path, const char *log_name,
                      const struct replay_log *log, const struct traffic *t,
                      size_t n)
{
    FILE *out = fopen(path, "w");
    bool failed;

    if (!out)
        return complain("replay", "--html: cannot write %s: %s", path,
                        strerror(errno));
    replay_page(out, log_name, log, t, n);
    failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return complain("replay", "--html: cannot write %s: %s", path,
                        strerror(errno));
    return EXIT_OK;
}

int page_write(const char *path, const char *log_name,
               const struct replay_log *log,
               const struct replay_settings *settings, const char *name)
{
    struct replay_printer quiet = { .out = stdout };
    struct traffic *t = malloc(sizeof *t);
    int rc = t ? traffic_run(t, log, settings, &quiet) : BIDE_ENOMEM;

    if (rc == 0) {
        t->name = name;
        rc = write_page(path, log_name, log, t, 1);
    } else {
        rc = complain("replay", "%s", bide_strerror(rc));
    }
    if (t)
        traffic_done(t);
    free(t);
    return rc;
}

/* ===== side by side ===== */

int compared_run(const struct compared *c, const char *log_name,
                 const struct replay_log *log,
                 const struct replay_settings *settings,
                 struct replay_printer *printer, const char *html, int *ret_rc)
{
    struct replay_settings one = *settings;
    struct traffic *t = calloc((size_t)c->n, sizeof *t);
    int rc = t ? 0 : BIDE_ENOMEM, n = 0, code = EXIT_OK;

    for (; rc == 0 && n < c->n; n++) {
        one.conf = &c->policies[n].conf;
        rc = traffic_run(&t[n], log, &one, printer);
        t[n].name = label(&c->policies[n]);
        if (rc < 0)
            complain("replay", "%s:", t[n].name);
    }
    if (rc == 0)
        replay_print_compared(printer->out, printer->json, printer->width, t,
                              (size_t)c->n, log);
    if (rc == 0 && html)
        code = write_page(html, log_name, log, t, (size_t)c->n);
    for (int i = 0; i < n; i++)
        traffic_done(&t[i]);
    free(t);
    *ret_rc = rc;
    return code;
}
