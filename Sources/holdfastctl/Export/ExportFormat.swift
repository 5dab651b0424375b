import ArgumentParser
import Holdfast

/// The formats to which a pin file can be exported.
enum ExportFormat: String, CaseIterable, ExpressibleByArgument {
    case trustkit, ats, android, okhttp, curl, tlsa, alamofire, swift, json

    static let explanation = """
        trustkit (TSKConfiguration of an Info.plist), ats (NSPinnedDomains of an Info.plist), android (network \
        security configuration), okhttp (Kotlin), curl (for --config), tlsa (DNS records, DANE 3 1 1), alamofire, \
        swift (Holdfast), json (the pin file).
        """

    /// The name of the system that reads the format, for messages.
    var reader: String {
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

    var saysEverything: Bool { self == .swift || self == .json }
    /// Whether it can say when pins expire, to the day. After that, the system trusts servers as if there were no pins.
    var saysExpiry: Bool { self == .trustkit || self == .android }
    /// Whether it can express patterns of a scope.
    func says(_ scope: HostPattern.Scope) -> Bool {
        switch scope {
        case .exact: true
        case .subtree: saysEverything || [.trustkit, .ats, .android, .okhttp].contains(self)
        case .oneLabel: saysOneLabel
        }
    }
    var saysOneLabel: Bool { saysEverything || self == .okhttp }
    var saysPorts: Bool { self == .curl || self == .tlsa }
    /// Whether a pin may belong to an issuer.
    var matchesIssuers: Bool { [.trustkit, .ats, .android, .okhttp, .alamofire].contains(self) }
    var saysRoles: Bool { self == .ats }
    var saysReportOnly: Bool { self == .trustkit }
    var saysReports: Bool { self == .trustkit }
}
