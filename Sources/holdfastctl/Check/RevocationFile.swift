import Foundation
import Holdfast

/// Reads revocation lists from files: DER, or PEM with any number of them.
enum RevocationFile {
    /// Reads the lists of all files, in their order.
    static func lists(from paths: [String]) throws(CommandFailure) -> [CertificateRevocationList] {
        var lists: [CertificateRevocationList] = []
        for path in paths { lists += try read(path) }
        return lists
    }

    private static func read(_ path: String) throws(CommandFailure) -> [CertificateRevocationList] {
        let data = try InputFile.content(of: path, maximumBytes: CertificateRevocationList.maximumBytes)
        let isPEM = data.range(of: Data("-----BEGIN ".utf8)) != nil
        let blocks =
            isPEM ? PEMBlocks.read(data).filter { $0.label == "X509 CRL" }.map(\.content) : [.success([UInt8](data))]
        guard !blocks.isEmpty else { throw unreadable(path, "expected a revocation list, found other PEM blocks only") }
        var lists: [CertificateRevocationList] = []
        for block in blocks {
            switch block {
            case .failure(let problem): throw unreadable(path, problem.text)
            case .success(let der):
                do throws(CertificateError) {
                    lists.append(try CertificateRevocationList(der: der))
                } catch {
                    throw unreadable(path, "\(error)")
                }
            }
        }
        return lists
    }

    private static func unreadable(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(.unreadableFile, "\(path): \(reason)")
    }
}
