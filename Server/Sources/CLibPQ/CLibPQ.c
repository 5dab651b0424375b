#include "CLibPQ.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#ifdef __APPLE__
// Homebrew keeps it out of the usual folders.
static const char *const names[] = {
    "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib"};
#else
static const char *const names[] = {"libpq.so.5"};
#endif

static struct {
    __typeof__(PQconnectdb) *PQconnectdb;
    __typeof__(PQfinish) *PQfinish;
    __typeof__(PQconninfoParse) *PQconninfoParse;
    __typeof__(PQconninfoFree) *PQconninfoFree;
    __typeof__(PQstatus) *PQstatus;
    __typeof__(PQparameterStatus) *PQparameterStatus;
    __typeof__(PQserverVersion) *PQserverVersion;
    __typeof__(PQlibVersion) *PQlibVersion;
    __typeof__(PQsocket) *PQsocket;
    __typeof__(PQconnectionNeedsPassword) *PQconnectionNeedsPassword;
    __typeof__(PQsslInUse) *PQsslInUse;
    __typeof__(PQsetNoticeProcessor) *PQsetNoticeProcessor;
    __typeof__(PQsetnonblocking) *PQsetnonblocking;
    __typeof__(PQsendQuery) *PQsendQuery;
    __typeof__(PQsendQueryParams) *PQsendQueryParams;
    __typeof__(PQgetResult) *PQgetResult;
    __typeof__(PQisBusy) *PQisBusy;
    __typeof__(PQconsumeInput) *PQconsumeInput;
    __typeof__(PQflush) *PQflush;
    __typeof__(PQresultStatus) *PQresultStatus;
    __typeof__(PQresultErrorField) *PQresultErrorField;
    __typeof__(PQntuples) *PQntuples;
    __typeof__(PQnfields) *PQnfields;
    __typeof__(PQfformat) *PQfformat;
    __typeof__(PQftype) *PQftype;
    __typeof__(PQcmdStatus) *PQcmdStatus;
    __typeof__(PQgetvalue) *PQgetvalue;
    __typeof__(PQgetlength) *PQgetlength;
    __typeof__(PQgetisnull) *PQgetisnull;
    __typeof__(PQclear) *PQclear;
} library;

static char problem[256];
static const char *found = problem;

static void load(void) {
    void *handle = NULL;
    for (size_t index = 0; handle == NULL && index < sizeof(names) / sizeof(names[0]); index++) {
        handle = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    }
    if (handle == NULL) {
        const char *reason = dlerror();
        snprintf(problem, sizeof(problem), "%s", reason == NULL ? names[0] : reason);
        return;
    }
    const struct {
        const char *name;
        void **function;
    } functions[] = {
        {"PQconnectdb", (void **)&library.PQconnectdb},
        {"PQfinish", (void **)&library.PQfinish},
        {"PQconninfoParse", (void **)&library.PQconninfoParse},
        {"PQconninfoFree", (void **)&library.PQconninfoFree},
        {"PQstatus", (void **)&library.PQstatus},
        {"PQparameterStatus", (void **)&library.PQparameterStatus},
        {"PQserverVersion", (void **)&library.PQserverVersion},
        {"PQlibVersion", (void **)&library.PQlibVersion},
        {"PQsocket", (void **)&library.PQsocket},
        {"PQconnectionNeedsPassword", (void **)&library.PQconnectionNeedsPassword},
        {"PQsslInUse", (void **)&library.PQsslInUse},
        {"PQsetNoticeProcessor", (void **)&library.PQsetNoticeProcessor},
        {"PQsetnonblocking", (void **)&library.PQsetnonblocking},
        {"PQsendQuery", (void **)&library.PQsendQuery},
        {"PQsendQueryParams", (void **)&library.PQsendQueryParams},
        {"PQgetResult", (void **)&library.PQgetResult},
        {"PQisBusy", (void **)&library.PQisBusy},
        {"PQconsumeInput", (void **)&library.PQconsumeInput},
        {"PQflush", (void **)&library.PQflush},
        {"PQresultStatus", (void **)&library.PQresultStatus},
        {"PQresultErrorField", (void **)&library.PQresultErrorField},
        {"PQntuples", (void **)&library.PQntuples},
        {"PQnfields", (void **)&library.PQnfields},
        {"PQfformat", (void **)&library.PQfformat},
        {"PQftype", (void **)&library.PQftype},
        {"PQcmdStatus", (void **)&library.PQcmdStatus},
        {"PQgetvalue", (void **)&library.PQgetvalue},
        {"PQgetlength", (void **)&library.PQgetlength},
        {"PQgetisnull", (void **)&library.PQgetisnull},
        {"PQclear", (void **)&library.PQclear},
    };
    for (size_t index = 0; index < sizeof(functions) / sizeof(functions[0]); index++) {
        *functions[index].function = dlsym(handle, functions[index].name);
        if (*functions[index].function == NULL) {
            snprintf(problem, sizeof(problem), "a libpq without %s", functions[index].name);
            return;
        }
    }
    found = NULL;
}

const char *CLibPQ_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return found;
}

PGconn *PQconnectdb(const char *conninfo) { return library.PQconnectdb(conninfo); }
void PQfinish(PGconn *conn) { library.PQfinish(conn); }
PQconninfoOption *PQconninfoParse(const char *conninfo, char **errmsg) {
    return library.PQconninfoParse(conninfo, errmsg);
}
void PQconninfoFree(PQconninfoOption *options) { library.PQconninfoFree(options); }
ConnStatusType PQstatus(const PGconn *conn) { return library.PQstatus(conn); }
const char *PQparameterStatus(const PGconn *conn, const char *name) { return library.PQparameterStatus(conn, name); }
int PQserverVersion(const PGconn *conn) { return library.PQserverVersion(conn); }
int PQlibVersion(void) { return library.PQlibVersion(); }
int PQsocket(const PGconn *conn) { return library.PQsocket(conn); }
int PQconnectionNeedsPassword(const PGconn *conn) { return library.PQconnectionNeedsPassword(conn); }
int PQsslInUse(PGconn *conn) { return library.PQsslInUse(conn); }
PQnoticeProcessor PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor processor, void *arg) {
    return library.PQsetNoticeProcessor(conn, processor, arg);
}
int PQsetnonblocking(PGconn *conn, int arg) { return library.PQsetnonblocking(conn, arg); }
int PQsendQuery(PGconn *conn, const char *query) { return library.PQsendQuery(conn, query); }
int PQsendQueryParams(
    PGconn *conn, const char *command, int count, const Oid *types, const char *const *values, const int *lengths,
    const int *formats, int resultFormat) {
    return library.PQsendQueryParams(conn, command, count, types, values, lengths, formats, resultFormat);
}
PGresult *PQgetResult(PGconn *conn) { return library.PQgetResult(conn); }
int PQisBusy(PGconn *conn) { return library.PQisBusy(conn); }
int PQconsumeInput(PGconn *conn) { return library.PQconsumeInput(conn); }
int PQflush(PGconn *conn) { return library.PQflush(conn); }
ExecStatusType PQresultStatus(const PGresult *result) { return library.PQresultStatus(result); }
char *PQresultErrorField(const PGresult *result, int field) { return library.PQresultErrorField(result, field); }
int PQntuples(const PGresult *result) { return library.PQntuples(result); }
int PQnfields(const PGresult *result) { return library.PQnfields(result); }
int PQfformat(const PGresult *result, int column) { return library.PQfformat(result, column); }
Oid PQftype(const PGresult *result, int column) { return library.PQftype(result, column); }
char *PQcmdStatus(PGresult *result) { return library.PQcmdStatus(result); }
char *PQgetvalue(const PGresult *result, int row, int column) { return library.PQgetvalue(result, row, column); }
int PQgetlength(const PGresult *result, int row, int column) { return library.PQgetlength(result, row, column); }
int PQgetisnull(const PGresult *result, int row, int column) { return library.PQgetisnull(result, row, column); }
void PQclear(PGresult *result) { library.PQclear(result); }
