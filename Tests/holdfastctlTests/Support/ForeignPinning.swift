import Foundation
import Holdfast

@testable import HoldfastPublishing

/// The requirements of other systems for a server, after their documentation and code: small models that read the texts
/// of exports by themselves, and answer for a host and a path.
struct ForeignPinning {
    /// A connection: the host and port that were dialed, the key of the leaf and that of its issuer, and the time.
    struct Connection {
        let host: String
        let port: Int
        let leaf: Pin
        let issuer: Pin
        let time: Date
    }

    /// An entry of a configuration.
    struct Rule {
        /// The names that it covers.
        enum Reach { case exact, oneLabelBelow, exactAndOneLabel, subtree }

        let name: String
        var reach = Reach.exact
        /// nil for every port.
        var port: Int?
        /// Pins that may be those of any certificate of a path.
        var anywhere: Set<String> = []
        var leaves: Set<String> = []
        var authorities: Set<String> = []
        /// From when on nothing is pinned; nil for never.
        var end: Date?
        var isEnforced = true

        func covers(_ host: String, port: Int) -> Bool {
            if let own = self.port, own != port { return false }
            let above = host.split(separator: ".").dropFirst().joined(separator: ".")
            return switch reach {
            case .exact: host == name
            case .oneLabelBelow: above == name
            case .exactAndOneLabel: host == name || above == name
            case .subtree: host == name || host.hasSuffix(".\(name)")
            }
        }

        func accepts(_ connection: Connection) -> Bool {
            guard isEnforced, end.map({ connection.time < $0 }) ?? true else { return true }
            let (leaf, issuer) = (Self.text(connection.leaf), Self.text(connection.issuer))
            if !anywhere.isEmpty { return anywhere.contains(leaf) || anywhere.contains(issuer) }
            return (leaves.isEmpty || leaves.contains(leaf)) && (authorities.isEmpty || authorities.contains(issuer))
        }

        private static func text(_ pin: Pin) -> String { Data(pin.digest).base64EncodedString() }
    }

    let rules: [Rule]
    /// Whether the pins of all entries that cover a host count, as in OkHttp; otherwise the most precise entry decides.
    var isUnion = false

    /// Whether the system makes the connection; nil if it asks for no pin.
    func accepts(_ connection: Connection) -> Bool? {
        let covering = rules.filter { $0.covers(connection.host, port: connection.port) }
        guard isUnion else {
            let exact = covering.first { $0.name == connection.host && $0.reach != .oneLabelBelow }
            return (exact ?? covering.max { $0.name.count < $1.name.count })?.accepts(connection)
        }
        return covering.isEmpty ? nil : covering.contains { $0.accepts(connection) }
    }
}

extension ForeignPinning {
    /// Reads the text of an export.
    init?(_ text: String, of format: ExportFormat) throws {
        switch format {
        case .trustkit:
            self.init(
                rules: try Self.domains(text, "TSKConfiguration", "TSKPinnedDomains").map { name, content in
                    Rule(
                        name: name, reach: content["TSKIncludeSubdomains"] as? Bool == true ? .subtree : .exact,
                        anywhere: Set(content["TSKPublicKeyHashes"] as? [String] ?? []),
                        end: (content["TSKExpirationDate"] as? String).map(Self.day),
                        isEnforced: content["TSKEnforcePinning"] as? Bool != false)
                })
        case .ats:
            self.init(
                rules: try Self.domains(text, "NSAppTransportSecurity", "NSPinnedDomains").map { name, content in
                    func hashes(_ key: String) -> Set<String> {
                        Set((content[key] as? [[String: String]] ?? []).compactMap { $0["SPKI-SHA256-BASE64"] })
                    }
                    return Rule(
                        name: name,
                        reach: content["NSIncludesSubdomains"] as? Bool == true ? .exactAndOneLabel : .exact,
                        leaves: hashes("NSPinnedLeafIdentities"), authorities: hashes("NSPinnedCAIdentities"))
                })
        case .android:
            self.init(
                rules: text.matches(of: /<domain-config>(.*?)<\/domain-config>/.dotMatchesNewlines()).compactMap {
                    guard let name = $0.1.firstMatch(of: /<domain includeSubdomains="(true|false)">([^<]+)</) else {
                        return nil
                    }
                    return Rule(
                        name: String(name.2), reach: name.1 == "true" ? .subtree : .exact,
                        anywhere: Set($0.1.matches(of: /<pin digest="SHA-256">([^<]+)</).map { String($0.1) }),
                        end: $0.1.firstMatch(of: /expiration="([^"]+)"/).map { Self.day(String($0.1)) })
                })
        case .okhttp:
            self.init(
                rules: text.matches(of: /\.add\("([*]*\.?)([^"]+)", "sha256\/([^"]+)"\)/).map {
                    Rule(
                        name: String($0.2),
                        reach: $0.1 == "**." ? .subtree : $0.1 == "*." ? .oneLabelBelow : .exact,
                        anywhere: [String($0.3)])
                }, isUnion: true)
        case .curl:
            self.init(
                rules: text.matches(of: /url = "https:\/\/([^:\/"]+)(?::([0-9]+))?\/"\npinnedpubkey = "([^"]*)"/).map {
                    Rule(
                        name: String($0.1), port: $0.2.flatMap { Int($0) },
                        leaves: Set($0.3.split(separator: ";").map { String($0.dropFirst("sha256//".count)) }))
                })
        case .tlsa:
            // Records of one name and port are alternatives.
            self.init(
                rules: text.matches(of: /_([0-9]+)\._tcp\.([^ ]+)\. IN TLSA 3 1 1 ([0-9a-f]{64})/).map {
                    Rule(name: String($0.2), port: Int($0.1), leaves: [Self.base64(ofHexadecimal: $0.3)])
                }, isUnion: true)
        case .alamofire, .swift, .json: return nil
        }
    }

    private static func domains(
        _ text: String, _ outer: String, _ inner: String
    ) throws -> [(String, [String: Any])] {
        let list =
            try unsafe PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil) as? [String: Any]
        let configuration = list?[outer] as? [String: Any]
        return (configuration?[inner] as? [String: [String: Any]] ?? [:]).map { ($0.key, $0.value) }
    }

    /// The first instant of a day in UTC.
    private static func day(_ text: String) -> Date {
        (try? Date("\(text)T00:00:00Z", strategy: .iso8601)) ?? .distantFuture
    }

    private static func base64(ofHexadecimal text: Substring) -> String {
        let digits = Array(text.utf8).compactMap(Hexadecimal.value)
        let octets = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return Data(octets).base64EncodedString()
    }
}

/// The requirements of a pin file, written down a second time from docs/formats.md.
struct PinFileModel {
    let file: PinFile

    /// The entry that decides about a host; nil if there is none.
    func entry(for host: String) throws -> PinFile.Host? {
        let host = try DialedHost(host)
        return file.hosts.filter { $0.pattern.matches(host) }.min { $0.pattern < $1.pattern }
    }

    /// Whether an app makes the connection; nil if the file says nothing about the host and the port.
    func accepts(_ connection: ForeignPinning.Connection) throws -> Bool? {
        guard let entry = try entry(for: connection.host) else { return nil }
        guard !entry.isRetired else { return false }
        guard entry.ports.isEmpty || entry.ports.contains(connection.port) else { return nil }
        guard entry.enforcement == .enforce else { return true }
        let end = file.end ?? .distantFuture
        let counting = entry.pins.filter {
            $0.state != .candidate && connection.time < min($0.end ?? .distantFuture, end)
        }
        guard !counting.isEmpty else { return entry.afterExpiry == .standardValidation }
        let leaf = counting.contains { $0.role == .leaf && $0.pin == connection.leaf }
        let issuer = counting.contains { $0.role == .issuer && $0.pin == connection.issuer }
        return entry.requirement == .oneOfEachRole ? leaf && issuer : leaf || issuer
    }
}
