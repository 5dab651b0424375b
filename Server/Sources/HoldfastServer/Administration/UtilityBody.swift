import Foundation
import Holdfast

/// Reads the bodies of the reference's administration, as its tools write them. Each member is known, and there once.
enum UtilityBody {
    /// A certificate, and the host that it is for.
    struct HostCertificate: Sendable {
        /// The name of the host.
        let domain: String
        let certificate: ContentHost.Certificate
    }

    /// More domains than any app has.
    private static let greatestDomains = 10_000

    /// The members of a body.
    /// - Throws: ``ServerError`` `malformed` for what is not one object of JSON.
    static func fields(_ body: [UInt8]) throws(ServerError) -> JSONFields {
        try JSONFields(try JSONReader.read(body, "body", limit: AdministrationCall.greatestBody), "")
    }

    /// `{"pem","domain","depth"}`; without a domain it is for its common name.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    static func certificate(_ fields: inout JSONFields) throws(ServerError) -> HostCertificate {
        let pem = try fields.text("pem")
        let domain = try fields.optionalText("domain")
        let depth = try fields.optionalInteger("depth", in: 0...16) ?? 0
        try fields.finish()
        guard let der = PEMText.blocks("CERTIFICATE", of: pem)?.first, let read = try? X509Certificate(der: der) else {
            throw fields.invalid("pem", "a certificate in PEM")
        }
        guard !read.isMerkleTreeCertificate else {
            throw fields.invalid(
                "pem", "a certificate of one form; of a Merkle Tree Certificate only the key is pinned")
        }
        guard let name = domain ?? read.subject.commonName.map({ Array($0.utf8) }), ContentHost.isName(name) else {
            throw fields.invalid(
                "domain", "a host name in lower case, or a certificate with one as its common name")
        }
        return HostCertificate(
            domain: String(decoding: name, as: UTF8.self),
            certificate: try ContentHost.Certificate(
                fingerprint: Digest(of: der), depth: depth, expires: Int64(read.notAfter.timeIntervalSince1970)))
    }

    /// `{"domain"}`
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    static func domain(_ fields: inout JSONFields) throws(ServerError) -> [UInt8] {
        let name = try fields.text("domain", "a host name in lower case") { ContentHost.isName($0) ? $0 : nil }
        try fields.finish()
        return name
    }

    /// `["DOMAIN", …]`, an array and no object, as nowhere else in the reference.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    static func domains(_ body: [UInt8]) throws(ServerError) -> [String] {
        guard
            case .array(let names) = try JSONReader.read(body, "body", limit: AdministrationCall.greatestBody),
            names.count <= greatestDomains
        else {
            throw ServerError(
                .malformed, of: "body", expected: "an array of at most \(greatestDomains) host names",
                found: "another value")
        }
        return try names.map { name throws(ServerError) in
            guard case .text(let name) = name, ContentHost.isName(name) else {
                throw ServerError(
                    .invalidValue, of: "body", expected: "host names in lower case", found: "another value")
            }
            return String(decoding: name, as: UTF8.self)
        }
    }

    /// `{"platform","majorOsVersion","suggestedVersion","requiredVersion","messageKey"}`
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    static func version(_ fields: inout JSONFields) throws(ServerError) -> VersionRule {
        let platform = try fields.text("platform", "ANDROID or IOS") { VersionRule.Platform(octets: $0) }
        let system = try fields.optionalInteger("majorOsVersion", in: 0...999_999_999)
        func version(_ key: String) throws(ServerError) -> AppVersion? {
            guard let text = try fields.optionalText(key) else { return nil }
            guard let version = AppVersion(text) else { throw fields.invalid(key, "MAJOR.MINOR.PATCH") }
            return version
        }
        let (suggested, required) = (try version("suggestedVersion"), try version("requiredVersion"))
        let key = try fields.optionalText("messageKey").map { String(decoding: $0, as: UTF8.self) }
        try fields.finish()
        return try VersionRule(
            platform: platform, majorSystemVersion: system, suggested: suggested, required: required, messageKey: key)
    }

    /// `{"messageKey","language","text"}`
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    static func text(_ fields: inout JSONFields) throws(ServerError) -> LocalizedText {
        let (key, language, text) = (
            try fields.text("messageKey"), try fields.text("language"), try fields.text("text")
        )
        try fields.finish()
        return try LocalizedText(
            key: String(decoding: key, as: UTF8.self), language: String(decoding: language, as: UTF8.self),
            text: String(decoding: text, as: UTF8.self))
    }
}
