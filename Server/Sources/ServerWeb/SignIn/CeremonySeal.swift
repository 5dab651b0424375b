import Crypto
import Foundation
import ServerApprovals
import ServerFoundation
import ServerStore

/// Authenticates a ceremony that a browser keeps in a cookie, so that the server stores nothing for anonymous visitors.
///
/// The code is an HMAC-SHA256 over five lines, each with a line feed: `holdfast-challenge-cookie-v1`, the id of the
/// server, the name of the challenge's form, its end in seconds since 1970, and the challenge in Base64url. Its key has
/// no other use: HKDF-SHA256 of the secret, without salt, with the info `holdfast-challenge-cookie-v1`. Servers that
/// share the secret accept each other's cookies. A server without a secret generates a key, which is lost when the
/// process ends.
struct CeremonySeal: Sendable {
    private static let label = "holdfast-challenge-cookie-v1"
    /// Maximum size in bytes, several times that of any value written here.
    private static let maximumSize = 512

    private let server: RandomID
    private let key: SymmetricKey

    /// - Parameters:
    ///   - secret: the secret from which the key is derived; nil to generate a key.
    ///   - server: the id of the server.
    init(_ secret: SigningSecret?, server: RandomID) {
        self.server = server
        key = secret?.challengeKey ?? SymmetricKey(size: .bits256)
    }

    /// The value of the cookie: challenge, end and code, separated by dots.
    func value(of ceremony: PasskeyCeremony) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: text(of: ceremony), using: key)
        return "\(Base64URL.encode(ceremony.challenge.bytes)).\(ceremony.end).\(Base64URL.encode(Array(code)))"
    }

    /// Reads the value of a cookie; nil if it was not written with this key for this server.
    func ceremony(in value: some Collection<UInt8>) -> PasskeyCeremony? {
        guard value.count <= Self.maximumSize else { return nil }
        let parts = value.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3,
            let challenge = Base64URL.decode(parts[0]).flatMap({ PasskeyChallenge(bytes: $0) }),
            let end = LineReader.number(Array(parts[1])[...]), let code = Base64URL.decode(parts[2])
        else { return nil }
        let ceremony = PasskeyCeremony(challenge, until: end)
        // Compares all bytes of the code, even after a difference.
        let isRight = HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: text(of: ceremony), using: key)
        return isRight ? ceremony : nil
    }

    private func text(of ceremony: PasskeyCeremony) -> Data {
        let challenge = ceremony.challenge
        return Data(
            "\(Self.label)\n\(server)\n\(challenge.form.rawValue)\n\(ceremony.end)\n\(Base64URL.encode(challenge.bytes))\n"
                .utf8)
    }
}
