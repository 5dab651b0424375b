import Holdfast

@testable import HoldfastAsyncHTTPClient

extension ConnectionGate {
    /// How many connections the pool has been given and still has.
    var connectionCount: Int { state.withLock { $0.connections.count } }

    /// How many handshakes for evidence were begun.
    var evidenceHandshakes: Int { collector?.handshakes ?? 0 }
}

extension OriginClients {
    /// Requests whose responses are not read to their end.
    var requestsInFlight: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.requests } } }
}
