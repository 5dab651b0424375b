import Foundation
import Holdfast

/// What was sent to a server with challenges, and how it signed its response.
package struct ChallengeExchange: Sendable {
    /// The challenge, as a client sends it.
    package let challenge: String
    /// The header with the signature; empty if there was none.
    package let signature: String

    package init(challenge: String, signature: String) {
        self.challenge = challenge
        self.signature = signature
    }

    /// A challenge that nobody has sent before.
    package static func newChallenge(using generator: inout some RandomNumberGenerator) -> String {
        CanonicalBase64.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
