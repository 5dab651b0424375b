import Foundation
import Holdfast
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("The memory of a server's sessions", .timeLimit(.minutes(15)))
struct ClientSessionsTests {
    private let setting: MutualSetting

    init() throws {
        setting = try MutualSetting()
    }

    private func sessions(mostChains: Int) throws -> ClientSessions {
        try ClientSessions(configuration: setting.configuration(), mostChains: mostChains)
    }

    /// A decision that does not say on what it rests.
    private func trusted(_ chain: PresentedChain) -> TrustDecision {
        TrustDecision(.trusted, policyName: "", host: nil, time: SystemWallClock().now, chain: chain)
    }

    @Test("gives back the chain of a leaf, and the leaf alone when it knows no more")
    func recall() throws {
        let sessions = try sessions(mostChains: 2)
        for chain in [[[1], [2]], [[1], [3]], [[4]], []] as [[[UInt8]]] {
            sessions.remember(PresentedChain(chain), trustedBy: trusted(PresentedChain(chain)))
        }
        #expect(sessions.chain(of: [1]) == PresentedChain([[1], [3]]))
        #expect(sessions.chain(of: [4]) == PresentedChain([[4]]))
        #expect(sessions.chain(of: [9]) == PresentedChain([[9]]))
        #expect(!sessions.isFull)
        #expect(sessions.bytes == 2)
    }

    @Test("is full when there are too many chains or too many bytes, and then forgets none")
    func full() throws {
        let few = try sessions(mostChains: 1)
        for chain in [[[1], [2]], [[1], [2]]] as [[[UInt8]]] {
            few.remember(PresentedChain(chain), trustedBy: trusted(PresentedChain(chain)))
        }
        #expect(!few.isFull)
        few.remember(PresentedChain([[3], [2]]), trustedBy: trusted(PresentedChain([[3], [2]])))
        #expect(few.isFull)
        #expect(few.chain(of: [1]) == PresentedChain([[1], [2]]))
        #expect(few.chain(of: [3]) == PresentedChain([[3]]))

        let many = try sessions(mostChains: 9_999)
        let most = ClientSessions.mostBytes / ClientSessions.mostBytesOfOne
        for client in 0...most {
            let leaf: [UInt8] = [UInt8(client >> 8), UInt8(client & 0xFF)]
            let chain = PresentedChain([leaf, Array(repeating: 0, count: ClientSessions.mostBytesOfOne - 2)])
            #expect(!many.isFull)
            many.remember(chain, trustedBy: trusted(chain))
        }
        #expect(many.isFull)
        #expect(many.bytes == ClientSessions.mostBytes)
    }

    @Test("takes no more for a client with ever new ballast than for one without: the path's certificates alone")
    func ballast() throws {
        let sessions = try sessions(mostChains: 9)
        let device = try setting.device()
        let policy = StandardPolicy(clients: "devices")
        let validator = try setting.validator()
        for round in UInt8(0)..<200 {
            let chain = PresentedChain(device.chain + (0..<6).map { [round, $0] + Array(repeating: 0, count: 15_000) })
            let decision = policy.evaluate(
                ServerTrust(chain: chain, purpose: .client, validator: validator), at: SystemWallClock().now)
            #expect(decision.isTrusted)
            sessions.remember(chain, trustedBy: decision)
        }
        #expect(!sessions.isFull)
        #expect(sessions.chain(of: device.der) == PresentedChain(device.chain))
        #expect(sessions.bytes == device.chain.reduce(0) { $0 + $1.count })
    }

    @Test("takes a bounded part for a client whose decision names no path, and gives back what it replaces")
    func ballastWithoutPath() throws {
        let sessions = try sessions(mostChains: 9)
        for round in UInt8(0)..<200 {
            let small = PresentedChain([[1], [round] + Array(repeating: 0, count: 10_000)])
            sessions.remember(small, trustedBy: trusted(small))
            #expect(sessions.bytes == 10_002)
        }
        let large = PresentedChain([[1], Array(repeating: 0, count: 90_000)])
        sessions.remember(large, trustedBy: trusted(large))
        #expect(sessions.bytes == 0)
        #expect(!sessions.isFull)
        #expect(sessions.chain(of: [1]) == PresentedChain([[1]]))
    }

    @Test("is replaced when it is full without reading a file again")
    func filesAreReadOnce() async throws {
        let device = try setting.device()
        try await withTemporaryFolder { folder in
            let (chain, key) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
            try Data(setting.leaf.chain.map(TestCertificate.pem).joined().utf8).write(to: chain)
            try Data(setting.leaf.key.privateKeyPEM.utf8).write(to: key)
            var configuration = try setting.configuration()
            configuration = (configuration as any FileSources).reading(key: key.path, chain: chain.path)
            let server = try PinnedTLSServer(
                clients: setting.pinned(device), configuration: configuration, validator: setting.validator(),
                oldestTLSVersion: .tlsv12, handshakeTimeout: .seconds(60), clock: SystemWallClock(), mostChains: 0)
            try FileManager.default.removeItem(at: chain)
            try FileManager.default.removeItem(at: key)
            try await MutualServer.with(server) { running in
                // The first fills the memory, the second finds another in its place.
                for _ in 0..<2 {
                    expectTrust(
                        try await ClientAttempt.make(
                            try setting.client(presenting: device), address: running.address, port: running.port),
                        answer: "got ping\n")
                    #expect(try await running.report().client != nil)
                }
            }
            #expect(throws: TLSAdapterConfigurationError.self) { try server.endSessions() }
        }
    }
}

/// Deprecated by NIOSSL, and in use all the same.
private protocol FileSources {
    func reading(key: String, chain: String) -> TLSConfiguration
}

extension TLSConfiguration: FileSources {
    @available(*, deprecated, message: "names files")
    func reading(key: String, chain: String) -> TLSConfiguration {
        var configuration = self
        configuration.privateKey = .file(key)
        configuration.certificateChain = [.file(chain)]
        return configuration
    }
}
