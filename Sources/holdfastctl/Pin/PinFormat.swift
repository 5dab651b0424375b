import ArgumentParser
import Holdfast

/// The forms in which pins are printed.
enum PinFormat: String, CaseIterable, ExpressibleByArgument {
    case holdfast, json, pinfile, swift, okhttp, curl, tlsa, trustkit, android, ats, alamofire

    static let explanation = """
        holdfast (pins with comments), json, pinfile (to export and to ship), swift (Holdfast), okhttp (Kotlin), \
        curl (for --pinnedpubkey), tlsa (DNS records, DANE 3 1 1), trustkit (Info.plist), android (network security \
        configuration), ats (NSPinnedDomains of an Info.plist), alamofire (the keys themselves).
        """

    /// Whether the form names the host.
    var needsHost: Bool {
        switch self {
        case .holdfast, .json, .curl: false
        case .pinfile, .swift, .okhttp, .tlsa, .trustkit, .android, .ats, .alamofire: true
        }
    }

    /// Whether it is to be pasted into a configuration, where every pin more is one more key to be trusted.
    var isConfiguration: Bool { self != .holdfast && self != .json }

    /// Whether its reader compares the server's own key and nothing else.
    var comparesLeafOnly: Bool { self == .curl || self == .tlsa }

    /// Whether it belongs into a property list.
    var isPropertyList: Bool { self == .trustkit || self == .ats }

    /// How far patterns of hosts can be said in this form.
    func allows(_ scope: HostPattern.Scope) -> Bool {
        switch self {
        case .holdfast, .json, .pinfile, .curl, .swift, .okhttp: true
        case .trustkit, .android, .ats: scope != .oneLabel
        case .tlsa, .alamofire: scope == .exact
        }
    }
}

/// Which certificates of a chain are pinned.
enum PinSelection: String, CaseIterable, ExpressibleByArgument {
    case leaf, issuers, all

    func selects(_ entry: PinEntry) -> Bool {
        switch self {
        case .leaf: !entry.isIssuer
        case .issuers: entry.isIssuer
        case .all: true
        }
    }
}
