import Foundation

/// Section 5.7: what a target is called in the repository, and whether it is what came.
struct TargetDownload {
    let target: TUFTarget
    let consistentSnapshot: Bool
    let settings: TUFSettings

    /// Section 5.7.1: `HASH.NAME` under consistent snapshots, in the folder of the name.
    func file() throws(TUFError) -> RepositoryFile {
        let octets = Array(target.name.utf8)
        let parts = octets.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isUsable = parts.allSatisfy { !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
        guard isUsable, let last = parts.last, !last.isEmpty else {
            throw TUFError(
                .unusableName, of: octets.quotedName, section: "5.7.1",
                expected: "a name without `.` and `..`, and with something behind its last slash",
                found: octets.quotedName)
        }
        let folders = parts.dropLast().map { QuotedName.path($0) + "/" }.joined()
        let prefix = consistentSnapshot ? target.description.prefix.map { $0 + "." } ?? "" : ""
        return RepositoryFile(kind: .target, path: folders + prefix + QuotedName.path(last))
    }

    /// How many bytes are taken at most: as many as the metadata says.
    func limit() throws(TUFError) -> Int {
        guard target.length <= settings.targetBytes else {
            throw TUFError(
                .tooLarge, of: target.quotedName, section: "5.7", expected: "at most \(settings.targetBytes) bytes",
                found: "\(target.length)")
        }
        return target.length
    }

    /// Section 5.7.2: length and hashes.
    func verify(_ octets: [UInt8]) throws(TUFError) {
        try target.description.verify(octets, subject: target.quotedName, section: "5.7.2")
    }
}
