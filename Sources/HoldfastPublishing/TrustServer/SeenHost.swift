public import Foundation
import Holdfast
import HoldfastSigning

/// The knowledge of a trust server's rounds about one host: the pins that belong to it, and how long each has been
/// missing.
public struct SeenHost: Sendable, Hashable {
    /// A pin in the form of the document.
    public struct SeenPin: Sendable, Hashable, Codable {
        /// The SHA-256 of a certificate in lower-case hexadecimal, or the Base64 of the DER of a SubjectPublicKeyInfo.
        public let text: String
        /// For how long the host has been seen without the pin, in whole seconds. Only rounds add to it: see
        /// ``PublishingRound``.
        public let unseen: Duration
    }

    /// Maximum number of pins of one kind for a host. A reader accepts 256, and backups need their share.
    static let maximumPins = 128
    /// Maximum time that one round can add to a pin's age. Clients use no document for longer than a day and an hour.
    /// So if rounds are further apart, no rounds ran in between, or the clock was wrong.
    static let longestStep = Duration.seconds(25 * 3_600)

    /// The host, without its port.
    public let hostname: String
    /// The port.
    public let port: Int
    /// When a path was last validated for the host, in whole seconds.
    public let validated: Date
    /// Pins of certificates (`fp`), most recently seen first.
    public let certificates: [SeenPin]
    /// Pins of keys (`pk`), most recently seen first.
    public let publicKeys: [SeenPin]

    init(hostname: String, port: Int, validated: Date, certificates: [SeenPin], publicKeys: [SeenPin]) {
        self.hostname = hostname
        self.port = port
        self.validated = validated
        self.certificates = certificates
        self.publicKeys = publicKeys
    }

    /// Updates the knowledge about a host after it was validated.
    /// - Parameters:
    ///   - host: the host; its port is 443 if it has none.
    ///   - seen: the certificates of all its paths that are published.
    ///   - earlier: the earlier knowledge.
    ///   - overlap: for how long a missing pin is kept, in whole seconds.
    ///   - time: the current time, in whole seconds.
    init(
        _ host: DialedHost, seen: [X509Certificate], earlier: SeenHost?, overlap: Duration, at time: Date
    ) {
        hostname = host.name
        port = host.port ?? 443
        validated = time
        let elapsed = earlier.map { max(.zero, time.elapsed(since: $0.validated)) } ?? .zero
        // More than one round has to miss a pin, no matter how far apart the rounds are, because a node may have been
        // down during one of them.
        let step = min(elapsed, Self.longestStep, .seconds((overlap.components.seconds + 1) / 2))
        func merge(_ texts: [String], _ old: [SeenPin]?) -> [SeenPin] {
            var known: Set<String> = []
            var pins = texts.filter { known.insert($0).inserted }.map { SeenPin(text: $0, unseen: .zero) }
            pins += (old ?? []).compactMap { pin in
                let unseen = pin.unseen + step
                guard unseen < overlap, known.insert(pin.text).inserted else { return nil }
                return SeenPin(text: pin.text, unseen: unseen)
            }
            return Array(pins.prefix(Self.maximumPins))
        }
        certificates = merge(seen.map(TrustServerHost.fingerprint), earlier?.certificates)
        publicKeys = merge(seen.map(TrustServerHost.publicKey), earlier?.publicKeys)
    }

    /// A copy with the same pins, validated at a time.
    func validated(at time: Date) -> SeenHost {
        SeenHost(
            hostname: hostname, port: port, validated: time, certificates: certificates, publicKeys: publicKeys)
    }

    /// Whether the host was seen with a certificate.
    func has(_ certificate: X509Certificate) -> Bool {
        let text = TrustServerHost.fingerprint(of: certificate)
        return certificates.contains { $0.text == text }
    }

    /// The texts of all pins. The text of a certificate's pin never equals that of a key's.
    var pins: Set<String> { Set((certificates + publicKeys).map(\.text)) }
}

extension TrustServerHost {
    /// The published entry of a host: its pins, and the backups.
    init(_ host: SeenHost, _ backups: TrustServerBackups) {
        func joined(_ own: [SeenHost.SeenPin], _ others: [String]) -> [String] {
            var known: Set<String> = []
            return (own.map(\.text) + others).filter { known.insert($0).inserted }
        }
        self.init(
            hostname: host.hostname, port: host.port,
            fingerprints: joined(host.certificates, backups.fingerprints),
            publicKeys: joined(host.publicKeys, backups.publicKeys), validated: host.validated)
    }
}

extension Date {
    /// The same instant without the fraction of its second, as the files of a trust server state it.
    var cutToSeconds: Date { Date(wholeSeconds: wholeSeconds) }

    /// The whole seconds from an earlier instant to this one; negative if that one is later.
    func elapsed(since earlier: Date) -> Duration {
        .seconds(wholeSeconds.subtractingReportingOverflow(earlier.wholeSeconds).partialValue)
    }
}
