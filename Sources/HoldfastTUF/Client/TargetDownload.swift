import Foundation

/// Section 5.7: where the repository has a target, and if the download matches the metadata.
struct TargetDownload {
    let target: TUFTarget
    let consistentSnapshot: Bool
    let settings: TUFSettings

    /// Section 5.7.1: with consistent snapshots, the file is `HASH.NAME` in the folder that the target's name states.
    func file() throws(TUFError) -> RepositoryFile {
        let octets = Array(target.name.utf8)
        let parts = octets.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isUsable = parts.allSatisfy { !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
        guard isUsable, let last = parts.last, !last.isEmpty else {
            throw TUFError(
                .unusableName, of: octets.quotedName, section: "5.7.1",
                expected: "a name without `.` and `..`, and with something after its last slash",
                found: octets.quotedName)
        }
        let folders = parts.dropLast().map { QuotedName.path($0) + "/" }.joined()
        let prefix = consistentSnapshot ? target.description.prefix.map { $0 + "." } ?? "" : ""
        return RepositoryFile(kind: .target, path: folders + prefix + QuotedName.path(last))
    }

    /// Maximum number of bytes: the length that the metadata states.
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
