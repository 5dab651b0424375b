import Holdfast

/// Keeps the client of an origin in use until a response is read. It may be ended more than once.
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
        if isOver.withLock({ $0.setFirst() }) { clients.end(client) }
    }
}
