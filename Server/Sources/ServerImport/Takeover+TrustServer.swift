package import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
package import ServerFoundation
import ServerModel
import ServerStore

extension Takeover {
    private static let maximumDocument = 64 << 20
    private static let maximumFile = 1 << 20
    private static let suffix = ".json.signed"

    /// Takes over a trust server: each customer of `holdfastctl trust-server`, or of the published script, whose files
    /// have the same names. The content comes from the signed document, and later timestamps continue from it.
    /// - Parameters:
    ///   - folder: the folder with `data` and `output`, and with `certs` if the script made the keys.
    ///   - name: the name of the app; nil for that of the customer.
    ///   - now: seconds since 1970.
    ///   - end: the last second at which documents may be signed; certificates are valid until then if their documents
    ///     have no expiry.
    /// - Throws: ``ServerError``: for a document not signed with its own key, and for one with a time in the future,
    ///   which clients would prefer to all documents signed here.
    package init(
        trustServer folder: URL, as name: AppName?, at now: Int64, until end: Int64
    ) throws(ServerError) {
        let output = folder.appending(path: "output")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: output.path)) ?? []
        let customers = names.filter { $0.hasSuffix(Self.suffix) }.map { String($0.dropLast(Self.suffix.count)) }
            .sorted()
        guard name == nil || customers.count == 1 else {
            throw ServerError(
                .invalidValue, of: "app", expected: "one customer", found: "\(customers.count)",
                remedy: "Leave the name out: each app is called like its customer.")
        }
        var apps: [App] = []
        for customer in customers {
            apps.append(try Self.app(customer, in: folder, as: name, at: now, until: end))
        }
        try self.init("trust-server", apps)
    }

    private static func app(
        _ customer: String, in folder: URL, as name: AppName?, at now: Int64, until end: Int64
    ) throws(ServerError) -> App {
        let (data, output) = (folder.appending(path: "data"), folder.appending(path: "output"))
        guard let app = name ?? AppName(bytes: customer.utf8) else {
            throw ServerError(
                .invalidValue, of: "customer", expected: "2 to 255 letters, digits, hyphens and underscores",
                found: "another name", remedy: "Name the app with --app.")
        }
        let key = try key(of: customer, in: folder)
        let file = output.appending(path: customer + suffix)
        guard let signed = try WholeFile.read(file, limit: maximumDocument) else {
            throw ServerError(.file, of: file.path, expected: "a signed document", found: "none")
        }
        let document = try ServerError.translating(.invalidSignature, of: file.path) { () throws(DocumentError) in
            try PublishedDocument(reading: Data(signed), by: key, customer: customer)
        }
        guard Int64(document.timestamp.timeIntervalSince1970) <= now else {
            throw ServerError(
                .outOfTurn, of: file.path, expected: "a document from before now", found: "one from the future",
                remedy: "Its clients refuse older documents. Correct the clocks, and wait until that time has passed.")
        }
        var (hosts, publicKeys): ([ContentHost], [[UInt8]]) = ([], [])
        for entry in document.entries {
            let (host, keys) = try self.host(entry, in: file, until: end)
            hosts.append(host)
            publicKeys += keys
        }
        let known = Set(hosts.map { "\($0.name):\($0.port)" })
        let missing = listed(in: data.appending(path: "\(customer).domains")).filter { !known.contains($0) }
        return App(
            app,
            keys: [
                Key(
                    purpose: .trustServer, certificate: Array(key.certificate),
                    configured: Base64.encode(key.certificate), wasInPlainText: true, pem: key.privateKeyPEM)
            ], hosts: hosts, formats: [try ContentFormat(.trustServer, refresh: 300, customer: customer)],
            publicKeys: publicKeys,
            notes: missing.map { "\($0) is in the list of hosts and not in the document: add it with host add" })
    }

    private static func key(of customer: String, in folder: URL) throws(ServerError) -> TrustServerKey {
        let files = ["data", "certs"].map { folder.appending(path: "\($0)/\(customer).key") }
        let file = files.first { FileManager.default.fileExists(atPath: $0.path) } ?? files[0]
        let pem = String(decoding: try PrivateInput.file(file, limit: maximumFile), as: UTF8.self)
        let output = folder.appending(path: "output")
        var certificate: [UInt8]?
        for name in ["\(customer).crt", "\(customer).pem"] where certificate == nil {
            certificate = try WholeFile.read(output.appending(path: name), limit: maximumFile)
        }
        guard let certificate else {
            throw ServerError(
                .file, of: output.appending(path: "\(customer).crt").path,
                expected: "the certificate that clients are configured with", found: "none")
        }
        return try ServerError.translating(.invalidValue, of: file.path) { () throws(SigningError) in
            try TrustServerKey(certificate: Data(certificate), privateKeyPEM: pem)
        }
    }

    private static func host(
        _ entry: TrustServerHost, in file: URL, until end: Int64
    ) throws(ServerError) -> (ContentHost, [[UInt8]]) {
        let isName = ContentHost.isName(entry.hostname.utf8)
        let subject = "\(file.path), host \(isName ? entry.hostname : "with a strange name")"
        func invalid(_ expected: String) -> ServerError {
            ServerError(
                .invalidValue, of: subject, expected: expected, found: "another value",
                remedy: "Correct the list of hosts, and sign a document with it first.")
        }
        guard isName else { throw invalid("names in lower case, ASCII") }
        var (certificates, keys, bytes): ([ContentHost.Certificate], [ContentHost.Key], [[UInt8]]) = ([], [], [])
        var known: Set<Digest> = []
        for text in entry.fingerprints {
            guard text.utf8.count == 64, let digest = Digest(hex: text.utf8.map(Self.lowercased)) else {
                throw invalid("fingerprints of 64 hexadecimal digits")
            }
            guard known.insert(digest).inserted else { continue }
            certificates.append(try ContentHost.Certificate(fingerprint: digest, expires: end))
        }
        for text in entry.publicKeys {
            guard let key = Base64.decode(text.utf8), (try? SubjectPublicKeyInfo(der: key)) != nil else {
                throw invalid("keys as the Base64 of a SubjectPublicKeyInfo")
            }
            guard known.insert(Digest(of: key)).inserted else { continue }
            keys.append(ContentHost.Key(pin: Digest(of: key)))
            bytes.append(key)
        }
        let host = try ContentHost(
            name: entry.hostname, port: Int64(entry.port), certificates: certificates, keys: keys)
        return (host, bytes)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte) ? byte | 0x20 : byte
    }

    /// The hosts in a list, as `NAME:PORT`, for notes only.
    private static func listed(in file: URL) -> [String] {
        guard let bytes = (try? WholeFile.read(file, limit: maximumFile)) ?? nil else { return [] }
        return bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).compactMap { line in
            let text = line.prefix { $0 != UInt8(ascii: "#") }.filter { $0 != 0x20 && $0 != 0x09 }
            guard ASCIIText.isPrintable(text, 1...300) else { return nil }
            let name = String(decoding: text, as: UTF8.self)
            return text.contains(UInt8(ascii: ":")) ? name : "\(name):443"
        }
    }
}
