package import Foundation
import Holdfast

extension RolloverInputs.Candidate {
    /// The candidates in a file with certificates, keys or requests that servers may present in the future.
    /// - Parameters:
    ///   - data: the file, PEM or DER.
    ///   - name: its name.
    ///   - pinsCertificates: whether clients pin certificates, so that a key alone is not enough.
    /// - Throws: ``PublishingError`` `invalidInput` if the file has no candidate.
    package static func candidates(
        in data: Data, named name: String, pinsCertificates: Bool
    ) throws(PublishingError) -> [Self] {
        let entries = try PublicKeyFile(data, path: name).read().entries.filter { !$0.isIssuer }
        guard !entries.isEmpty, !pinsCertificates || entries.allSatisfy({ $0.certificatePin != nil }) else {
            let thing = pinsCertificates ? "certificate" : "key"
            throw PublishingError(
                .invalidInput, of: name, expected: "a \(thing) of a server", found: "none",
                remedy: "Name what will be deployed; lists and documents of trust servers pin certificates.")
        }
        guard entries.contains(where: { $0.kind == .certificate }) else {
            return try entries.map { entry throws(PublishingError) in
                Self(name, keyPin: try PublicKeyFile.pin(entry.keyPin, in: name))
            }
        }
        do throws(CertificateFileError) {
            return [Self(name, chain: try CertificateFile.certificates(in: data, named: name).map { Data($0.der) })]
        } catch {
            throw PublishingError(
                .unreadable, of: name, expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }
}

extension RolloverInputs {
    /// Retires the pin that a text states.
    /// - Returns: whether it is a pin. Otherwise it is the name of a file.
    package mutating func retire(pin text: String) -> Bool {
        guard let pin = try? Pin(text) else { return false }
        retiring.insert(pin)
        return true
    }

    /// Retires the certificates and keys of a file, except those of issuers.
    package mutating func retire(_ data: Data, named name: String) throws(PublishingError) {
        for entry in try PublicKeyFile(data, path: name).read().entries where !entry.isIssuer {
            for pin in [entry.keyPin, entry.certificatePin].compactMap(\.self) {
                retiring.insert(try PublicKeyFile.pin(pin, in: name))
            }
        }
    }
}

extension PublicKeyFile {
    /// Parses the pin of an entry.
    fileprivate static func pin(_ text: String, in name: String) throws(PublishingError) -> Pin {
        do throws(PinError) {
            return try Pin(text)
        } catch {
            throw PublishingError(.unreadable, of: name, expected: error.expected, found: error.found)
        }
    }
}
