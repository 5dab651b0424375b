package import Foundation
package import Holdfast
import ServerFoundation
import ServerStore

/// The build of a release channel's apps, and the base address of their requests.
package struct ClientBuild: Sendable {
    /// The base address of their documents.
    package let base: URL
    /// The provider of their downloads.
    package let provider: any RemoteDataProvider
    /// The key of lists and challenge answers: Base64 of its X9.63 form; nil if the app has none.
    package let publicKey: String?
    /// DER of the certificate of the trust server; nil if the app has none.
    package let signer: [UInt8]?
    /// The clock of their evaluations.
    package let clock: any WallClock

    /// - Parameters:
    ///   - keys: the keys that sign for the app.
    ///   - now: the time at which they begin, in seconds since 1970.
    package init(_ keys: SealedKeys, asking base: URL, _ provider: any RemoteDataProvider, at now: Int64) {
        self.base = base
        self.provider = provider
        // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
        publicKey = keys.fingerprints.map { Base64.encode($0.publicKey.suffix(65)) }
        signer = keys.trustServer?.certificate
        clock = StandingClock(now: Date(timeIntervalSince1970: Double(now)))
    }

    /// A clock that stands still: a probe is evaluated at one time, no matter how long it takes.
    private struct StandingClock: WallClock {
        let now: Date
    }
}
