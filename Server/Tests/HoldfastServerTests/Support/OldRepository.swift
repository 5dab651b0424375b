import Foundation
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// A repository that `holdfastctl` published and another web server serves, with two roots: apps of both are in the field.
struct OldRepository: Sendable {
    /// The application that its apps are configured with.
    static let application = "com.example.bank"

    let holders = RepositoryHolders()
    let online = TUFSigningKey()
    let folder: TUFRepositoryFolder

    /// - Parameter onlineKeys: the keys of snapshot and timestamp; those that sign them by default.
    init(in url: URL, pins: Data, at time: Date, onlineKeys: TUFRoleKeys? = nil, and other: TUFSigningKey? = nil)
        async throws
    {
        folder = TUFRepositoryFolder(url)
        let machine = onlineKeys ?? TUFRoleKeys([online.publicKey])
        let keys = [online, other].compactMap(\.self)
        var state = try TUFRepositoryState(
            roles: [.root: holders.rootKeys, .targets: holders.targetsKeys, .snapshot: machine, .timestamp: machine],
            at: time)
        try state.prepare(pins: pins, at: time)
        for key in [holders.root] + holders.targets { _ = try state.sign(by: key) }
        try await publish(state, keys, at: time)
        // Another holder joins.
        state = try await folder.state()
        let joining = TUFSigningKey()
        try state.change(.root, adding: [joining.publicKey], at: time)
        for key in [holders.root, joining] { _ = try state.sign(by: key) }
        try await publish(state, keys, at: time)
    }

    private func publish(_ state: TUFRepositoryState, _ keys: [TUFSigningKey], at time: Date) async throws {
        try await folder.write(try await TUFPublication.make(of: state, in: folder, onlineKeys: keys, at: time))
    }

    /// The root of a build.
    func root(_ version: Int) throws -> Data {
        try Data(contentsOf: folder.published.appending(path: "metadata/\(version).root.json"))
    }

    /// The private key of snapshot and timestamp.
    var keys: [String] { [online.pem].compactMap(\.self) }

    /// A pin file as it was written by hand.
    static func pins(_ certificates: [TestCertificate], at time: Date, ofHost more: String = "") throws -> Data {
        let pins = try certificates.enumerated().map { index, certificate in
            let pin = Base64.encode(ServerFoundation.Digest(of: try certificate.subjectPublicKeyInfo).bytes)
            return #"{"pin":"sha256/\#(pin)","state":"\#(index == 0 ? "active" : "backup")"}"#
        }
        let end = time.addingTimeInterval(100 * 86_400)
        return Data(
            """
            {"schema": 1, "app": "\(application)", "issuedAt": "\(time.formatted(.iso8601))",
             "notAfter": "\(end.formatted(.iso8601))", "refresh": {"after": 21600},
             "hosts": [{"host": "\(World.host)", \(more)"pins": [\(pins.joined(separator: ","))]}]}
            """.utf8)
    }
}

extension Publisher {
    /// Takes a repository over, as an app that has no canary and no builds with pins.
    func takeOver(
        _ folder: URL, keys: [String], as name: AppName, anchors: TestAuthority, lifetime: Int64 = 180 * 86_400
    ) async throws -> Proposal {
        var generator = SystemRandomNumberGenerator()
        let takeover = try await Takeover(repository: folder, keys: keys, password: nil, as: name, refresh: 3_600)
        let rules = TakeoverRules(
            settings: try AppSettings(canary: 0, anchors: [anchors.root], builds: []), lifetime: lifetime,
            proposer: nil,
            reason: "a test", by: "operator")
        return try #require(try await takeOver(takeover, rules, using: &generator).first)
    }
}
