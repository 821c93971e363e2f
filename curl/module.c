/* Reads the relocations of a loaded module.
 *
 * A file that includes bide/curl.h refers to bide_curl_easy_setopt, any other
 * to curl_easy_setopt: so whether all of a program's files include it can be
 * seen in what the dynamic linker was asked to look up for the program. (Its
 * table of symbols would say the same, but does not say how long it is.) */
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

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

/* A table of relocations; the two kinds begin alike. */
struct relocations {
    const char *at;
    size_t size, entry;
};

struct tables {
    const ElfW(Sym) *symbols;
    const char *strings;
    struct relocations plt, rela, rel;
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

static void read_entry(const struct dl_phdr_info *module, const ElfW(Dyn) *d,
                       struct tables *t)
{
    switch (d->d_tag) {
    case DT_SYMTAB: t->symbols = at(module, d->d_un.d_ptr); break;
    case DT_STRTAB: t->strings = at(module, d->d_un.d_ptr); break;
    case DT_JMPREL: t->plt.at = at(module, d->d_un.d_ptr); break;
    case DT_PLTRELSZ: t->plt.size = d->d_un.d_val; break;
    case DT_PLTREL:
        t->plt.entry = d->d_un.d_val == DT_RELA ? sizeof(ElfW(Rela))
                                                : sizeof(ElfW(Rel));
        break;
    case DT_RELA: t->rela.at = at(module, d->d_un.d_ptr); break;
    case DT_RELASZ: t->rela.size = d->d_un.d_val; break;
    case DT_REL: t->rel.at = at(module, d->d_un.d_ptr); break;
    case DT_RELSZ: t->rel.size = d->d_un.d_val; break;
    }
}

static bool is_one_of_them(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool asks_for_them(const struct tables *t, const struct relocations *r)
{
    for (size_t i = 0; r->at && i + r->entry <= r->size; i += r->entry) {
        const ElfW(Rel) *one = (const void *)(r->at + i);
        const ElfW(Sym) *symbol = &t->symbols[SYMBOL_OF(one->r_info)];
        if (is_one_of_them(t->strings + symbol->st_name))
            return true;
    }
    return false;
}

/* No proof without the tables. */
static bool records_all(const struct dl_phdr_info *module)
{
    struct tables t = { .rela.entry = sizeof(ElfW(Rela)),
                        .rel.entry = sizeof(ElfW(Rel)),
                        .plt.entry = sizeof(ElfW(Rel)) };
    const ElfW(Dyn) *d = dynamic_of(module);
    for (; d && d->d_tag != DT_NULL; d++)
        read_entry(module, d, &t);
    return t.symbols && t.strings && (t.plt.size || t.rela.size || t.rel.size) &&
           !asks_for_them(&t, &t.plt) && !asks_for_them(&t, &t.rela) &&
           !asks_for_them(&t, &t.rel);
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

struct question {
    const void *here;
    const void *libcurl; /* an address in it */
    bool yes;
};

/* Called for each module, until one of the calls returns other than 0. Must not
 * call the dynamic linker, whose lock is held. */
static int look_at(struct dl_phdr_info *module, size_t size, void *question)
{
    (void)size;
    struct question *q = question;
    if (!holds(module, q->here))
        return 0;
    q->yes = !holds(module, q->libcurl) && records_all(module);
    return 1;
}

bool bide__module_records_all(const void *here)
{
    struct question q = { .here = here,
                          .libcurl = dlsym(RTLD_DEFAULT, "curl_easy_strerror") };
#ifndef __mips__ /* which imports functions without relocations */
    if (q.libcurl)
        dl_iterate_phdr(look_at, &q);
#endif
    return q.yes;
}
