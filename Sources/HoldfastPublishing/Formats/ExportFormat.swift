package import Holdfast

/// The formats to which a pin file can be exported.
public enum ExportFormat: String, Sendable, CaseIterable {
    /// TrustKit's `TSKConfiguration`.
    case trustkit
    /// Apple's `NSPinnedDomains`.
    case ats
    /// Android's network security configuration.
    case android
    /// Kotlin for OkHttp.
    case okhttp
    /// A configuration for `curl --config`.
    case curl
    /// DNS records, DANE 3 1 1 (RFC 6698).
    case tlsa
    /// Swift for Alamofire, which pins whole keys.
    case alamofire
    /// Swift for Holdfast, with the pin file in it.
    case swift
    /// The pin file itself.
    case json

    package static let explanation = """
        trustkit (TSKConfiguration of an Info.plist), ats (NSPinnedDomains of an Info.plist), android (network \
        security configuration), okhttp (Kotlin), curl (for --config), tlsa (DNS records, DANE 3 1 1), alamofire, \
        swift (Holdfast), json (the pin file).
        """

    /// The name of the system that reads the format, for messages.
    public var reader: String {
        switch self {
        case .trustkit: "TrustKit"
        case .ats: "NSPinnedDomains"
        case .android: "a network security configuration"
        case .okhttp: "OkHttp"
        case .curl: "curl"
        case .tlsa: "a TLSA record"
        case .alamofire: "Alamofire"
        case .swift, .json: "Holdfast"
        }
    }

    package var saysEverything: Bool { self == .swift || self == .json }
    /// Whether it can state when pins expire, to the day. After that, the system trusts servers as if they were not
    /// pinned.
    var saysExpiry: Bool { self == .trustkit || self == .android }
    /// Whether it can express patterns of a scope.
    package func says(_ scope: HostPattern.Scope) -> Bool {
        switch scope {
        case .exact: true
        case .subtree: saysEverything || [.trustkit, .ats, .android, .okhttp].contains(self)
        case .oneLabel: saysOneLabel
        }
    }
    var saysOneLabel: Bool { saysEverything || self == .okhttp }
    /// Whether an entry for a name and its subdomains covers every depth. Apple's NSIncludesSubdomains covers only the
    /// name and names with one more label.
    var saysAnyDepth: Bool { self != .ats }
    /// Whether one entry can express two of a pin file: one for a name and one for `*.` before it.
    var mergesOneLabel: Bool { self == .ats }
    var saysPorts: Bool { self == .curl || self == .tlsa }
    /// Whether it can leave the port open. The name of a TLSA record begins with the port (RFC 6698 3).
    var saysAnyPort: Bool { self != .tlsa }
    /// Whether it can name a host. DNS records and Apple's domains have no addresses, and TrustKit stops an app that
    /// has an address, or a name without a public suffix.
    func says(_ host: DialedHost) -> Bool {
        guard case .name(let name) = host.kind else { return ![.trustkit, .ats, .tlsa].contains(self) }
        return self != .trustkit || name.utf8.contains(UInt8(ascii: "."))
    }
    /// Whether a pin may belong to an issuer.
    var matchesIssuers: Bool { [.trustkit, .ats, .android, .okhttp, .alamofire].contains(self) }
    var saysRoles: Bool { self == .ats }
    var saysReportOnly: Bool { self == .trustkit }
    var saysReports: Bool { self == .trustkit }
}
