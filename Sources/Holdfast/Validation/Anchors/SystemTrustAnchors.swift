public import Foundation

/// The locations of trusted certificates on Linux systems, and the code that reads them.
///
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` come first, as with OpenSSL: the former replaces the system's file, the latter (a
/// list separated by colons) its folders. Otherwise the first file that exists is used, and folders if no file exists.
package struct SystemTrustAnchors: Sendable {
    /// Bundles, by system: Debian and Alpine, the Fedora family, openSUSE, Alpine's libressl, FreeBSD.
    static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
    ]
    static let folders = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

    /// The maximum number of files of a folder that are read; Debian's contains about 300.
    static let maximumFilesPerFolder = 10_000

    /// The result of reading: the anchors, and the certificates and files that could not be read.
    package struct Reading: Sendable {
        /// The anchors.
        package let anchors: TrustAnchors
        /// The files and folders of the anchors.
        package let sources: [String]
        /// Certificates and files that were left out because they cannot be read, with the reasons.
        package let leftOut: [CertificateFileError]
    }

    private let environment: [String: String]
    private let root: URL

    /// Sets the locations to read.
    /// - Parameters:
    ///   - environment: the variables, of which `SSL_CERT_FILE` and `SSL_CERT_DIR` are used.
    ///   - root: the folder that stands for `/`; the environment's paths are used as they are.
    package init(environment: [String: String], root: URL = URL(fileURLWithPath: "/")) {
        self.environment = environment
        self.root = root
    }

    /// Reads the anchors. It blocks on the file system; ``TrustAnchors/system(environment:)`` does so on another
    /// thread.
    /// - Returns: the anchors, and the certificates and files that were left out.
    /// - Throws: ``TrustAnchorError`` if no anchor can be read.
    package func read() throws(TrustAnchorError) -> Reading {
        var certificates: [X509Certificate] = []
        var leftOut: [CertificateFileError] = []
        let sources = sources()
        for source in sources {
            for file in files(at: source) {
                read(file, into: &certificates, leavingOut: &leftOut)
            }
        }
        guard !certificates.isEmpty else {
            throw TrustAnchorError(
                .noneFound,
                expected: "certificates in one of \((sources.isEmpty ? looked : sources).joined(separator: ", "))",
                found: leftOut.first.map(\.description) ?? "none")
        }
        return Reading(anchors: TrustAnchors(certificates), sources: sources, leftOut: leftOut)
    }

    /// Reads a file. One bad certificate must not make the others of a bundle unusable: Holdfast cannot repair the
    /// system's store.
    private func read(
        _ file: URL, into certificates: inout [X509Certificate], leavingOut leftOut: inout [CertificateFileError]
    ) {
        let blocks: [Result<[UInt8], PEMBlocks.Problem>]
        do throws(CertificateFileError) {
            blocks = CertificateFile.blocks(of: try CertificateFile.content(of: file))
        } catch {
            leftOut.append(error)
            return
        }
        for (position, block) in blocks.enumerated() {
            do throws(CertificateFileError) {
                certificates.append(try CertificateFile.certificate(block, at: position, of: file.path))
            } catch {
                leftOut.append(error)
            }
        }
    }

    private var looked: [String] { Self.bundles + Self.folders }

    private func sources() -> [String] {
        let file = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        let folders = environment["SSL_CERT_DIR"]?.split(separator: ":").map(String.init) ?? []
        if file != nil || !folders.isEmpty { return [file].compactMap(\.self) + folders }
        let bundles = Self.bundles.map(rooted)
        if let bundle = bundles.first(where: { FileManager.default.fileExists(atPath: $0) }) { return [bundle] }
        return Self.folders.map(rooted).filter { FileManager.default.fileExists(atPath: $0) }
    }

    private func rooted(_ path: String) -> String { root.appending(path: String(path.dropFirst())).path }

    private func files(at path: String) -> [URL] {
        let url = URL(fileURLWithPath: path)
        guard isFolder(url) else { return [url] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().prefix(Self.maximumFilesPerFolder).map { url.appending(path: $0) }
            .filter(isFile)
    }

    /// Whether the URL is a regular file; reading a pipe or a socket could block forever.
    private func isFile(_ url: URL) -> Bool {
        let values = try? url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey])
        return values?.isRegularFile ?? false
    }

    private func isFolder(_ url: URL) -> Bool {
        // Entries of such folders are links to files in other folders.
        let values = try? url.resolvingSymlinksInPath().resourceValues(forKeys: [.isDirectoryKey])
        return values?.isDirectory ?? false
    }
}

extension TrustAnchors {
    /// Reads the anchors of a Linux system away from the caller's thread: the bundles and
    /// folders of the known distributions, or those that the environment names.
    /// - Parameter environment: the variables, of which `SSL_CERT_FILE` and `SSL_CERT_DIR` are used.
    /// - Throws: ``TrustAnchorError`` if no anchor can be read.
    @concurrent
    public static func system(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws(TrustAnchorError) -> TrustAnchors {
        try SystemTrustAnchors(environment: environment).read().anchors
    }
}

/// The reason why there are no anchors.
public struct TrustAnchorError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<TrustAnchorError>

    /// The reason.
    public let code: Code
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    /// States the reason why there are no anchors.
    package init(_ code: Code, expected: String, found: String) {
        self.code = code
        facts = ErrorFacts(
            expected: expected, found: found,
            remedy:
                "Install the system's CA certificates (package ca-certificates), set SSL_CERT_FILE or SSL_CERT_DIR, or "
                + "give anchors.")
    }
}

extension TrustAnchorError.Code {
    /// None of the locations that were searched has a readable certificate.
    public static var noneFound: Self { Self() }
}
