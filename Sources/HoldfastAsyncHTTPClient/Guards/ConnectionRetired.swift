/// A request was turned away from a connection before anything of it was sent, because the connection accepts no
/// further request. ``PinnedHTTPClient`` sends it again, on another connection.
struct ConnectionRetired: Error {}
