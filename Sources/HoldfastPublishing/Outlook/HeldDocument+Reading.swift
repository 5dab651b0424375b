import Foundation
import Holdfast
import HoldfastTUF

// Reads the bytes of a document as clients do.
extension HeldDocument {
    /// The age from which a trust server's clients refuse a document.
    static let usualRenewalInterval: Duration = .seconds(600)

    static func content(of document: PublicationOutlook.Document, at now: Date) -> Content {
        do {
            return try read(document, at: now, lifetime: nil)
        } catch {
            return .refused("clients refuse the document: \(words(error))")
        }
    }

    /// Reads a trust server's document as if its rounds always re-signed it in time.
    static func renewed(_ document: PublicationOutlook.Document, at now: Date) -> Content {
        do {
            return try read(document, at: now, lifetime: .seconds(longestTime))
        } catch {
            return .refused("clients refuse the document: \(words(error))")
        }
    }

    /// Whether a machine re-signs the document, and did so in time.
    static func hasFreshRounds(_ document: PublicationOutlook.Document, _ content: Content, at now: Date) -> Bool {
        guard document.replaced.map({ now < $0 }) ?? true else { return false }
        let (interval, last): (Duration?, Date) =
            switch content {
            case .trustServer(let pins): (document.renewalInterval ?? usualRenewalInterval, pins.timestamp)
            default: (document.renewalInterval, document.lastRenewal ?? document.published)
            }
        // A round in the future proves nothing.
        return interval.map { last <= now && now.timeIntervalSince(last) <= $0.inSeconds } ?? false
    }

    /// A thousand years, in seconds: longer than any outlook.
    private static var longestTime: Int64 { 1_000 * 366 * 86_400 }

    private static func read(
        _ document: PublicationOutlook.Document, at now: Date, lifetime: Duration?
    ) throws -> Content {
        switch document.kind {
        case .shippedPins: return .pinFile(try PinFile(json: document.octets))
        case .staticList(let publicKey):
            let key = try DocumentPublicKey(base64: publicKey)
            return .list(FingerprintListPins(try FingerprintList(verifying: document.octets, with: key)))
        case .challengedList(let publicKey, let challenge, let signature):
            let key = try DocumentPublicKey(base64: publicKey)
            guard !(challenge.isEmpty && signature.isEmpty) else {
                return .list(FingerprintListPins(try FingerprintList(verifying: document.octets, with: key)))
            }
            let response = try ChallengeResponse(
                verifying: document.octets, signature: signature, challenge: challenge, by: key)
            return .list(FingerprintListPins(response))
        case .trustServer(let certificate, let customer, _):
            let signer = try TrustServerSigner(certificate: certificate)
            let read = try TrustServerDocument(verifying: document.octets, by: signer, customer: customer, at: now)
            var configuration = TrustServerConfiguration(url: URL(filePath: "/"), signer: signer, customer: customer)
            if let lifetime { configuration.maximumAge = lifetime }
            return .trustServer(try TrustServerDocumentPins(read, configuration))
        case .repository(let root, let shippedGrace):
            // Clients accept an issue time that is at most one day ahead of their own time.
            let latest = max(document.published, now).addingTimeInterval(TrustedTime.longestLead)
            return .repository(
                try PinBundlePins(
                    document.octets, root: root, issuedUpTo: latest, grace: max(.zero, shippedGrace),
                    isReplaced: document.replaced != nil && !document.isNeverServed))
        }
    }

    private static func words(_ error: any Error) -> String {
        guard let error = error as? any HoldfastError else { return "it cannot be read" }
        return "expected \(error.expected), found \(error.found)"
    }
}

extension PublicationOutlook.Document.Kind {
    /// Whether the same clients hold both kinds, so that one document can replace another.
    func isForSameClients(as other: Self) -> Bool {
        switch (self, other) {
        case (.staticList(let one), .staticList(let two)): one.utf8.elementsEqual(two.utf8)
        case (.challengedList(let one, _, _), .challengedList(let two, _, _)): one.utf8.elementsEqual(two.utf8)
        case (.trustServer(let one, let customer, _), .trustServer(let two, let other, _)):
            one == two && customer.utf8.elementsEqual(other.utf8)
        case (.repository(let one, _), .repository(let two, _)): one == two
        default: false
        }
    }
}
