/* Reads the dynamic symbol table of a loaded module.
 *
 * A file that includes bide/curl.h refers to bide_curl_easy_setopt, any other
 * to curl_easy_setopt: so whether all of a program's files include it can be
 * seen in what the program imports. The symbols that a module imports come
 * first in its table, before those that its hash table is for. */
#include "curl/module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "bide/curl.h"

/* What changes or ends a handle behind our back. */
static const char *const names[] = {
    "curl_easy_setopt",
    "curl_easy_reset",
    "curl_easy_duphandle",
    "curl_easy_cleanup",
};

struct symbols {
    const ElfW(Sym) *table;
    const char *strings;
    size_t n_imported;       /* at most: the hash table may begin earlier */
};

/* Some loaders relocate the addresses in the dynamic section, some do not. */
static const void *at(const struct dl_phdr_info *module, ElfW(Addr) addr)
{
    if (addr < module->dlpi_addr)
        addr += module->dlpi_addr;
    return (const void *)addr;
}

static const ElfW(Dyn) *dynamic_of(const struct dl_phdr_info *module)
{
    for (size_t i = 0; i < module->dlpi_phnum; i++)
        if (module->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const void *)(module->dlpi_addr +
                                  module->dlpi_phdr[i].p_vaddr);
    return NULL;
}

/* False if something is missing. */
static bool find_symbols(const struct dl_phdr_info *module, struct symbols *s)
{
    const ElfW(Dyn) *d = dynamic_of(module);
    const uint32_t *gnu_hash = NULL, *hash = NULL;
    for (; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            s->table = at(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            s->strings = at(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_GNU_HASH)
            gnu_hash = at(module, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            hash = at(module, d->d_un.d_ptr);
    }
    if (hash && !gnu_hash)
        s->n_imported = hash[1]; /* all symbols there are */
    else if (gnu_hash)
        s->n_imported = gnu_hash[1];
    return s->table && s->strings && s->n_imported > 0;
}

static bool imports(const struct symbols *s, const char *name)
{
    for (size_t i = 1; i < s->n_imported; i++)
        if (s->table[i].st_shndx == SHN_UNDEF &&
            strcmp(s->strings + s->table[i].st_name, name) == 0)
            return true;
    return false;
}

static bool holds(const struct dl_phdr_info *module, const void *address)
{
    ElfW(Addr) a = (ElfW(Addr))address;
    for (size_t i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &module->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && a >= module->dlpi_addr + p->p_vaddr &&
            a - module->dlpi_addr - p->p_vaddr < p->p_memsz)
            return true;
    }
    return false;
}

/* An address in libcurl. */
static const void *of_libcurl(void)
{
    return dlsym(RTLD_DEFAULT, "curl_easy_strerror");
}

struct question {
    const void *here;
    bool yes;
};

/* Called for each module, until one of the calls returns other than 0. */
static int look_at(struct dl_phdr_info *module, size_t size, void *question)
{
    (void)size;
    struct question *q = question;
    struct symbols s = { .table = NULL };
    const void *libcurl = of_libcurl();
    if (!holds(module, q->here))
        return 0;
    q->yes = libcurl && !holds(module, libcurl) && find_symbols(module, &s);
    for (size_t i = 0; q->yes && i < sizeof names / sizeof names[0]; i++)
        q->yes = !imports(&s, names[i]);
    return 1;
}

bool bide__module_records_all(const void *here)
{
    struct question q = { .here = here };
    dl_iterate_phdr(look_at, &q);
    return q.yes;
}
