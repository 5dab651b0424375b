import Foundation
import Holdfast

/// A chain that servers present or may present, and the pin that documents have of its leaf.
struct RolloverChain {
    /// The kinds of keys that a server may have at the same time.
    enum Kind: CaseIterable {
        case ecdsa, rsa, other
    }

    let name: String
    let chain: PresentedChain
    let leaf: X509Certificate
    let pin: Pin
    let kind: Kind
    /// When its certificates become valid and expire.
    let boundaries: [Int64]

    /// - Parameter pinned: the subject that documents pin.
    init(_ certificates: [Data], named name: String, _ pinned: Pin.Subject) throws(PublishingError) {
        self.name = name
        chain = PresentedChain(certificates.map { [UInt8]($0) })
        guard let first = chain.certificates.first else {
            throw PublishingError(.invalidInput, of: name.quoted, expected: "a certificate", found: "none")
        }
        do throws(CertificateError) {
            leaf = try X509Certificate(der: first)
        } catch {
            throw PublishingError(.invalidInput, of: name.quoted, expected: error.expected, found: error.found)
        }
        boundaries = ClientPlatform.boundaries(of: chain.certificates.compactMap { try? X509Certificate(der: $0) })
        do throws(PinError) {
            pin = try leaf.pin(pinned)
        } catch {
            throw PublishingError(
                .invalidInput, of: name.quoted, expected: error.expected, found: error.found, remedy: error.remedy)
        }
        kind =
            switch leaf.keyKind {
            case .p256, .p384, .p521: .ecdsa
            case .rsa, .rsaPSS: .rsa
            default: .other
            }
    }
}
