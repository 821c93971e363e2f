/* Files of sections and `name = value`, as AWS's programs read them. */
#include "queue/sqs/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]);)
        text[--n] = '\0';
    return text;
}

/* [NAME], or in the config file also [profile NAME]. */
static bool is_section(char *line, const char *profile)
{
    char *end = strchr(line, ']');

    if (!end)
        return false;
    *end = '\0';
    char *name = trim(line + 1);
    if (strncmp(name, "profile", 7) == 0 && isspace((unsigned char)name[7]))
        name = trim(name + 7);
    return strcmp(name, profile) == 0;
}

static bool find_in(FILE *f, const char *profile, const char *name, char *to,
                    size_t size)
{
    char line[4096];
    bool ours = false;

    while (fgets(line, sizeof line, f)) {
        char *text = trim(line), *equals = strchr(text, '=');
        if (*text == '[') {
            ours = is_section(text, profile);
            continue;
        }
        if (!ours || *text == '#' || *text == ';' || !equals)
            continue;
        *equals = '\0';
        if (strcmp(trim(text), name) != 0)
            continue;
        snprintf(to, size, "%s", trim(equals + 1));
        return *to != '\0';
    }
    return false;
}

static bool find(const char *path_variable, const char *file, const char *name,
                 char *to, size_t size)
{
    const char *profile = getenv("AWS_PROFILE"), *home = getenv("HOME");
    const char *given = getenv(path_variable);
    char path[1024];

    if (given && *given)
        snprintf(path, sizeof path, "%s", given);
    else
        snprintf(path, sizeof path, "%s/.aws/%s", home ? home : "", file);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool found = find_in(f, profile && *profile ? profile : "default", name, to,
                         size);
    fclose(f);
    return found;
}

bool sq_profile_value(const char *name, char *to, size_t size)
{
    *to = '\0';
    return find("AWS_SHARED_CREDENTIALS_FILE", "credentials", name, to, size) ||
           find("AWS_CONFIG_FILE", "config", name, to, size);
}
