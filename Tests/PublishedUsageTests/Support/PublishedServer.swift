import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

/// A server with a certificate that is in a bundle, and what its clients are challenged with.
final class PublishedServer {
    /// One for each server: the tests share one manager, as applications do, and run side by side.
    let host = "\(UUID().uuidString.lowercased()).published.example"
    let folder: URL
    let bundle: Bundle
    let root: TestAuthority
    let leaf: TestCertificate
    private let impostor: TestCertificate

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        root = try TestAuthority.root()
        leaf = try root.leaf(names: [.dns(host)])
        impostor = try root.impersonate(leaf)
        try Data(leaf.der).write(to: folder.appending(path: "pinned.cer"))
        bundle = try #require(Bundle(path: folder.path))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func trust(_ chain: [[UInt8]], host: String) -> SecTrust {
        ServerTrust(
            certificates: chain, host: try? DialedHost(host),
            anchors: (try? TrustAnchors(der: [root.root])) ?? TrustAnchors([]))
    }

    /// The server itself, without and with the host in the trust; a server with another key; another host.
    var protectionSpaces: [ProtectionSpace] {
        let bare = ServerTrust(
            chain: PresentedChain(leaf.chain), purpose: .server(identity: nil),
            validator: trust(leaf.chain, host: host).validator)
        return [
            ProtectionSpace(host: host, serverTrust: bare),
            ProtectionSpace(host: host, serverTrust: trust(leaf.chain, host: host)),
            ProtectionSpace(host: host, serverTrust: trust(impostor.chain, host: host)),
            ProtectionSpace(host: "unknown.example", serverTrust: trust(leaf.chain, host: host)),
        ]
    }

    var expectedAnswers: [AuthChallengeDisposition] {
        [.useCredential, .useCredential, .cancelAuthenticationChallenge, .cancelAuthenticationChallenge]
    }

    /// A trust that is never valid.
    static func invalidTrust() throws -> SecTrust {
        ServerTrust(
            certificates: try TestAuthority.root().leaf(names: ["a.example"]).chain, host: nil,
            anchors: TrustAnchors([]))
    }
}

/// The part of URLAuthenticationChallenge that a delegate needs, whose server trust is not available on Linux.
struct AuthenticationChallenge {
    let protectionSpace: ProtectionSpace
}

/// The part of URLProtectionSpace that a delegate needs.
struct ProtectionSpace {
    let host: String
    let serverTrust: SecTrust?
}

/// A delegate's answer, as in URLSession.AuthChallengeDisposition.
enum AuthChallengeDisposition {
    case useCredential
    case cancelAuthenticationChallenge
}
