import Configuration
package import Foundation
import Holdfast
package import HoldfastProbe
package import Logging
package import PinPublication
package import ServerApprovals
package import ServerFoundation
package import ServerHTTP
import ServerModel
package import ServerStore

/// The settings of `serve`, from flags, environment variables and a file, in this order of precedence.
///
/// Every value is a text, and lists are separated by commas. Names are those of the flags; the variable of
/// `admin-listen` is `HOLDFAST_SERVER_ADMIN_LISTEN`.
package struct ServeSettings: Sendable {
    /// The names of the settings.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        /// The address and port for apps.
        case listen
        /// The address blocks of the proxies before the apps' listener that are trusted to state a client's address.
        case behindProxy = "behind-proxy"
        /// The certificates for apps, PEM.
        case tlsCertificate = "tls-certificate"
        /// The private key of these certificates, PEM.
        case tlsKey = "tls-key"
        /// The address and port for administrators and their tools.
        case adminListen = "admin-listen"
        /// The address blocks of the proxies before the administration that are trusted to state a client's address.
        case adminBehindProxy = "admin-behind-proxy"
        /// The certificates for the administration, PEM.
        case adminTLSCertificate = "admin-tls-certificate"
        /// The private key of these certificates, PEM.
        case adminTLSKey = "admin-tls-key"
        /// The origin of the pages in browsers.
        case adminOrigin = "admin-origin"
        /// Whether hosts are monitored.
        case watch
        /// The blocks of non-public addresses that may be monitored.
        case allow
        /// The name of the vantage from which hosts are observed.
        case vantage
        /// The minimum level of log lines.
        case logLevel = "log-level"
        /// The format of log lines.
        case logFormat = "log-format"
        /// The file of the secret.
        case secret
        /// The address of the database.
        case database
        /// The address that receives notices.
        case webhook
        /// The file of the secret that the receiver shares.
        case webhookSecret = "webhook-secret"
        /// The CAs for the receiver's certificate, PEM.
        case webhookCA = "webhook-ca"
        /// The program that receives notices.
        case onEvent = "on-event"
    }

    /// The format of log lines.
    package enum LogFormat: String, Sendable, Hashable, CaseIterable {
        /// Text for people: time, level, message, and names with values.
        case text
        /// One JSON object per line.
        case json
    }

    /// The listener for apps.
    package let listen: ListenerSettings
    /// The listener for administrators and their tools.
    package let adminListen: ListenerSettings
    /// The origin of the pages in browsers; nil if sign-in is disabled.
    package let adminOrigin: RelyingParty?
    /// Whether hosts are monitored.
    let watches: Bool
    /// The blocks of non-public addresses that may be monitored.
    package let allowed: [AddressBlock]
    /// The name of the vantage from which hosts are observed.
    package let vantage: String
    /// The minimum level of log lines.
    package let logLevel: Logger.Level
    /// The format of log lines.
    package let logFormat: LogFormat
    /// The file of the secret; nil for the one that `init` wrote.
    package let secret: URL?
    /// The address of the database; nil for the one in the folder.
    package let database: PostgreSQLAddress?
    /// The targets of notices.
    package let notices: NoticeSettings

    private static let prefix = "HOLDFAST_SERVER_"
    private static let maximumFile = 64 << 10

    /// Reads the settings.
    /// - Parameters:
    ///   - flags: the values from the command line.
    ///   - environment: the environment variables; those of other programs are ignored.
    ///   - file: a file with a JSON object; nil for none.
    /// - Throws: ``ServerError`` `invalidValue` or `file`, naming the invalid setting, the expected value, and the fix.
    ///   If one setting is invalid, none is used.
    package init(flags: [Name: String], environment: [String: String], file: URL?) async throws(ServerError) {
        try Self.requireKnown(environment)
        func key(_ name: Name) -> AbsoluteConfigKey { AbsoluteConfigKey([name.rawValue]) }
        func layer(_ values: [Name: String]) -> InMemoryProvider {
            InMemoryProvider(
                values: Dictionary(
                    uniqueKeysWithValues: values.map { (key($0), ConfigValue(.string($1), isSecret: false)) }))
        }
        let reader = ConfigReader(providers: [
            layer(flags),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: ["holdfast", "server"]),
            layer(try file.map(Self.read) ?? [:]),
        ])
        func text(_ name: Name) -> String? { reader.string(forKey: ConfigKey([name.rawValue])) }
        listen = try Self.listener(
            text(.listen) ?? "127.0.0.1:8080", .listen, proxies: try Self.blocks(text(.behindProxy), .behindProxy),
            try Self.identity((text(.tlsCertificate), .tlsCertificate), (text(.tlsKey), .tlsKey)))
        adminListen = try Self.listener(
            text(.adminListen) ?? "127.0.0.1:8081", .adminListen,
            proxies: try Self.blocks(text(.adminBehindProxy), .adminBehindProxy),
            try Self.identity((text(.adminTLSCertificate), .adminTLSCertificate), (text(.adminTLSKey), .adminTLSKey)))
        adminOrigin = try text(.adminOrigin).map { text throws(ServerError) in try RelyingParty(origin: text) }
        watches = try Self.flag(text(.watch), .watch) ?? true
        allowed = try Self.blocks(text(.allow), .allow)
        vantage = text(.vantage) ?? Vantage.usual
        try Vantage.require(vantage)
        guard let level = Logger.Level(rawValue: text(.logLevel) ?? "info") else {
            throw ServerError(
                .invalidValue, of: "log-level",
                expected: "one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))",
                found: "another text")
        }
        logLevel = level
        guard let format = LogFormat(rawValue: text(.logFormat) ?? LogFormat.text.rawValue) else {
            throw ServerError(
                .invalidValue, of: "log-format",
                expected: LogFormat.allCases.map(\.rawValue).joined(separator: " or "), found: "another text")
        }
        logFormat = format
        func path(_ name: Name) -> URL? { text(name).map { URL(filePath: $0) } }
        secret = path(.secret)
        database = try text(.database).map { text throws(ServerError) in try PostgreSQLAddress(text) }
        notices = try await NoticeSettings(
            webhook: text(.webhook), secret: path(.webhookSecret), anchors: path(.webhookCA), allowing: allowed,
            program: text(.onEvent))
    }

    // MARK: Sources

    /// Refuses unknown variables, since a misspelled one would have no effect without notice.
    private static func requireKnown(_ environment: [String: String]) throws(ServerError) {
        let known = Name.allCases.map(variable)
        let unknown = environment.keys.filter { name in
            name.utf8.starts(with: prefix.utf8) && !known.contains { $0.utf8.elementsEqual(name.utf8) }
        }
        guard let name = unknown.min(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) else { return }
        throw ServerError(
            .invalidValue, of: "environment", expected: "one of \(known.joined(separator: ", "))",
            found: String(name.prefix(128)), remedy: "Correct the name of the variable, or remove it.")
    }

    private static func variable(_ name: Name) -> String {
        prefix + name.rawValue.uppercased().replacing("-", with: "_")
    }

    private static func read(_ file: URL) throws(ServerError) -> [Name: String] {
        guard let bytes = try WholeFile.read(file, limit: maximumFile) else {
            throw ServerError(
                .file, of: file.path, expected: "a file with settings", found: "none",
                remedy: "Name an existing file with --config, or leave it out.")
        }
        let value: CanonicalJSON
        do throws(ServerError) {
            value = try JSONReader.read(bytes, file.path, limit: maximumFile)
        } catch {
            let usual = "Write an object of JSON with the settings, such as {\"listen\": \"127.0.0.1:8080\"}."
            throw ServerError(
                .invalidValue, of: file.path, expected: error.expected, found: error.found,
                remedy: error.remedy == error.code.usualRemedy ? usual : error.remedy)
        }
        guard case .object(let members) = value else { throw strange(file.path) }
        var values: [Name: String] = [:]
        for (text, value) in members {
            guard let name = Name.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) else {
                throw ServerError(
                    .invalidValue, of: file.path,
                    expected: "one of \(Name.allCases.map(\.rawValue).joined(separator: ", "))", found: text,
                    remedy: "Correct the name of the setting, or remove it.")
            }
            guard let text = Self.text(of: value) else { throw strange("\(file.path): \(name.rawValue)") }
            values[name] = text
        }
        return values
    }

    /// A value of the file as text; nil for a type that no setting has.
    private static func text(of value: CanonicalJSON) -> String? {
        switch value {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .boolean(let flag): "\(flag)"
        case .array(let elements):
            elements.reduce(into: [String]?.some([])) { texts, element in
                if case .text(let bytes) = element {
                    texts?.append(String(decoding: bytes, as: UTF8.self))
                } else {
                    texts = nil
                }
            }?.joined(separator: ",")
        case .integer, .object: nil
        }
    }

    private static func strange(_ place: String) -> ServerError {
        ServerError(
            .invalidValue, of: place, expected: "an object of texts, lists of texts, true and false",
            found: "something else",
            remedy: "Write it such as {\"listen\": \"127.0.0.1:8080\", \"allow\": [\"10.0.0.0/8\"]}.")
    }

    // MARK: Values

    private static func flag(_ text: String?, _ name: Name) throws(ServerError) -> Bool? {
        switch text {
        case nil: nil
        case "true": true
        case "false": false
        default: throw ServerError(.invalidValue, of: name.rawValue, expected: "true or false", found: "another text")
        }
    }

    private static func listener(
        _ text: String, _ name: Name, proxies: [AddressBlock], _ identity: TLSIdentity?
    ) throws(ServerError) -> ListenerSettings {
        // The port follows the last colon; an IPv6 address is in brackets.
        let parts = text.utf8.count <= 64 ? text.split(separator: ":", omittingEmptySubsequences: false) : []
        let host = parts.dropLast().joined(separator: ":")
        let isBracketed = host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]")
        guard parts.count >= 2, parts.count == 2 || isBracketed, let number = parts.last?.utf8,
            (1...5).contains(number.count), let port = LineReader.number(Array(number)[...])
        else {
            throw ServerError(
                .invalidValue, of: name.rawValue, expected: "ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080",
                found: "another text of \(text.utf8.count) bytes")
        }
        do throws(ServerError) {
            let settings = try ListenerSettings(
                host: isBracketed ? String(host.dropFirst().dropLast()) : host, port: Int(port),
                proxies: TrustedProxies(proxies), identity: identity)
            // Only for apps may a proxy terminate TLS: administration traffic stays on this machine, or is encrypted.
            guard name == .listen || settings.isPrivate else {
                throw ServerError(
                    .invalidValue, expected: "a loopback address such as 127.0.0.1", found: settings.host)
            }
            return settings
        } catch {
            let remedy =
                name == .listen
                ? error.remedy
                : "Listen on loopback, or give --\(Name.adminTLSCertificate.rawValue) and --\(Name.adminTLSKey.rawValue)."
            throw ServerError(
                error.code, of: name.rawValue, expected: error.expected, found: error.found, remedy: remedy)
        }
    }

    private static func blocks(_ text: String?, _ name: Name) throws(ServerError) -> [AddressBlock] {
        guard let text, !text.isEmpty else { return [] }
        var blocks: [AddressBlock] = []
        for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let block = part.filter { $0 != 0x20 }
            guard ASCIIText.isPrintable(block, 1...64),
                let read = try? AddressBlock(String(decoding: block, as: UTF8.self))
            else {
                throw ServerError(
                    .invalidValue, of: name.rawValue,
                    expected: "blocks of addresses such as 10.0.0.0/8, with commas between them",
                    found: "another text of \(block.count) bytes")
            }
            // A block of all addresses would make every client a proxy, or allow every address to be monitored.
            guard read.prefixLength >= (read.first.octets.count == 4 ? 8 : 7) else {
                throw ServerError(
                    .invalidValue, of: name.rawValue,
                    expected: "blocks that are at most as large as 10.0.0.0/8 or fc00::/7",
                    found: "one with a prefix of \(read.prefixLength) bits",
                    remedy: "Name the addresses that are meant, and no others.")
            }
            blocks.append(read)
        }
        return blocks
    }

    private static func identity(
        _ certificate: (path: String?, name: Name), _ key: (path: String?, name: Name)
    ) throws(ServerError) -> TLSIdentity? {
        switch (certificate.path, key.path) {
        case (let chain?, let key?): return try TLSIdentity(certificates: URL(filePath: chain), key: URL(filePath: key))
        case (nil, nil): return nil
        case (nil, _): throw missing(certificate.name, beside: key.name)
        case (_, nil): throw missing(key.name, beside: certificate.name)
        }
    }

    private static func missing(_ name: Name, beside other: Name) -> ServerError {
        ServerError(
            .invalidValue, of: name.rawValue, expected: "a file in PEM, as \(other.rawValue) is given", found: "none",
            remedy: "Give both \(name.rawValue) and \(other.rawValue), or neither.")
    }
}
