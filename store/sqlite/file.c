/* Where a database may be.
 *
 * SQLite locks by fcntl(2) and shares an index by mmap(2): on a network file system
 * neither is to be trusted, and two machines would both win a claim. Records hold
 * answers of other people's requests: whoever can read the file can read those. */
#include "store/sqlite/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bide/error.h"

const char *bide__network_fs(unsigned long type)
{
    static const struct {
        unsigned long type; /* as in statfs(2) */
        const char *name;
    } known[] = {
        { 0x6969, "NFS" },         { 0x517b, "SMB" },
        { 0xff534d42, "CIFS" },    { 0xfe534d42, "SMB2" },
        { 0x00c36400, "Ceph" },    { 0x5346414f, "AFS" },
        { 0x6b414653, "AFS" },     { 0x73757245, "Coda" },
        { 0x564c, "NCP" },         { 0x01021997, "9p" },
        { 0x65735546, "FUSE" },    { 0x0bd00bd0, "Lustre" },
        { 0x47504653, "GPFS" },    { 0x7461636f, "OCFS2" },
        { 0x01161970, "GFS2" },    { 0x19830326, "BeeGFS" },
        { 0x786f4256, "vboxsf" },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].type == (type & 0xffffffff))
            return known[i].name;
    return NULL;
}

/* Everything is said with the path first. */
#define SAY(...) snprintf(why, why_size, __VA_ARGS__)

/* The directory without symbolic links, and the last name: only that one must
 * not be a link, since whoever can write the directory could aim it anywhere. */
static char *resolve(const char *path, char *why, size_t why_size)
{
    char directory[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t len = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        len >= sizeof directory) {
        SAY("%s: expected the name of a file", path);
        return NULL;
    }
    memcpy(directory, slash ? path : ".", len);
    directory[len] = '\0';
    if (!realpath(directory, real)) {
        SAY("%s: the directory %s cannot be used: %s", path, directory,
            strerror(errno));
        return NULL;
    }
    size_t size = strlen(real) + strlen(name) + 2;
    char *ret = malloc(size);
    if (ret)
        snprintf(ret, size, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    else
        SAY("out of memory");
    return ret;
}

static int check_system(const char *file, char *why, size_t why_size)
{
    char directory[PATH_MAX];
    struct statfs fs;
    snprintf(directory, sizeof directory, "%s", file);
    *strrchr(directory, '/') = '\0';
    if (statfs(*directory ? directory : "/", &fs) < 0) {
        SAY("%s: %s", file, strerror(errno));
        return BIDE_ESTATE;
    }
    const char *name = bide__network_fs((unsigned long)fs.f_type);
    if (!name)
        return 0;
    SAY("%s is on a network file system (%s), which does not lock as SQLite "
        "needs it: use a local path, or a server (redis://, postgresql://)",
        file, name);
    return BIDE_ESTATE;
}

static int check_mode(const char *file, const struct stat *st, char *why,
                      size_t why_size)
{
    if (S_ISLNK(st->st_mode))
        SAY("%s is a symbolic link: name the file itself", file);
    else if (!S_ISREG(st->st_mode))
        SAY("%s is not a file", file);
    else if (st->st_nlink != 1)
        SAY("%s has another name (a hard link): SQLite needs one name for it",
            file);
    else if (geteuid() != 0 && st->st_uid != geteuid())
        SAY("%s belongs to another user (%u, and this is %u)", file,
            (unsigned)st->st_uid, (unsigned)geteuid());
    else if (geteuid() != 0 && !(st->st_mode & S_IWUSR))
        SAY("%s cannot be written (mode %04o)", file,
            (unsigned)(st->st_mode & 07777));
    else if (st->st_mode & (S_IRWXG | S_IRWXO))
        SAY("%s can be used by others (mode %04o), and it holds answers of "
            "other people's requests: chmod 600 %s",
            file, (unsigned)(st->st_mode & 07777), file);
    else
        return 0;
    return BIDE_ESTATE;
}

/* Never opens a file that exists: closing it would drop the locks of others in
 * this process. */
static int make_file(const char *file, char *why, size_t why_size)
{
    int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (errno == EEXIST)
        return 0;
    SAY("%s cannot be created: %s", file, strerror(errno));
    return BIDE_ESTATE;
}

static int check_file(const char *file, bool existing, char *why,
                      size_t why_size)
{
    struct stat st;
    int rc = check_system(file, why, why_size);
    if (rc < 0)
        return rc;
    if (!existing && lstat(file, &st) < 0 && errno == ENOENT) {
        rc = make_file(file, why, why_size);
        if (rc < 0)
            return rc;
    }
    if (lstat(file, &st) == 0)
        return check_mode(file, &st, why, why_size);
    if (existing && errno == ENOENT)
        SAY("%s is not there: nothing has been kept yet", file);
    else
        SAY("%s: %s", file, strerror(errno));
    return BIDE_ESTATE;
}

int bide__sqlite_file(char **ret, const char *path, bool existing, char *why,
                      size_t why_size)
{
    if (path[0] == '\0') {
        SAY("expected the path of a file after sqlite:");
        return BIDE_EINVAL;
    }
    char *file = resolve(path, why, why_size);
    if (!file)
        return BIDE_ESTATE;
    int rc = check_file(file, existing, why, why_size);
    if (rc < 0)
        free(file);
    else
        *ret = file;
    return rc;
}
