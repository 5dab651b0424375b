import CLibPQ
import Foundation
package import ServerFoundation

/// The address of a database of PostgreSQL: `postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full`.
///
/// Beyond this machine TLS with a verified certificate is required: pins, sealed keys and the password travel there.
package struct PostgreSQLAddress: Sendable, Hashable, CustomStringConvertible {
    /// The parameters for libpq, by their names. Everything that determines the connection is set, so that no
    /// environment variable and no service file does.
    package let parameters: [String: String]
    /// Whether a password is in it.
    package var hasPassword: Bool { parameters["password"] != nil }

    private static let limit = 2_048
    /// The parameters that an address may contain; any other could redirect the connection, or weaken it.
    private static let allowed: Set<String> = [
        "host", "port", "user", "password", "passfile", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey",
        "sslcrl",
        "target_session_attrs", "channel_binding", "requirepeer",
    ]
    /// The settings for parameters that the address omits.
    private static let usual = [
        "hostaddr": "", "port": "", "options": "", "gssencmode": "disable", "sslmode": "prefer", "sslrootcert": "",
        "sslcert": "", "sslkey": "", "sslcrl": "", "target_session_attrs": "any", "client_encoding": "UTF8",
        "fallback_application_name": "holdfast-server", "connect_timeout": "5", "keepalives": "1",
        "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "20000",
        "ssl_min_protocol_version": "TLSv1.2", "ssl_max_protocol_version": "", "sslcrldir": "", "sslpassword": "",
        "channel_binding": "prefer", "requirepeer": "", "replication": "", "sslsni": "1",
    ]
    /// The settings that this libpq supports: an older one rejects the others.
    private static let known: [String: String] = {
        guard let options = unsafe PQconninfoParse("", nil) else { return usual }
        defer { unsafe PQconninfoFree(options) }
        var names: Set<String> = []
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            unsafe names.insert(String(cString: keyword))
            unsafe option += 1
        }
        return usual.filter { names.contains($0.key) }
    }()

    /// The settings for a list of hosts. Each connection chooses one of several hosts, so it must require the one that
    /// accepts writes.
    private static func settings(for hosts: String) -> [String: String] {
        guard hosts.utf8.contains(UInt8(ascii: ",")) else { return known }
        // The name of this setting before libpq 14.
        return known.merging(["target_session_attrs": PQlibVersion() >= 140_000 ? "primary" : "read-write"]) { $1 }
    }

    /// Reads an address.
    /// - Parameter text: the address; errors contain nothing of it, because it may include a password.
    /// - Throws: ``ServerError`` `invalidValue` for an invalid address, for a forbidden parameter, and for a connection
    ///   over a network without verified TLS; `unreachableDatabase` on a machine without libpq.
    package init(_ text: String) throws(ServerError) {
        // libpq must be loaded before the first address is parsed.
        if let problem = unsafe CLibPQ_load() {
            throw ServerError(
                .unreachableDatabase, of: "database", expected: "libpq 5, which connects to PostgreSQL",
                found: unsafe String(cString: problem),
                remedy: "Install it (on Debian and Ubuntu: apt-get install libpq5), or keep the data in SQLite.")
        }
        guard ASCIIText.isPrintable(text.utf8, 1...Self.limit), Self.begins(text), let read = Self.read(text) else {
            throw Self.invalid(
                "an address such as postgresql://USER@HOST/DATABASE?sslmode=verify-full",
                "another text of \(text.utf8.count) bytes", "Write it as libpq has it, percent-encoded.")
        }
        if let name = read.keys.filter({ !Self.allowed.contains($0) }).min() {
            throw Self.invalid(
                "only \(Self.allowed.sorted().joined(separator: ", "))", "\(name)", "Leave \(name) out of the address.")
        }
        guard let name = read["dbname"], !name.isEmpty, let hosts = read["host"], !hosts.isEmpty else {
            throw Self.invalid("an address with a host and a database", "one without", "Name both.")
        }
        let isLocal = hosts.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { Self.isLocal($0.utf8) }
        guard isLocal || read["sslmode"].map({ $0.utf8.elementsEqual("verify-full".utf8) }) ?? false else {
            throw Self.invalid(
                "sslmode=verify-full for a database of another machine", "an address without it",
                """
                Add ?sslmode=verify-full&sslrootcert=FILE with the authorities of the database's certificate, or name a \
                loopback address or the folder of a Unix socket.
                """)
        }
        parameters = Self.settings(for: hosts).merging(read) { $1 }
    }

    /// The address without its password and its files.
    package var description: String {
        let hosts = parameters["host"] ?? ""
        let port = parameters["port"].map { $0.isEmpty ? "" : ":\($0)" } ?? ""
        return "postgresql://\(hosts)\(port)/\(parameters["dbname"] ?? "")"
    }

    /// The address as it may be stored in a file, with everything but the password.
    var withoutPassword: String {
        let settings = Self.settings(for: parameters["host"] ?? "")
        let said = parameters.filter { name, value in
            Self.allowed.contains(name) && name != "password" && settings[name] != value
        }
        let query = said.filter { $0.key != "dbname" }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(Self.encoded($0.value))" }.joined(separator: "&")
        return "postgresql:///\(Self.encoded(parameters["dbname"] ?? ""))?\(query)"
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            ASCIIText.isAlphanumeric(byte) || "-._~/:,".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
        }.joined()
    }

    /// The connection string for libpq: names with quoted values.
    var connectionText: String {
        parameters.sorted { $0.key < $1.key }.map { name, value in
            let quoted = value.replacing(#"\"#, with: #"\\"#).replacing("'", with: #"\'"#)
            return "\(name)='\(quoted)'"
        }.joined(separator: " ")
    }

    private static func begins(_ text: String) -> Bool {
        text.utf8.starts(with: "postgresql://".utf8) || text.utf8.starts(with: "postgres://".utf8)
    }

    private static func read(_ text: String) -> [String: String]? {
        guard let options = unsafe PQconninfoParse(text, nil) else { return nil }
        defer { unsafe PQconninfoFree(options) }
        var read: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                unsafe read[String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
        // Check percent-decoded values as strictly as the rest.
        return read.values.allSatisfy { ASCIIText.isPrintable($0.utf8, 0...limit, spaces: true) } ? read : nil
    }

    private static func isLocal(_ host: Substring.UTF8View) -> Bool {
        // A folder, or a name of the abstract namespace: a Unix socket.
        if host.first == UInt8(ascii: "/") || host.first == UInt8(ascii: "@") { return true }
        if host.elementsEqual("localhost".utf8) || host.elementsEqual("::1".utf8) { return true }
        let parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0].elementsEqual("127".utf8)
            && parts.allSatisfy {
                (1...3).contains($0.count) && LineReader.number(Array($0)[...]).map { $0 < 256 } ?? false
            }
    }

    private static func invalid(_ expected: String, _ found: String, _ remedy: String) -> ServerError {
        ServerError(.invalidValue, of: "database", expected: expected, found: found, remedy: remedy)
    }
}
