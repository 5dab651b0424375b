import ArgumentParser
import Holdfast

/// The forms in which a pin file is exported.
enum ExportFormat: String, CaseIterable, ExpressibleByArgument {
    case trustkit, ats, android, okhttp, curl, tlsa, alamofire, swift, json

    static let explanation = """
        trustkit (TSKConfiguration of an Info.plist), ats (NSPinnedDomains of an Info.plist), android (network \
        security configuration), okhttp (Kotlin), curl (for --config), tlsa (DNS records, DANE 3 1 1), alamofire, \
        swift (Holdfast), json (the pin file).
        """

    /// What people call the system that reads it.
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
    /// Until when pins count, to the day; then the system trusts as if there were none.
    var saysExpiry: Bool { self == .trustkit || self == .android }
    /// How far patterns of hosts can be said.
    func says(_ scope: HostPattern.Scope) -> Bool {
        switch scope {
        case .exact: true
        case .subtree: saysEverything || [.trustkit, .ats, .android, .okhttp].contains(self)
        case .oneLabel: saysOneLabel
        }
    }
    var saysOneLabel: Bool { saysEverything || self == .okhttp }
    var saysPorts: Bool { self == .curl || self == .tlsa }
    /// Whether a pin may be an issuer's at all.
    var matchesIssuers: Bool { [.trustkit, .ats, .android, .okhttp, .alamofire].contains(self) }
    var saysRoles: Bool { self == .ats }
    var saysReportOnly: Bool { self == .trustkit }
    var saysReports: Bool { self == .trustkit }
}
