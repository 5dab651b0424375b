import Foundation
import Holdfast
import HoldfastCompatibility
import HoldfastNIOTesting
import HoldfastTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sessions of the system's against TLS servers on loopback.
@Suite("URLSession against a TLS server", .timeLimit(.minutes(15)))
struct URLSessionTests {
    private static let body = "from the pinned server"

    private func withServer(
        of site: AppleSite, _ body: (LoopbackTLSServer, URL) async throws -> Void
    ) async throws {
        try await withLoopbackTLSServer(serving: site.leaf, options: .init(behavior: .http(body: Self.body))) {
            server in
            try await body(server, try #require(URL(string: "https://\(AppleSite.address):\(server.port)/")))
        }
    }

    private func session(_ delegate: any URLSessionDelegate) -> URLSession {
        URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    }

    /// Requests from a server that has to be refused before it sees a byte of the request.
    private func expectRefusal(
        _ session: URLSession, _ server: LoopbackTLSServer, _ url: URL,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: URLError.self, sourceLocation: sourceLocation) {
            _ = try await session.data(from: url)
        }
        #expect(error?.code == .cancelled, sourceLocation: sourceLocation)
        #expect(server.statistics.plaintextBytesReceived == 0, sourceLocation: sourceLocation)
        session.finishTasksAndInvalidate()
    }

    @Test("The pinned server answers")
    func pinned() async throws {
        let site = try AppleSite()
        try site.pin()
        try await withServer(of: site) { server, url in
            let delegate = PinnedSessionDelegate(manager: site.manager, anchors: try site.anchors)
            let session = session(delegate)
            let (data, response) = try await session.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == Self.body)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(delegate.failure(forHost: AppleSite.address) == nil)
            #expect(server.statistics.plaintextBytesReceived > 0)
            session.finishTasksAndInvalidate()
        }
    }

    @Test("A server with another key of the same authority is refused before it sees the request")
    func impostor() async throws {
        let site = try AppleSite()
        try site.pin()
        try await withServer(of: site) { server, url in
            try server.serve(site.impostor())
            let delegate = PinnedSessionDelegate(manager: site.manager, anchors: try site.anchors)
            await expectRefusal(session(delegate), server, url)
            #expect(delegate.failure(forHost: AppleSite.address)?.code == .pinMismatch)
        }
    }

    @Test("A server of an authority that the system does not trust is refused by a session without anchors")
    func unknownAuthority() async throws {
        let site = try AppleSite()
        try site.pin()
        try await withServer(of: site) { server, url in
            await expectRefusal(URLSession(pinnedBy: site.manager), server, url)
        }
    }

    @Test("A host without a policy is refused")
    func withoutPolicy() async throws {
        let site = try AppleSite()
        try await withServer(of: site) { server, url in
            let delegate = PinnedSessionDelegate(manager: site.manager, anchors: try site.anchors)
            await expectRefusal(session(delegate), server, url)
            #expect(delegate.failure(forHost: AppleSite.address)?.code == .noPolicyForHost)
        }
    }

    @Test("A refreshed session asks anew, and refuses what the old one had accepted")
    func refreshed() async throws {
        let site = try AppleSite()
        try site.pin()
        try await withServer(of: site) { server, url in
            let delegate = PinnedSessionDelegate(manager: site.manager, anchors: try site.anchors)
            let old = session(delegate)
            _ = try await old.data(from: url)
            try site.pin(site.impostor())
            // With another context, so that the server cannot resume what the system remembers.
            try server.serve(site.leaf)
            let new = old.refreshed()
            let error = await #expect(throws: URLError.self) { _ = try await new.data(from: url) }
            #expect(error?.code == .cancelled)
            #expect(delegate.failure(forHost: AppleSite.address)?.code == .pinMismatch)
            new.finishTasksAndInvalidate()
        }
    }

    @Test("A WebSocket task is refused before it asks for the upgrade")
    func webSockets() async throws {
        let site = try AppleSite()
        try site.pin()
        try await withServer(of: site) { server, url in
            try server.serve(site.impostor())
            let delegate = PinnedSessionDelegate(manager: site.manager, anchors: try site.anchors)
            let session = session(delegate)
            let socket = session.webSocketTask(
                with: try #require(URL(string: url.absoluteString.replacing("https://", with: "wss://"))))
            socket.resume()
            await #expect(throws: (any Error).self) { _ = try await socket.receive() }
            #expect(server.statistics.plaintextBytesReceived == 0)
            #expect(delegate.failure(forHost: AppleSite.address)?.code == .pinMismatch)
            session.invalidateAndCancel()
        }
    }

    @Test("ISPCertificatePinning's delegate refuses a stored certificate that the system does not trust")
    func storedCertificates() async throws {
        let site = try AppleSite()
        try await withServer(of: site) { server, url in
            try await withTemporaryFolder { folder in
                let file = folder.appending(path: "SSLPins.plist")
                #expect(
                    ISPCertificatePinning.setupSSLPins(
                        usingDictionnary: [AppleSite.address: [Data(site.leaf.der)]], file: file))
                // The delegate takes no anchors: that it knows the host says that it read the file.
                let delegate = ISPPinnedNSURLSessionDelegate(file: file)
                await expectRefusal(session(delegate), server, url)
                #expect(delegate.failure(forHost: AppleSite.address)?.code == .rejectedBySystem)
            }
        }
    }
}
