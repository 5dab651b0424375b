public import Foundation

/// A source of certificates to pin.
///
/// Everything is read and parsed when a policy is made, never during a handshake. A file that does not parse is an
/// error that names it; a PEM file without certificates is skipped with a line in the log.
public struct CertificateSource: CustomStringConvertible {
    private enum Origin {
        case bundle(Bundle, endings: [String])
        case folder(URL, endings: [String])
        case files([URL])
        case certificates([[UInt8]])
    }

    /// The file extension that GCXTrustPolicy reads from bundles.
    public static let bundleEndings = ["cer"]
    /// The endings of certificates in folders.
    public static let folderEndings = ["cer", "crt", "der", "pem"]
    /// The maximum number of files that are read from a folder or bundle.
    package static let maximumFiles = 10_000

    private let origin: Origin

    /// Every certificate among the resources of a bundle.
    /// - Parameters:
    ///   - bundle: the bundle.
    ///   - endings: the endings of the files to read, without the dot.
    /// - Returns: a source that has read nothing yet.
    public static func bundle(_ bundle: Bundle, endings: [String] = bundleEndings) -> CertificateSource {
        CertificateSource(origin: .bundle(bundle, endings: endings))
    }

    /// Every certificate in a folder, but not in folders below it.
    /// - Parameters:
    ///   - folder: the folder.
    ///   - endings: the endings of the files to read, without the dot and in lower case.
    /// - Returns: a source that has read nothing yet.
    public static func folder(_ folder: URL, endings: [String] = folderEndings) -> CertificateSource {
        CertificateSource(origin: .folder(folder, endings: endings))
    }

    /// Every certificate of these files, in DER or PEM, whatever their endings.
    public static func files(_ files: [URL]) -> CertificateSource { CertificateSource(origin: .files(files)) }

    /// Certificates in memory.
    /// - Parameter certificates: DER, one certificate each.
    /// - Returns: a source that has read nothing yet.
    public static func data(_ certificates: [Data]) -> CertificateSource {
        CertificateSource(origin: .certificates(certificates.map { Array($0) }))
    }

    /// Certificates in memory.
    /// - Parameter certificates: DER, one certificate each.
    /// - Returns: a source that has read nothing yet.
    public static func der(_ certificates: [[UInt8]]) -> CertificateSource {
        CertificateSource(origin: .certificates(certificates))
    }

    /// Reads the certificates, files in the order of their names; it blocks on the file system.
    /// - Returns: the certificates; empty if the source has none.
    /// - Throws: ``CertificateFileError`` naming the first file that cannot be read.
    public func read() throws(CertificateFileError) -> [X509Certificate] { try read(log: .shared) }

    package func read(log: PolicyLog) throws(CertificateFileError) -> [X509Certificate] {
        var found: [X509Certificate] = []
        if case .certificates(let all) = origin {
            for (position, der) in all.enumerated() {
                do throws(CertificateError) {
                    found.append(try X509Certificate(der: der))
                } catch {
                    throw CertificateFileError(
                        .notACertificate, file: "certificate \(position + 1) of \(all.count)", expected: error.expected,
                        found: error.found)
                }
            }
            return found
        }
        for file in try files() {
            let certificates = try CertificateFile.read(file)
            if certificates.isEmpty { log.fileWithoutCertificates(file.path) }
            found += certificates
        }
        return found
    }

    /// Names the source in messages.
    public var description: String {
        switch origin {
        case .bundle(let bundle, let endings): "bundle \(bundle.bundlePath) (\(Self.text(endings)))"
        case .folder(let folder, let endings): "folder \(folder.path) (\(Self.text(endings)))"
        case .files(let files): "files \(files.map(\.path).joined(separator: ", "))"
        case .certificates(let certificates): "a list of \(certificates.count)"
        }
    }

    private static func text(_ endings: [String]) -> String { endings.map { "*.\($0)" }.joined(separator: " ") }

    private func files() throws(CertificateFileError) -> [URL] {
        switch origin {
        case .bundle(let bundle, let endings):
            let found = endings.flatMap { bundle.paths(forResourcesOfType: $0, inDirectory: nil) }
            return try Self.sorted(found.map { URL(fileURLWithPath: $0) }, of: bundle.bundlePath)
        case .folder(let folder, let endings):
            do {
                // Uses the path: with the URL of a file, Foundation returns an empty folder.
                let all = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                let wanted = all.map { folder.appending(path: $0) }
                    .filter { endings.contains($0.pathExtension.lowercased()) }
                return try Self.sorted(wanted, of: folder.path)
            } catch let error as CertificateFileError {
                throw error
            } catch {
                throw CertificateFileError(
                    .unreadable, file: folder.path, expected: "a folder that can be read",
                    found: AtomicFile.reason(error, at: folder.path))
            }
        case .files(let files): return files
        case .certificates: return []
        }
    }

    private static func sorted(_ files: [URL], of place: String) throws(CertificateFileError) -> [URL] {
        guard files.count <= maximumFiles else {
            throw CertificateFileError(
                .tooLarge, file: place, expected: "at most \(maximumFiles) files of certificates",
                found: "\(files.count)")
        }
        // Reading a pipe or a socket could block forever.
        for file in files {
            let values = try? file.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey])
            guard values?.isRegularFile == true else {
                throw CertificateFileError(
                    .unreadable, file: file.path, expected: "a file that can be read", found: "none, or no file")
            }
        }
        return files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
