import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Synchronization
import Workloads

/// The downloads of devices, and their cost for the server.
final class ServedBundle: RemoteDataProvider {
    struct Traffic {
        var requests = 0
        var bytes = 0
    }

    private struct State {
        var bundle = Data()
        var tag = ""
        var isReachable = true
        var traffic = Traffic()
    }

    private let state = Mutex(State())

    var traffic: Traffic { state.withLock { $0.traffic } }
    var bundle: Data { state.withLock { $0.bundle } }

    func serve(_ bundle: Data, version: Int) {
        state.withLock { state in
            state.bundle = bundle
            state.tag = "\"\(version)\""
        }
    }

    func isReachable(_ isReachable: Bool) { state.withLock { $0.isReachable = isReachable } }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        try state.withLock { state in
            guard state.isReachable else { throw RemoteDataError(status: 503) }
            state.traffic.requests += 1
            let headers = ["ETag": state.tag]
            guard request.headers["If-None-Match"] != state.tag else {
                return RemoteDataResponse(.notModified, headers: headers)
            }
            state.traffic.bytes += state.bundle.count
            return RemoteDataResponse(.body(state.bundle), headers: headers)
        }
    }
}

/// The operator: a repository in a folder, whose timestamp is renewed every day, and a server that changes its key.
final class Site {
    static let host = "api.example.com"
    static let day: TimeInterval = 86_400

    let start: Date
    private(set) var root = Data()
    let served = ServedBundle()
    let anchors: TrustAnchors
    private let folder: TUFRepositoryFolder
    private let offline = TUFSigningKey(.ed25519)
    private let online = TUFSigningKey(.p256)
    private var version = 0
    /// The server's current key, its successor, and the one after that.
    private let leaves: [TestCertificate]
    private(set) var leaf: TestCertificate

    /// - Parameter hosts: the number of hosts of the pin file in addition to the one that the devices connect to.
    init(_ folder: URL, start: Date, otherHosts: Int) async throws {
        self.start = start
        self.folder = TUFRepositoryFolder(folder)
        let clock = ManualClock(now: start)
        let authority = try TestAuthority.root(clock: clock) { $0.notBefore = .days(-9_000) }
        anchors = try TrustAnchors(der: [authority.root])
        leaves = try (0..<3).map { _ in
            try authority.leaf(names: [.dns(Self.host)]) { ($0.notBefore, $0.notAfter) = (.days(-9_000), .days(3_000)) }
        }
        leaf = leaves[0]
        self.otherHosts = try (0..<otherHosts).map { number in
            let pins = try ["active", "backup"].map { state in
                ("\(try Pin.publicKey(spkiDER: TestKey(.p256).subjectPublicKeyInfoDER))", state)
            }
            return PinFileText.host("host-\(number).example.com", pins)
        }
        let (offlineKeys, onlineKeys) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
        begun = try TUFRepositoryState(
            roles: [.root: offlineKeys, .targets: offlineKeys, .snapshot: onlineKeys, .timestamp: onlineKeys],
            lifetimes: .init(root: .seconds(3_650 * 86_400)), at: start.addingTimeInterval(-400 * Self.day))
        try await publish(.first, at: -400)
        root = try Data(contentsOf: self.folder.published.appending(path: "metadata/1.root.json"))
    }

    private let otherHosts: [String]
    private var begun: TUFRepositoryState?

    /// The content of the pin file about the server.
    enum Stage {
        /// The first key, the second as its backup.
        case first
        /// The first key retires, the second is in use, the third is its backup.
        case rollover
        /// The second key, the third as its backup.
        case second
    }

    func date(_ days: Double) -> Date { start.addingTimeInterval(days * Self.day) }

    /// Publishes a new pin file, valid for 90 days and two weeks of grace.
    func publish(_ stage: Stage, at days: Double) async throws {
        let now = date(days)
        func pin(_ index: Int, _ state: String) throws -> (String, String) {
            ("\(try Pin.publicKey(of: leaves[index].der))", state)
        }
        let pins =
            switch stage {
            case .first: [try pin(0, "active"), try pin(1, "backup")]
            case .rollover: [try pin(0, "retiring"), try pin(1, "active"), try pin(2, "backup")]
            case .second: [try pin(1, "active"), try pin(2, "backup")]
            }
        let file = PinFileText.file([PinFileText.host(Self.host, pins)] + otherHosts, at: now)
        var state: TUFRepositoryState
        if let begun { state = begun } else { state = try await folder.state() }
        begun = nil
        _ = try state.prepare(pins: file, at: now)
        _ = try state.sign(by: offline)
        try await write(state, at: now)
    }

    /// The daily work of cron: only a new timestamp.
    func renew(at days: Double) async throws {
        try await write(try await folder.state(), at: date(days))
    }

    /// The server changes to its next key.
    func rollServerOver() { leaf = leaves[1] }

    private func write(_ state: TUFRepositoryState, at now: Date) async throws {
        let publication = try await TUFPublication.make(of: state, in: folder, onlineKeys: [online], at: now)
        try await folder.write(publication)
        version += 1
        served.serve(try Data(contentsOf: folder.published.appending(path: "bundle.json")), version: version)
    }

    /// The third key's pin distinguishes the new pin file from the old one.
    var newPin: Pin { get throws { try Pin.publicKey(of: leaves[2].der) } }
}
