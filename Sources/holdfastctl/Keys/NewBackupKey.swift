import Foundation
import Holdfast
import HoldfastOutput
import HoldfastSigning

/// A new backup key, with the request for its certificate next to it.
struct NewBackupKey {
    let path: String

    /// The file of the request: next to the key, with the ending .csr.
    var request: String {
        URL(fileURLWithPath: path).deletingPathExtension().appendingPathExtension("csr").relativePath
    }

    /// - Throws: if one of the files exists already.
    func requireAbsence() throws(CommandFailure) {
        try KeyFile(path: path).requireAbsence()
        try KeyFile(path: request).requireAbsence()
    }

    /// Writes the key, not encrypted and with mode 0600, and the request.
    func create(for names: [HostPattern]) throws {
        let key = SigningKey()
        let draft = try CertificateRequestDraft(names: names)
        let text = try draft.pem(signedBy: key)
        try KeyFile(path: path).create(key.pem)
        do {
            try KeyFile(path: request).create(text)
        } catch {
            remove()
            throw error
        }
        Output.standard.remark(
            "note: \(path) is the backup key, not encrypted, and \(request) its certificate request: keep both offline, where "
                + "the server cannot lose them")
    }

    /// Removes both files if the pin file that names them was not written.
    func remove() {
        for file in [path, request] { try? FileManager.default.removeItem(atPath: file) }
    }
}
