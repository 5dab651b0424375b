public import Foundation
public import Holdfast

/// Responds to challenges as the Wultra mobile utility server does: with a body, and a signature over the challenge and
/// the body.
public struct ChallengeSigner: Sendable {
    /// The response to send.
    public struct Answer: Sendable, Hashable {
        /// The body of the response: JSON in UTF-8.
        public let body: Data
        /// The value of the header `X-Cert-Pinning-Signature`: Base64 of the DER of an ECDSA signature.
        public let signature: String
    }

    /// The length of a challenge in bytes, before Base64.
    public static let challengeLength = 16...32

    private let key: any DocumentSigner

    /// Makes a signer.
    /// - Parameter key: the signer for the public key that clients are configured with.
    public init(key: any DocumentSigner) { self.key = key }

    /// Responds to a challenge.
    /// - Parameters:
    ///   - challenge: the header `X-Cert-Pinning-Challenge` as received; nil if it was not sent.
    ///   - entries: the fingerprints to sign.
    ///   - time: the issue time, in whole seconds.
    ///   - versionCheck: the statement about the application's version; nil to omit it.
    /// - Throws: ``SigningError`` `invalidChallenge`; `cryptographyFailed`, also for a time before 1970.
    public func answer(
        to challenge: String?, entries: [FingerprintEntry], at time: Date,
        versionCheck: VersionCheck? = nil
    ) throws(SigningError) -> Answer {
        guard let challenge, challenge.utf8.count <= 64, let nonce = CanonicalBase64.decode(challenge.utf8),
            Self.challengeLength.contains(nonce.count)
        else {
            throw SigningError(
                .invalidChallenge, expected: "Base64 of 16 to 32 octets", found: challenge == nil ? "none" : "another")
        }
        let seconds = time.wholeSeconds
        guard (0..<Int64.max).contains(seconds) else {
            throw SigningError(.cryptographyFailed, expected: "a time after 1970", found: "another")
        }
        let list = entries.map { entry in
            let depth = entry.depth > 0 ? ",\"depth\":\(entry.depth)" : ""
            return
                #"{"name":\#(PinListDraft.json(entry.name)),"fingerprint":"\#(entry.fingerprint)","#
                + #""expires":\#(entry.expires)\#(depth)}"#
        }
        var fields = [#""timestamp":\#(seconds)"#, #""fingerprints":[\#(list.joined(separator: ","))]"#]
        if let versionCheck { fields.append(#""verifyVersionResult":\#(try Self.json(versionCheck))"#) }
        let body = Data("{\(fields.joined(separator: ","))}".utf8)
        let signature = try key.signature(for: ChallengeResponse.signedBytes(challenge: challenge, body: body))
        return Answer(body: body, signature: CanonicalBase64.encode(signature))
    }

    private static func json(_ check: VersionCheck) throws(SigningError) -> String {
        var fields = [#""update":"\#(check.update.rawValue)""#]
        if let message = check.message {
            // A message is free text, so JSONEncoder does the escaping.
            guard let text = try? JSONEncoder().encode(message) else {
                throw SigningError(.cryptographyFailed, expected: "a message that is text", found: "another")
            }
            fields.append(#""message":\#(String(decoding: text, as: UTF8.self))"#)
        }
        return "{\(fields.joined(separator: ","))}"
    }
}
