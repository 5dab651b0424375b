import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting

/// A repository in the folder `site` of a site, published, and a server on loopback that serves it.
struct PublishedRepository {
    let folder: TUFRepositoryFolder
    let offline = TUFSigningKey()
    private(set) var online = TUFSigningKey(.ed25519)
    /// The certificate of the pinned host's server, and its reserve.
    let leaf: TestCertificate
    let backup: TestCertificate
    /// The bytes of the pin file.
    let pins: Data

    /// - Parameters:
    ///   - root: for how long the root lasts.
    ///   - days: when it was published, and not renewed since.
    init(
        in site: SigningSite, rootLasting root: Duration = .seconds(365 * 86_400), daysAgo days: Double = 0
    ) async throws {
        folder = TUFRepositoryFolder(site.folder.appending(path: "site"))
        (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
        let (rare, fresh) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
        let now = SystemWallClock().now.addingTimeInterval(-days * 86_400)
        var state = try TUFRepositoryState(
            roles: [.root: rare, .targets: rare, .snapshot: fresh, .timestamp: fresh], lifetimes: .init(root: root),
            at: now)
        let host = try PinFile.Host(
            try HostPattern(SigningSite.name),
            pins: [
                try PinFile.KeyPin(Pin.publicKey(of: leaf.der)),
                try PinFile.KeyPin(Pin.publicKey(of: backup.der), state: .backup),
            ])
        pins = try PinFile(
            issuedAt: now, notAfter: now.addingTimeInterval(90 * 86_400),
            refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400), hosts: [host]
        ).json
        try state.prepare(pins: pins, at: now)
        try await publish(state, by: online, at: now)
    }

    /// Publishes a next root with another online key. Without it, clients refuse what comes after it.
    mutating func rotate() async throws {
        let next = TUFSigningKey(.ed25519)
        var state = try await folder.state()
        for role in [TUFRole.snapshot, .timestamp] {
            try state.change(
                role, adding: [next.publicKey], removing: [online.publicKey.id], at: SystemWallClock().now)
        }
        try await publish(state, by: next, online)
        online = next
        // Old clients accept what both keys have signed as well.
        let renewal = try await TUFPublication.make(
            of: folder.state(), in: folder, onlineKeys: [next], includingDrafts: false, at: SystemWallClock().now)
        try await folder.write(renewal)
    }

    /// Publishes another pin file, even if it locks clients out.
    func replacePins(with file: PinFile) async throws {
        var state = try await folder.state()
        try state.prepare(pins: file.json, at: SystemWallClock().now)
        try await publish(state, by: online, allowing: [.expiry])
    }

    private func publish(
        _ draft: TUFRepositoryState, by keys: TUFSigningKey..., allowing exceptions: Set<TUFPublication.Exception> = [],
        at time: Date = SystemWallClock().now
    ) async throws {
        var state = draft
        _ = try state.sign(by: offline)
        try await folder.writeDrafts(state)
        let publication = try await TUFPublication.make(
            of: state, in: folder, onlineKeys: keys, allowing: exceptions, at: time)
        try await folder.write(publication)
    }

    /// Serves the files as they are now, over plain HTTP on loopback.
    func served<Value>(
        forbidding forbidden: String? = nil, breaking broken: String? = nil, _ body: (String) async throws -> Value
    ) async throws -> Value {
        try await Self.serving(folder.published, forbidding: forbidden, breaking: broken, body)
    }

    /// Serves the repository's files as they are when they are asked for.
    func servedLive<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = folder.published
        return try await Self.serving(body) { try? Data(contentsOf: folder.appending(path: $0)) }
    }

    /// Serves the files of a folder as they are now, over plain HTTP on loopback.
    /// - Parameters:
    ///   - forbidden: is answered with 403, as by an object store whose listing is not public; the end of a path.
    ///   - broken: is answered with 500.
    ///   - body: gets the URL.
    static func serving<Value>(
        _ folder: URL, forbidding forbidden: String? = nil, breaking broken: String? = nil,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let files = try files(in: folder)
        return try await serving(forbidding: forbidden, breaking: broken, body) { files[$0] }
    }

    private static func serving<Value>(
        forbidding forbidden: String? = nil, breaking broken: String? = nil, _ body: (String) async throws -> Value,
        content: @escaping @Sendable (String) -> Data?
    ) async throws -> Value {
        try await ScriptedHTTPServer.with({ path in
            func answer(_ status: String, _ body: Data = Data()) -> [ScriptedHTTPServer.Step] {
                let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
                return [.send(head), .sendOctets([UInt8](body)), .close]
            }
            if let forbidden, path.hasSuffix(forbidden) { return answer("403 Forbidden") }
            if let broken, path.hasSuffix(broken) { return answer("500 Internal Server Error") }
            return content(path).map { answer("200 OK", $0) } ?? answer("404 Not Found")
        }) { server in
            try await body("http://127.0.0.1:\(server.port)")
        }
    }

    /// By their paths in URLs.
    private static func files(in folder: URL) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: path)
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
            files["/\(path)"] = try Data(contentsOf: file)
        }
        return files
    }
}
