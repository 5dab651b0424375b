import Holdfast

/// A request's hold on the client of its origin, until its response is read. May be ended more than once.
final class OriginLease: Sendable {
    let client: OriginClient
    private let clients: OriginClients
    private let isOver = Lock(false)

    init(client: OriginClient, clients: OriginClients) {
        self.client = client
        self.clients = clients
    }

    deinit { end() }

    func end() {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { clients.end(client) }
    }
}
