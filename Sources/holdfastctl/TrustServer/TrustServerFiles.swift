import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// The files of a trust server, with the names that the published script gives them.
struct TrustServerFiles: Sendable {
    /// The private key; mode 0600.
    let key: URL
    /// The list of hosts, one per line.
    let domains: URL
    /// The memory of earlier rounds; mode 0600. It is next to the list, because the output folder is world-readable.
    let memory: URL
    /// The documents that rounds replaced while clients may hold them; mode 0600, next to the memory.
    let replaced: URL
    /// The signer's certificate in DER.
    let certificate: URL
    let certificatePEM: URL
    /// The signed document.
    let document: URL

    private let customer: String

    init(customer: String, data: String, output: String, domains: String? = nil, key: String? = nil) {
        self.customer = customer
        let domainsFile =
            domains.map { URL(fileURLWithPath: $0) }
            ?? URL(fileURLWithPath: data).appending(path: "\(customer).domains")
        let folder = domainsFile.deletingLastPathComponent()
        let publicFolder = URL(fileURLWithPath: output)
        self.domains = domainsFile
        let own = folder.appending(path: "\(customer).key")
        // The published script keeps the key here.
        let scripts = folder.deletingLastPathComponent().appending(path: "certs/\(customer).key")
        let isTakenOver = !Self.isThere(own) && Self.isThere(scripts)
        self.key = key.map { URL(fileURLWithPath: $0) } ?? (isTakenOver ? scripts : own)
        memory = folder.appending(path: TrustServerPath.memory(of: customer))
        replaced = folder.appending(path: TrustServerPath.replaced(of: customer))
        certificate = publicFolder.appending(path: "\(customer).crt")
        certificatePEM = publicFolder.appending(path: "\(customer).pem")
        document = publicFolder.appending(path: "\(customer).json.signed")
    }

    private static func isThere(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

    // MARK: Key

    /// Makes the key and the certificate of a customer that has neither them nor a document, and writes them.
    func makeKey(_ kind: TrustServerKey.Kind, at now: Date) throws(CommandFailure) -> TrustServerKey {
        guard existing.isEmpty else {
            let words = "--first-run makes a key, and \(Self.listed(existing)) there already"
            guard Self.isThere(key), Self.isThere(publishedCertificate) else {
                throw CommandFailure(.unwritableFile, "\(words): \(restoring(Self.missing(key, publishedCertificate)))")
            }
            throw CommandFailure(.unwritableFile, "\(words): leave out --first-run")
        }
        let made: TrustServerKey
        do throws(SigningError) {
            made = try TrustServerKey(customer: customer, kind: kind, at: now, lifetime: Self.lifetime)
        } catch {
            throw CommandFailure(.notSigned, "\(error)")
        }
        try write(made)
        return made
    }

    /// Twenty years: apps in the field contain the certificate.
    private static let lifetime = Duration.seconds(20 * 31_557_600)

    /// The existing files of a customer that has published.
    private var existing: [URL] { [key, certificate, certificatePEM, document].filter(Self.isThere) }

    private static func missing(_ files: URL...) -> [URL] { files.filter { !isThere($0) } }

    private static func listed(_ files: [URL]) -> String {
        files.map(\.path).joined(separator: " and ") + (files.count == 1 ? " is" : " are")
    }

    /// The remedy for missing files if others exist.
    private func restoring(_ missing: [URL]) -> String {
        func names(_ files: [URL]) -> String { files.map(\.path).joined(separator: " and ") }
        return "restore \(names(missing)) from a backup, and publish without --first-run, because apps accept only "
            + "what the key of their certificate signed. If no app is configured with a certificate of \(customer) yet, "
            + "remove \(names(existing)), and publish with --first-run"
    }

    private func write(_ key: TrustServerKey) throws(CommandFailure) {
        try makeFolder(certificate.deletingLastPathComponent(), mode: 0o755)
        try KeyFile(path: self.key.path).create(key.privateKeyPEM)
        do throws(CommandFailure) {
            try replace(certificate, with: key.certificate, permissions: 0o644)
            try replace(certificatePEM, with: Data(key.certificatePEM.utf8), permissions: 0o644)
        } catch {
            // A key without its certificate cannot sign, and would stop the next attempt.
            for file in [self.key, certificate] { try? FileManager.default.removeItem(at: file) }
            throw error
        }
    }

    /// The certificate in DER, or in PEM if only that exists.
    var publishedCertificate: URL {
        Self.isThere(certificate) || !Self.isThere(certificatePEM) ? certificate : certificatePEM
    }

    /// - Parameter canBeFirst: whether `--first-run` could be added to the options.
    func readKey(certificateFile: String?, canBeFirst: Bool) throws(CommandFailure) -> TrustServerKey {
        let certificateFile = certificateFile ?? publishedCertificate.path
        let missing = Self.missing(key, URL(filePath: certificateFile))
        guard missing.isEmpty else {
            let words = "\(Self.listed(missing)) not there, and nothing is signed without the key and its certificate"
            if !canBeFirst {
                let remedy = "restore what is missing from a backup, or name where it is with --key and --certificate"
                throw CommandFailure(.unreadableFile, "\(words): \(remedy)")
            }
            guard existing.isEmpty else {
                throw CommandFailure(.unreadableFile, "\(words): \(restoring(missing))")
            }
            throw CommandFailure(
                .unreadableFile,
                "\(words): restore them from a backup. If no app is configured with a certificate of \(customer) yet, "
                    + "publish with --first-run, which makes them")
        }
        let keyData = try KeyFile.content(of: key.path)
        try ForeignFile(keyData, path: key.path).refuse(wanting: .privateKey)
        let pem = String(decoding: keyData, as: UTF8.self)
        KeyFile.warnIfLoose(key.path)
        let certificate = try KeyFile.content(of: certificateFile)
        try ForeignFile(certificate, path: certificateFile).refuse(wanting: .certificate)
        do throws(SigningError) {
            return try TrustServerKey(certificate: certificate, privateKeyPEM: pem)
        } catch {
            throw CommandFailure(.unreadableFile, "\(key.path) with \(certificateFile): \(error)")
        }
    }

    // MARK: Hosts

    /// Reads the hosts of the list, each once, in their order.
    func readDomains() throws(CommandFailure) -> [DialedHost] {
        let data = try KeyFile.content(of: domains.path, maximumBytes: TrustServerHostList.maximumBytes)
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            try TrustServerHostList(data, named: domains.path).hosts
        }
    }

    // MARK: Documents

    /// The documents that rounds replaced while clients may still hold them.
    func replacedDocuments(
        signedBy certificate: Data, at now: Date
    ) throws(CommandFailure) -> EarlierDocuments {
        let path = replaced.path
        let gap = "clients may hold a document that a round has replaced, and nobody knows which: \(path)"
        // Every round creates the file.
        guard Self.isThere(replaced) else { return EarlierDocuments(gaps: ["\(gap) is not there"]) }
        let data = try InputFile.content(of: path, maximumBytes: TrustServerPath.maximumBytes)
        do throws(SigningError) {
            return try ReplacedDocuments(reading: data).earlier(signedBy: certificate, customer: customer, at: now)
        } catch {
            return EarlierDocuments(gaps: ["\(gap): \(error)"])
        }
    }

    private func makeFolder(_ folder: URL, mode: Int) throws(CommandFailure) {
        if FileManager.default.fileExists(atPath: folder.path) {
            guard KeyFile.isFolder(folder.path) else {
                throw CommandFailure(.unwritableFile, "\(folder.path) is not a folder: name another")
            }
            return
        }
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        } catch {
            throw CommandFailure(
                .unwritableFile, "\(folder.path) cannot be made: \(AtomicFile.reason(error, at: folder.path))")
        }
    }

    private func replace(_ file: URL, with data: Data, permissions: Int) throws(CommandFailure) {
        // A web server's folder is often reached through a link, which must stay.
        let file = try LinkedFile.target(of: file.path)
        do {
            // The name contains the process id, so that two commands never write the same file.
            let name = ".\(file.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier).new"
            try AtomicFile.replace(file, with: data, temporaryName: name, permissions: permissions)
        } catch {
            throw CommandFailure(
                .unwritableFile, "\(file.path) cannot be written: \(AtomicFile.reason(error, at: file.path))")
        }
    }
}

/// The files that a round reads and writes. The caller holds the lock.
extension TrustServerFiles: PublicationStorage {
    var name: String { document.deletingLastPathComponent().path }

    func data(at path: String, atMost limit: Int) throws(PublishingError) -> Data? {
        let file = try file(at: path)
        guard Self.isThere(file) else { return nil }
        do {
            return try AtomicFile.read(file, maximumBytes: limit, isOwn: true)
        } catch CocoaError.fileReadTooLarge {
            throw PublishingError(
                .unreadable, of: file.path, expected: "at most \(limit) bytes", found: "it has more than \(limit) bytes"
            )
        } catch {
            throw PublishingError(
                .unreadable, of: file.path, expected: "a file that can be read",
                found: AtomicFile.reason(error, at: file.path))
        }
    }

    func names(in folder: String) -> [String] {
        folder.isEmpty ? [memory, replaced, document].filter(Self.isThere).map(\.lastPathComponent) : []
    }

    func replace(_ path: String, _ old: Data?, with new: Data?) throws(PublishingError) -> Bool {
        let file = try file(at: path)
        guard try data(at: path, atMost: TrustServerPath.maximumBytes) == old else { return false }
        guard let new else {
            if old != nil { try? FileManager.default.removeItem(at: file) }
            return !Self.isThere(file)
        }
        do throws(CommandFailure) {
            if file == document { try makeFolder(document.deletingLastPathComponent(), mode: 0o755) }
            try replace(file, with: new, permissions: file == document ? 0o644 : 0o600)
        } catch {
            throw PublishingError(
                .unwritable, of: file.path, expected: "a file that can be replaced", found: error.message)
        }
        return true
    }

    private func file(at path: String) throws(PublishingError) -> URL {
        switch path {
        case TrustServerPath.memory(of: customer): return memory
        case TrustServerPath.replaced(of: customer): return replaced
        case TrustServerPath.document(of: customer): return document
        default:
            throw PublishingError(
                .unreadable, of: path, expected: "the memory, the document or the replaced documents of \(customer)",
                found: "another file")
        }
    }
}
