import Foundation
import Holdfast

/// A challenge that was sent to a server, and the signature of its response.
package struct ChallengeExchange: Sendable {
    /// The challenge, in the form in which a client sends it.
    package let challenge: String
    /// The header with the signature; empty if it was missing.
    package let signature: String

    package init(challenge: String, signature: String) {
        self.challenge = challenge
        self.signature = signature
    }

    /// Makes a fresh random challenge.
    package static func newChallenge(using generator: inout some RandomNumberGenerator) -> String {
        CanonicalBase64.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
