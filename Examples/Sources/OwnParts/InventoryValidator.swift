import Foundation
import Holdfast

extension TrustFailure.Code {
    /// The inventory does not list the certificate. Codes of your own stand beside those of Holdfast.
    public static var notInInventory: Self { Self(rawValue: "notInInventory") }
}

/// A validator: trusts the certificates of an inventory, no matter who issued them, while they are valid and for the hosts
/// that they name.
public struct InventoryValidator: ChainValidator {
    private let certificates: Set<X509Certificate>

    /// - Parameter certificates: the inventory.
    public init(_ certificates: Set<X509Certificate>) { self.certificates = certificates }

    /// Shows the one path that there can be: the listed certificate itself.
    public func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        do throws(TrustFailure) {
            // The inventory is what checks this path; nothing else has.
            let path = ValidatedPath(uncheckedLeaf: try listed(chain.leaf))
            guard let leaf = path.leaf, leaf.notBefore <= time, time < path.holdsUntil else {
                throw TrustFailure(.expired, expected: "a certificate that is valid at \(time)", found: "another")
            }
            if case .server(let host?) = purpose, !leaf.subjectAlternativeNames.contains(.dNSName(host.name)) {
                throw TrustFailure(.hostNameMismatch, expected: "a certificate for \(host)", found: "\(leaf.subject)")
            }
            // Not accepting a valid path, for lack of a pin for example, is no failure of the validation.
            return accepting(path)
                ? ValidationOutcome(path: path, failure: nil)
                : ValidationOutcome(path: nil, otherPaths: [path], failure: nil)
        } catch {
            return ValidationOutcome(path: nil, failure: error)
        }
    }

    private func listed(_ leaf: [UInt8]?) throws(TrustFailure) -> X509Certificate {
        guard let leaf, let certificate = try? X509Certificate(der: leaf), certificates.contains(certificate) else {
            throw TrustFailure(
                .notInInventory, expected: "a certificate of the inventory", found: "another",
                remedy: "Add the certificate to the inventory.")
        }
        return certificate
    }
}
