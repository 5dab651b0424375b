#ifndef HOLDFAST_CLIBPQ_H
#define HOLDFAST_CLIBPQ_H

/// The part of libpq 5 (PostgreSQL 10 or newer) that the server calls. It is loaded when the first database is named, so
/// that a server on SQLite runs on a machine without it. The declarations are those of libpq-fe.h: they are part of its
/// binary interface, which has the number 5 since 2006.

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned int Oid;

typedef enum { CONNECTION_OK, CONNECTION_BAD } ConnStatusType;

typedef enum { PGRES_EMPTY_QUERY = 0, PGRES_COMMAND_OK, PGRES_TUPLES_OK } ExecStatusType;

typedef struct _PQconninfoOption {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

typedef void (*PQnoticeProcessor)(void *arg, const char *message);

/// Loads libpq once. Without it no other function may be called.
/// Returns NULL, or why it cannot be loaded.
const char *CLibPQ_load(void);

// Hidden, so that libpq's own calls of these functions stay inside of it.
#pragma GCC visibility push(hidden)
PGconn *PQconnectdb(const char *conninfo);
void PQfinish(PGconn *conn);
PQconninfoOption *PQconninfoParse(const char *conninfo, char **errmsg);
void PQconninfoFree(PQconninfoOption *options);
ConnStatusType PQstatus(const PGconn *conn);
const char *PQparameterStatus(const PGconn *conn, const char *name);
int PQserverVersion(const PGconn *conn);
int PQlibVersion(void);
int PQsocket(const PGconn *conn);
int PQconnectionNeedsPassword(const PGconn *conn);
int PQsslInUse(PGconn *conn);
PQnoticeProcessor PQsetNoticeProcessor(PGconn *conn, PQnoticeProcessor processor, void *arg);
int PQsetnonblocking(PGconn *conn, int arg);
int PQsendQuery(PGconn *conn, const char *query);
int PQsendQueryParams(
    PGconn *conn, const char *command, int count, const Oid *types, const char *const *values, const int *lengths,
    const int *formats, int resultFormat);
PGresult *PQgetResult(PGconn *conn);
int PQisBusy(PGconn *conn);
int PQconsumeInput(PGconn *conn);
int PQflush(PGconn *conn);
ExecStatusType PQresultStatus(const PGresult *result);
char *PQresultErrorField(const PGresult *result, int field);
int PQntuples(const PGresult *result);
int PQnfields(const PGresult *result);
int PQfformat(const PGresult *result, int column);
Oid PQftype(const PGresult *result, int column);
char *PQcmdStatus(PGresult *result);
char *PQgetvalue(const PGresult *result, int row, int column);
int PQgetlength(const PGresult *result, int row, int column);
int PQgetisnull(const PGresult *result, int row, int column);
void PQclear(PGresult *result);
#pragma GCC visibility pop

#endif
