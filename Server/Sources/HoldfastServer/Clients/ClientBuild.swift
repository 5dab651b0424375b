import Foundation
import Holdfast

/// What the apps of an audience are built with, and where they ask.
struct ClientBuild: Sendable {
    /// The address below which they find documents.
    let base: URL
    /// How they download.
    let provider: any RemoteDataProvider
    /// The key of lists and challenge answers: Base64 of its X9.63 form; nil if the app has none.
    let publicKey: String?
    /// DER of the certificate of the trust server; nil if the app has none.
    let signer: [UInt8]?
    /// What they take for the time.
    let clock: any WallClock

    /// - Parameters:
    ///   - keys: the keys that sign for the app.
    ///   - now: the time at which they begin, in seconds since 1970.
    init(_ keys: SealedKeys, asking base: URL, _ provider: any RemoteDataProvider, at now: Int64) {
        self.base = base
        self.provider = provider
        // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
        publicKey = keys.fingerprints.map { Base64.encode($0.publicKey.suffix(65)) }
        signer = keys.trustServer?.certificate
        clock = StandingClock(now: Date(timeIntervalSince1970: Double(now)))
    }

    /// A look is judged at one time, whatever it takes.
    private struct StandingClock: WallClock {
        let now: Date
    }
}
