import ArgumentParser
import Holdfast

/// The forms in which pins are printed.
enum PinFormat: String, CaseIterable, ExpressibleByArgument {
    case holdfast, json, swift, okhttp, curl, trustkit, android, ats

    static let explanation = """
        holdfast (pins with comments), json, swift (Holdfast), okhttp (Kotlin), curl (for --pinnedpubkey), trustkit \
        (Info.plist), android (network security configuration), ats (NSPinnedDomains of an Info.plist).
        """

    /// Whether the form names the host.
    var needsHost: Bool {
        switch self {
        case .holdfast, .json, .curl: false
        case .swift, .okhttp, .trustkit, .android, .ats: true
        }
    }

    /// Whether it is to be pasted into a configuration, where every pin more is one more key to be trusted.
    var isConfiguration: Bool { self != .holdfast && self != .json }

    /// How far patterns of hosts can be said in this form.
    func allows(_ scope: HostPattern.Scope) -> Bool {
        switch self {
        case .holdfast, .json, .curl, .swift, .okhttp: true
        case .trustkit, .android, .ats: scope != .oneLabel
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
