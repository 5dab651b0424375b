import Holdfast
import NIOSSL

/// The sessions that one TLS context of a server issues, and the chains of their clients.
///
/// A resumed session contains the client's leaf, but not the rest of its chain. So the certificates that the decision
/// depends on are remembered by leaf. They prove nothing by themselves; a path is searched in them. When the memory is
/// full, the context has to be replaced: its sessions end, and their clients present their chains again. The memory per
/// client is bounded, so that this takes very many clients.
final class ClientSessions: Sendable {
    /// Clients with distinct certificates.
    static let mostChains = 4_096
    /// Bytes of certificates.
    static let mostBytes = 8 << 20
    /// Bytes of the certificates of one client, if the decision does not name the ones it depends on. BoringSSL accepts
    /// up to 100 kB from a client; a legitimate chain of RSA certificates has about 8.
    static let mostBytesOfOne = 16 << 10

    let context: NIOSSLContext

    private struct Memory {
        var chains: [[UInt8]: PresentedChain] = [:]
        var bytes = 0
        var isFull = false
    }

    private let memory = Lock(Memory())
    private let mostChains: Int
    private let configuration: TLSConfiguration

    /// Makes a context, and reads the files that the configuration names.
    convenience init(
        configuration: TLSConfiguration, mostChains: Int = ClientSessions.mostChains
    ) throws(TLSAdapterConfigurationError) {
        try self.init(read: try DerivedTLSConfiguration.readingFiles(of: configuration), mostChains: mostChains)
    }

    private init(read: TLSConfiguration, mostChains: Int) throws(TLSAdapterConfigurationError) {
        context = try DerivedTLSConfiguration.context(read)
        configuration = read
        self.mostChains = mostChains
    }

    /// A new context with the same certificate and key, which resumes no session of this one. It reads no file, so an
    /// event loop can make it.
    func successor() throws(TLSAdapterConfigurationError) -> ClientSessions {
        try ClientSessions(read: configuration, mostChains: mostChains)
    }

    /// Whether a chain could not be remembered.
    var isFull: Bool { memory.withLock { $0.isFull } }

    /// The size of the remembered chains.
    var bytes: Int { memory.withLock { $0.bytes } }

    /// Remembers the chain of a client that was trusted.
    func remember(_ chain: PresentedChain, trustedBy decision: TrustDecision) {
        guard let leaf = chain.leaf else { return }
        let kept = Self.part(of: chain, under: decision)
        let size = kept.certificates.reduce(0) { $0 + $1.count }
        memory.withLock { memory in
            let old = memory.chains[leaf]
            guard old != kept else { return }
            let bytes = memory.bytes - (old?.certificates.reduce(0) { $0 + $1.count } ?? 0)
            // The session itself remembers a lone leaf.
            guard kept.certificates.count > 1 else {
                memory.chains[leaf] = nil
                memory.bytes = bytes
                return
            }
            guard old != nil || memory.chains.count < mostChains, bytes + size <= Self.mostBytes else {
                memory.isFull = true
                return
            }
            memory.bytes = bytes + size
            memory.chains[leaf] = kept
        }
    }

    /// The presented certificates of the path; the server has the anchor itself. A decision without a path, or with a
    /// path of only the leaf, may depend on any of them.
    private static func part(of chain: PresentedChain, under decision: TrustDecision) -> PresentedChain {
        if let path = decision.path, path.certificates.count > 1 {
            let used = Set(path.certificates.map { Array($0.der) })
            return PresentedChain(chain.certificates.filter(used.contains).distinct)
        }
        let size = chain.certificates.reduce(0) { $0 + $1.count }
        return size <= mostBytesOfOne ? chain : PresentedChain(Array(chain.certificates.prefix(1)))
    }

    /// The chain that the client with this leaf presented last; the leaf alone if that is unknown.
    func chain(of leaf: [UInt8]) -> PresentedChain { memory.withLock { $0.chains[leaf] } ?? PresentedChain([leaf]) }
}
