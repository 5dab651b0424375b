import Holdfast
import HoldfastSigning
package import ServerFoundation
import ServerModel
import ServerStore

extension MobileUtilityTables {
    /// A domain with its known certificates.
    private struct Domain {
        let host: ContentHost
        let expired: Int
        /// Whether it needs pins; nil if the old server did not specify it.
        let needsPins: Bool?

        /// Clients request nothing about a domain that needs no pins and has none.
        var isPinned: Bool { needsPins != false || !host.certificates.isEmpty }
    }

    /// The apps to take over, without expired certificates, which clients ignore.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - refresh: the number of seconds after which clients request an update.
    /// - Throws: ``ServerError``: for a private key that does not match the public key in its row, for a reference to a
    ///   missing row, for a fingerprint that does not match the certificate in its row, and for data that cannot be
    ///   published here.
    package func takeover(at now: Int64, refresh: Int64) throws(ServerError) -> Takeover {
        let ids = try Self.ids(of: rows(.app))
        let domains = try domains(of: ids, at: now)
        var names: Set<[UInt8]> = []
        var apps: [Takeover.App] = []
        for row in rows(.app) {
            let id = try row.number("id")
            let name = try row.value("name", "2 to 255 letters, digits, hyphens and underscores") {
                AppName(bytes: $0)
            }
            guard names.insert(Array("\(name)".utf8)).inserted else {
                throw row.error("name", "each app once", found: "a name that is there twice")
            }
            let own = domains[id] ?? []
            let expired = own.reduce(0) { $0 + $1.expired }
            apps.append(
                Takeover.App(
                    name, displayName: try row.text("display_name", 1...255), keys: [try Self.key(row)],
                    hosts: own.filter(\.isPinned).map(\.host),
                    formats: [try ContentFormat(.challenge, refresh: refresh)], domains: try Self.needs(of: own),
                    notes: expired == 0 ? [] : ["\(expired) certificates were left out, because they have expired"]))
        }
        return try Takeover("mobile-utility-server", apps)
    }

    /// The additional data in the answers of version 2.0 of the other server: all its domains, and that others need
    /// pins.
    private static func needs(of domains: [Domain]) throws(ServerError) -> ContentDomains? {
        guard !domains.isEmpty, domains.allSatisfy({ $0.needsPins != nil }) else { return nil }
        return try ContentDomains(
            unlistedNeedPins: true,
            domains: domains.map { domain throws(ServerError) in
                try ContentDomains.Domain(name: domain.host.name, needsPins: domain.needsPins ?? true)
            })
    }

    // MARK: Rows

    private static func ids(of rows: [CSVTable.Row]) throws(ServerError) -> Set<Int64> {
        var ids: Set<Int64> = []
        for row in rows {
            guard ids.insert(try row.number("id")).inserted else {
                throw row.error("id", "each id once", found: "one that is there twice")
            }
        }
        return ids
    }

    /// The id in a column that refers to a row of another table.
    private static func reference(
        _ row: CSVTable.Row, _ column: String, to ids: Set<Int64>, of table: Table
    ) throws(ServerError) -> Int64 {
        let id = try row.number(column)
        guard ids.contains(id) else {
            throw row.error(
                column, "an id of \(table.rawValue)", found: "one that is not there",
                "Export all tables at the same time, from one transaction.")
        }
        return id
    }

    /// The key, if it matches the public key in its row: with any other, every app in the field would be lost.
    private static func key(_ row: CSVTable.Row) throws(ServerError) -> Takeover.Key {
        let number = try row.text("sign_private_key", 1...64)
        let key: SigningKey
        do throws(SigningError) {
            key = try SigningKey(exportedPrivateKey: number)
        } catch {
            throw row.error(
                "sign_private_key", "Base64 of the number of a P-256 private key, 31 to 33 bytes as a rule",
                "If the old server encrypts its keys, decrypt them first; its manual says how.")
        }
        let point = try row.value("sign_public_key", "Base64 of a point of P-256, 65 bytes") { bytes in
            Base64.decode(bytes).flatMap { $0.count == 65 && $0.first == 0x04 ? $0 : nil }
        }
        let own = try ServerError.translating(.invalidValue, of: "key") { () throws(SigningError) in
            try key.publicKey.base64
        }
        guard own.utf8.elementsEqual(Base64.encode(point).utf8) else {
            throw row.error(
                "sign_public_key", "the public key of the private key beside it", found: "that of another",
                "Find out with which public key the apps were built: this row signs what they refuse.")
        }
        return Takeover.Key(
            purpose: .fingerprints, certificate: nil, configured: own, wasInPlainText: true, pem: key.pem)
    }

    private func domains(of apps: Set<Int64>, at now: Int64) throws(ServerError) -> [Int64: [Domain]] {
        let ids = try Self.ids(of: rows(.domain))
        var certificates: [Int64: [ContentHost.Certificate]] = [:]
        var expired: [Int64: Int] = [:]
        _ = try Self.ids(of: rows(.certificate))
        for row in rows(.certificate) {
            let domain = try Self.reference(row, "mobile_domain_id", to: ids, of: .domain)
            let certificate = try Self.certificate(row)
            guard certificate.expires >= now else {
                expired[domain, default: 0] += 1
                continue
            }
            guard
                !(certificates[domain] ?? []).contains(where: {
                    $0.fingerprint == certificate.fingerprint && $0.depth == certificate.depth
                })
            else {
                throw row.error("fingerprint", "each certificate of a domain once", found: "one that is there twice")
            }
            certificates[domain, default: []].append(certificate)
        }
        var domains: [Int64: [Domain]] = [:]
        var names: [Int64: Set<[UInt8]>] = [:]
        for row in rows(.domain) {
            let app = try Self.reference(row, "app_id", to: apps, of: .app)
            let name = try row.value("domain", "a host name or *.name in lower case, ASCII") {
                ContentHost.isName($0) ? $0 : nil
            }
            guard names[app, default: []].insert(name).inserted else {
                throw row.error("domain", "each domain of an app once", found: "one that is there twice")
            }
            let id = try row.number("id")
            let host = try row.locating("domain") { () throws(ServerError) in
                try ContentHost(
                    name: String(decoding: name, as: UTF8.self), certificates: certificates[id] ?? [])
            }
            let needsPins = try row.optional("ssl_pinning_required", "t or f") { bytes in
                bytes == Array("t".utf8) ? true : bytes == Array("f".utf8) ? false : nil
            }
            domains[app, default: []].append(Domain(host: host, expired: expired[id] ?? 0, needsPins: needsPins))
        }
        return domains
    }

    private static func certificate(_ row: CSVTable.Row) throws(ServerError) -> ContentHost.Certificate {
        let fingerprint = try row.value("fingerprint", "Base64 of the SHA-256 of a certificate, 32 bytes") {
            Base64.decode($0).flatMap { Digest(bytes: $0) }
        }
        let pem = try row.optional("pem", "a certificate in PEM") { bytes in
            PEMText.blocks("CERTIFICATE", of: bytes)?.first
        }
        if let pem, Digest(of: pem) != fingerprint {
            throw row.error(
                "fingerprint", "that of the certificate in pem", found: "that of another",
                "Find out which of the two the host shows, and delete the row in the old server.")
        }
        let expires = try row.value("expires", "a time in seconds since 1970") { bytes in
            LineReader.number(bytes[...]).flatMap { UTCText.range.contains($0) ? $0 : nil }
        }
        let depth = try row.optional("depth", "a number") { LineReader.number($0[...]) }
        return try row.locating(depth == nil ? "expires" : "depth") { () throws(ServerError) in
            try ContentHost.Certificate(fingerprint: fingerprint, depth: depth ?? 0, expires: expires)
        }
    }
}
