/* Starts a real nginx for a test program: plain HTTP, and HTTPS with HTTP/2
 * and a certificate that nobody knows. In a directory of its own, gone
 * afterwards. */
#ifndef BIDE_TEST_CURL_NGINX_H
#define BIDE_TEST_CURL_NGINX_H

#include <arpa/inet.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct nginx {
    pid_t pid; /* 0: there is no nginx here */
    char dir[64];
    int http, https;
};

/* One that nobody has at the moment; nginx cannot choose by itself. Below those
 * that the kernel gives away, so that nobody has it a moment later. */
static inline int nginx_free_port(void)
{
    enum { FIRST = 20000, PORTS = 12000 };
    static int tried;
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    for (;;) {
        int port = FIRST + (getpid() * 7 + tried++) % PORTS;
        at.sin_port = htons((unsigned short)port);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (fd < 0 || tried > PORTS)
            abort();
        bool is_free = bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
        close(fd);
        if (is_free)
            return port;
    }
}

static inline void nginx_write_conf(const struct nginx *n, int upstream)
{
    char path[128];
    snprintf(path, sizeof path, "%s/nginx.conf", n->dir);
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    fprintf(f,
            "daemon off; master_process off;\n"
            "pid %s/pid; error_log stderr crit;\n"
            "events { worker_connections 4096; }\n"
            "http {\n"
            "  access_log off; keepalive_requests 1000000; root %s;\n"
            "  client_body_temp_path %s; proxy_temp_path %s;\n"
            "  fastcgi_temp_path %s; uwsgi_temp_path %s; scgi_temp_path %s;\n"
            "  limit_req_zone $binary_remote_addr zone=z:64k rate=100r/s;\n"
            "  limit_req_status 429;\n"
            "  server {\n"
            "    listen 127.0.0.1:%d; listen 127.0.0.1:%d ssl http2;\n"
            "    ssl_certificate %s/cert.pem; ssl_certificate_key %s/key.pem;\n"
            "    location = /ok { return 200 \"fine\\n\"; }\n"
            "    location = /limited { limit_req zone=z; }\n"
            "    location /s/ { proxy_pass http://127.0.0.1:%d; }\n"
            "  }\n"
            "}\n",
            n->dir, n->dir, n->dir, n->dir, n->dir, n->dir, n->dir, n->http,
            n->https, n->dir, n->dir, upstream);
    fclose(f);
}

static inline void nginx_make_files(const struct nginx *n)
{
    char command[1024];
    snprintf(command, sizeof command,
             "cd %s && openssl req -x509 -newkey ec -pkeyopt "
             "ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem "
             "-days 2 -subj /CN=bide -addext subjectAltName=IP:127.0.0.1 "
             ">/dev/null 2>&1 && head -c 3000000 /dev/zero >large && "
             "echo limited >limited",
             n->dir);
    if (system(command) != 0)
        abort();
}

static inline void nginx_await(const struct nginx *n)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((unsigned short)n->http),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    for (int i = 0; i < 2000; i++) {
        if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) {
            close(fd);
            return;
        }
        usleep(5000);
    }
    abort();
}

/* /ok, /large (3 MB), /limited (429 over 100 a second), and /s/..., which is
 * passed on to `upstream`. */
static inline struct nginx nginx_start(int upstream)
{
    struct nginx n = { .dir = "/tmp/bide-nginx-XXXXXX" };
    char conf[128];
    if (system("nginx -v >/dev/null 2>&1") != 0 || !mkdtemp(n.dir))
        return n;
    n.http = nginx_free_port();
    n.https = nginx_free_port();
    nginx_make_files(&n);
    nginx_write_conf(&n, upstream);
    snprintf(conf, sizeof conf, "%s/nginx.conf", n.dir);
    n.pid = fork();
    if (n.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* if the test dies, so does it */
        execlp("nginx", "nginx", "-c", conf, "-e", "stderr", (char *)NULL);
        _exit(127);
    }
    nginx_await(&n);
    return n;
}

static inline void nginx_stop(struct nginx *n)
{
    char command[128];
    if (n->pid <= 0)
        return;
    kill(n->pid, SIGTERM);
    waitpid(n->pid, NULL, 0);
    snprintf(command, sizeof command, "rm -rf %s", n->dir);
    if (system(command) != 0)
        abort();
}

#endif
