/* Finds modules, and loads them. */
#include "base/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *open_in(const char *directory, const char *file)
{
    char path[4200];

    snprintf(path, sizeof path, "%s/%s", directory, file);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_beside_program(const char *file)
{
    char here[4096];
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);

    if (n <= 0)
        return NULL;
    here[n] = '\0';
    *strrchr(here, '/') = '\0';
    return open_in(here, file);
}

const void *bide__module(const char *file, const char *symbol, char *why,
                         size_t why_size)
{
    const char *named = secure_getenv("BIDE_MODULES");
    void *handle = named ? open_in(named, file) : NULL;

    if (!handle)
        handle = open_beside_program(file);
    if (!handle)
        handle = open_in(BIDE_MODULE_DIR, file);
    if (!handle) {
        snprintf(why, why_size,
                 "%s cannot be loaded: %s; it is built where its client library is "
                 "installed, and BIDE_MODULES may name the folder it is in",
                 file, dlerror());
        return NULL;
    }
    const void *found = dlsym(handle, symbol);
    if (!found) {
        snprintf(why, why_size, "%s is of another version of bide", file);
        dlclose(handle);
    }
    return found;
}
