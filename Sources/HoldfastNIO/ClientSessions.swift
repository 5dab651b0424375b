import Holdfast
import NIOSSL

/// The sessions that one TLS context of a server gives out, and the chains of the clients that have one.
///
/// A resumed session brings the client's leaf and not what the client presented above it. So the chain is remembered,
/// under the leaf: it is what a path is looked for in, and proves nothing by itself. Once more is to be remembered than
/// there is room for, the context has to be replaced: its sessions end, and their clients present their chains anew.
final class ClientSessions: Sendable {
    /// Clients with distinct certificates.
    static let mostChains = 4_096
    /// Bytes of certificates; BoringSSL takes at most 100 kB from one client.
    static let mostBytes = 8 << 20

    let context: NIOSSLContext

    private struct Memory {
        var chains: [[UInt8]: PresentedChain] = [:]
        var bytes = 0
        var isFull = false
    }

    private let memory = Lock(Memory())
    private let mostChains: Int

    init(context: NIOSSLContext, mostChains: Int = ClientSessions.mostChains) {
        self.context = context
        self.mostChains = mostChains
    }

    /// Whether a chain could not be remembered.
    var isFull: Bool { memory.withLock { $0.isFull } }

    /// Remembers the chain of a client that was trusted.
    func remember(_ chain: PresentedChain) {
        // A lone leaf is remembered by the session.
        guard let leaf = chain.leaf, chain.certificates.count > 1 else { return }
        let size = chain.certificates.reduce(0) { $0 + $1.count }
        memory.withLock { memory in
            guard memory.chains[leaf] != chain else { return }
            guard memory.chains.count < mostChains, memory.bytes + size <= Self.mostBytes else {
                memory.isFull = true
                return
            }
            // What an older chain of the same leaf took is not given back: it counts until the context is replaced.
            memory.bytes += size
            memory.chains[leaf] = chain
        }
    }

    /// What the client with this leaf presented last; the leaf alone if that is not known.
    func chain(of leaf: [UInt8]) -> PresentedChain {
        memory.withLock { $0.chains[leaf] } ?? PresentedChain([leaf])
    }
}
