import Foundation
import Holdfast
import HoldfastSigning
package import ServerFoundation
package import ServerModel
import ServerStore

extension Takeover {
    /// Takes over a signed list of fingerprints with its signing key.
    /// - Parameters:
    ///   - list: the list; each of its entries must be signed by the key.
    ///   - pem: the private key in PEM.
    ///   - password: the password of an encrypted key.
    ///   - name: the name of the app.
    ///   - now: seconds since 1970; expired entries are left out.
    ///   - refresh: the number of seconds after which clients request an update.
    /// - Throws: ``ServerError``.
    package init(
        list: [UInt8], key pem: String, password: [UInt8]?, as name: AppName, at now: Int64, refresh: Int64
    ) throws(ServerError) {
        let (key, base64) = try ServerError.translating(.invalidValue, of: "key") { () throws(SigningError) in
            let key = try SigningKey(pem: pem, password: password)
            return (key, try key.publicKey.base64)
        }
        let read = try ServerError.translating(.invalidSignature, of: "list") { () throws(DocumentError) in
            try FingerprintList(verifying: Data(list), with: DocumentPublicKey(base64: base64))
        }
        var hosts: [String: [Certificate]] = [:]
        var expired = 0
        for entry in read.entries {
            guard ContentHost.isName(entry.name.utf8), let digest = Digest(bytes: Array(entry.pin.digest)) else {
                throw ServerError(
                    .invalidValue, of: "list", expected: "names in lower case, ASCII", found: "another name")
            }
            // The last second at which the entry is valid.
            let end = Int64(entry.end.timeIntervalSince1970) - 1
            guard end >= now else {
                expired += 1
                continue
            }
            hosts[entry.name, default: []].append(
                Certificate(digest: digest, depth: Int64(entry.depth), expires: min(end, UTCText.range.upperBound)))
        }
        var contents: [ContentHost] = []
        for (name, certificates) in hosts {
            contents.append(try ContentHost(name: name, certificates: Self.latest(certificates)))
        }
        let isEncrypted = Array(pem.utf8).contains(Array("ENCRYPTED".utf8))
        try self.init(
            "list",
            [
                App(
                    name,
                    keys: [
                        Key(
                            purpose: .fingerprints, certificate: nil, configured: base64,
                            wasInPlainText: !isEncrypted, pem: key.pem)
                    ], hosts: contents, formats: [try ContentFormat(.list, refresh: refresh)],
                    notes: (expired == 0 ? [] : ["\(expired) entries were left out, because they have expired"])
                        + ["clients ask for the list where it was: let that address lead to lists/\(name).json"])
            ])
    }

    private struct Certificate {
        let digest: Digest
        let depth: Int64
        let expires: Int64
    }

    /// A list may contain a certificate several times, and clients trust it until the latest of its ends.
    private static func latest(_ certificates: [Certificate]) throws(ServerError) -> [ContentHost.Certificate] {
        var latest: [[UInt8]: Certificate] = [:]
        for certificate in certificates {
            let place = [UInt8(clamping: certificate.depth)] + certificate.digest.bytes
            if let known = latest[place], known.expires >= certificate.expires { continue }
            latest[place] = certificate
        }
        var all: [ContentHost.Certificate] = []
        for certificate in latest.values {
            all.append(
                try ContentHost.Certificate(
                    fingerprint: certificate.digest, depth: certificate.depth, expires: certificate.expires))
        }
        return all
    }

    /// The parts of a pin file that a content supports. Any other field is an error.
    private struct Pins: Decodable {
        struct Host: Decodable {
            let host: String
            let includeSubdomains: Bool?
            let retired: Bool?
            let ports: [Int64]?
            let mode: String?
            let require: String?
            let onExpiry: String?
            let pins: [Pin]?
            let report: Report?
        }

        struct Pin: Decodable {
            let pin: String
            let role: String?
            let state: String?
            let notAfter: String?
        }

        struct Report: Decodable {}

        let hosts: [Host]
        let debugAnchors: [String]?
    }

    /// Takes over a pin file. It has no key: the signature of the build covers it.
    /// - Parameters:
    ///   - file: the pin file.
    ///   - name: the name of the app.
    ///   - refresh: the number of seconds after which clients request an update.
    /// - Throws: ``ServerError`` `notPublishable` for data that contents do not support, such as a mode or a report.
    package init(pins file: [UInt8], as name: AppName, refresh: Int64) throws(ServerError) {
        let format = try ContentFormat(
            .pinFile, refresh: refresh, application: try Self.application(ofPins: file, as: name))
        try self.init("pins", [App(name, hosts: try Self.hosts(ofPins: file), formats: [format])])
    }

    /// The application that a pin file names; nil if it names none, or the name that the app has here.
    package static func application(ofPins file: [UInt8], as name: AppName) throws(ServerError) -> String? {
        let read = try ServerError.translating(.invalidValue, of: "pin file") { () throws(PinFileError) in
            try PinFile(json: Data(file))
        }
        return read.app.flatMap { $0.utf8.elementsEqual("\(name)".utf8) ? nil : $0 }
    }

    /// The hosts of a valid pin file.
    package static func hosts(ofPins file: [UInt8]) throws(ServerError) -> [ContentHost] {
        guard let pins = try? JSONDecoder().decode(Pins.self, from: Data(file)) else {
            throw ServerError(.invalidValue, of: "pin file", expected: "hosts with pins", found: "something else")
        }
        func refuse(_ what: String, _ isThere: Bool) throws(ServerError) {
            guard isThere else { return }
            throw ServerError(
                .notPublishable, of: "pin file", expected: "hosts with pins that are enforced", found: what,
                remedy: "Take it out of the file, or keep this file out of the server.")
        }
        try refuse("debug anchors", pins.debugAnchors?.isEmpty == false)
        var hosts: [ContentHost] = []
        for host in pins.hosts {
            try refuse("a retired host", host.retired == true)
            try refuse("a mode", (host.mode ?? "enforce") != "enforce")
            try refuse("a requirement", (host.require ?? "any") != "any")
            try refuse("what follows the end", (host.onExpiry ?? "failClosed") != "failClosed")
            try refuse("a report", host.report != nil)
            var keys: [ContentHost.Key] = []
            for pin in host.pins ?? [] {
                try refuse("a pin with an end", pin.notAfter != nil)
                let digits = pin.pin.utf8.dropFirst("sha256/".utf8.count)
                guard let digest = Base64.decode(digits).flatMap({ Digest(bytes: $0) }),
                    let role = ContentHost.Key.Role(bytes: (pin.role ?? "leaf").utf8),
                    let state = ContentHost.Key.State(bytes: (pin.state ?? "active").utf8)
                else {
                    throw ServerError(
                        .invalidValue, of: "pin file", expected: "pins as sha256/BASE64", found: "another pin")
                }
                keys.append(ContentHost.Key(pin: digest, role: role, state: state))
            }
            let name = host.includeSubdomains == true ? "**.\(host.host)" : host.host
            for port in host.ports ?? [443] {
                hosts.append(try ContentHost(name: name, port: port, keys: keys))
            }
        }
        return hosts
    }
}
