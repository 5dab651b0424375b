import Holdfast

/// Pins written as another program's configuration, or as code, ready to paste.
struct PinSnippet {
    let entries: [PinEntry]
    /// What the configuration is for; nil in the forms that name no host.
    let host: HostPattern?
    /// What the reader must know first, if anything.
    let warning: String?

    /// Two equal pins are one pin: each key once, with the first title it has.
    private var distinct: [PinEntry] {
        var seen: Set<String> = []
        return entries.filter { seen.insert($0.keyPin).inserted }
    }

    /// Whether there is a second key, of what is in no certificate yet, to go to when the first is lost.
    var hasBackup: Bool { distinct.count > 1 && distinct.contains(where: \.isBackup) }

    /// The pins as a file of Holdfast's own, which export turns into any other form.
    func pinFile() throws -> PinFile {
        guard let host else { return try PinFile(hosts: []) }
        let pins = try distinct.map { entry in
            try PinFile.KeyPin(
                Pin(entry.keyPin), role: entry.isIssuer ? .issuer : .leaf, state: entry.isBackup ? .backup : .active)
        }
        return try PinFile(hosts: [PinFile.Host(host, pins: pins)])
    }

    /// Code that gives Alamofire the keys, which it compares whole.
    func alamofire() throws(CommandFailure) -> [String] {
        var keys: [String] = []
        for entry in distinct {
            guard let key = SecurityKeyText(subjectPublicKeyInfo: entry.subjectPublicKeyInfo) else {
                throw CommandFailure(.notTrusted, "Security.framework has no key of this kind: \(entry.title)")
            }
            keys.append("            publicKey(\"\(key.base64)\", \(key.type)),  // \(entry.title)")
        }
        return slashWarning + [
            "import Alamofire", "import Foundation", "import Security", "",
            "func makeServerTrustManager() throws -> ServerTrustManager {",
            "    ServerTrustManager(evaluators: [", "        \"\(name)\": PublicKeysTrustEvaluator(keys: try [",
        ] + keys + ["        ])", "    ])", "}", "", SecurityKeyText.function]
    }

    private var name: String { host?.base.name ?? "" }
    private var includesSubdomains: Bool { host?.scope == .subtree }

    func lines(_ format: PinFormat) -> [String] {
        switch format {
        case .holdfast, .json, .pinfile, .alamofire: []
        case .tlsa: tlsa
        case .curl: [distinct.map { "sha256//\($0.keyHash)" }.joined(separator: ";")]
        case .okhttp: okhttp
        case .swift: swift
        case .trustkit: trustkit
        case .android: android
        case .ats: ats
        }
    }

    private var slashWarning: [String] { warning.map { ["// \($0)"] } ?? [] }
    private var xmlWarning: [String] { warning.map { [Self.xmlComment($0)] } ?? [] }

    private var tlsa: [String] {
        distinct.map { entry in
            let digest = (try? Pin(entry.keyPin))?.digest ?? []
            return "_443._tcp.\(name). IN TLSA 3 1 1 \(digest.hexadecimal) ; \(entry.title)"
        }
    }

    private var okhttp: [String] {
        slashWarning + ["CertificatePinner.Builder()"]
            + distinct.map { "    .add(\"\(host.map(\.description) ?? "")\", \"\($0.keyPin)\")  // \($0.title)" }
            + ["    .build()"]
    }

    private var swift: [String] {
        // A set without pins in use is an error, so backups that stand alone are taken for what is in use.
        let inUse = distinct.contains { !$0.isBackup } ? distinct.filter { !$0.isBackup } : distinct
        let backups = distinct.filter { entry in !inUse.contains { $0.keyPin == entry.keyPin } }
        func list(_ entries: [PinEntry]) -> [String] {
            entries.map { "            Pin(\"\($0.keyPin)\"),  // \($0.title)" }
        }
        var lines =
            slashWarning + [
                "let policy = try PinnedPolicy(",
                "    host: HostPattern(\"\(host.map(\.description) ?? "")\"),",
                "    pins: PinSet(",
                "        pins: [",
            ]
        lines += list(inUse)
        if backups.isEmpty {
            lines += ["        ]))"]
        } else {
            lines += ["        ],", "        backups: ["] + list(backups) + ["        ]))"]
        }
        return lines
    }

    private var trustkit: [String] {
        var lines = xmlWarning
        if distinct.count < 2 {
            lines.append(Self.xmlComment("TrustKit wants two pins at least: add that of a backup key."))
        }
        lines += [
            "<key>TSKConfiguration</key>", "<dict>", "    <key>TSKPinnedDomains</key>", "    <dict>",
            "        <key>\(name)</key>", "        <dict>",
        ]
        if includesSubdomains { lines += ["            <key>TSKIncludeSubdomains</key>", "            <true/>"] }
        lines += ["            <key>TSKPublicKeyHashes</key>", "            <array>"]
        for entry in distinct {
            lines.append("                \(Self.xmlComment(entry.title))")
            lines.append("                <string>\(entry.keyHash)</string>")
        }
        return lines + ["            </array>", "        </dict>", "    </dict>", "</dict>"]
    }

    private var android: [String] {
        var lines =
            xmlWarning + [
                "<network-security-config>", "    <domain-config>",
                "        <domain includeSubdomains=\"\(includesSubdomains)\">\(name)</domain>", "        <pin-set>",
            ]
        for entry in distinct {
            lines.append("            \(Self.xmlComment(entry.title))")
            lines.append("            <pin digest=\"SHA-256\">\(entry.keyHash)</pin>")
        }
        return lines + ["        </pin-set>", "    </domain-config>", "</network-security-config>"]
    }

    private var ats: [String] {
        let leaves = distinct.filter { !$0.isIssuer }
        let issuers = distinct.filter(\.isIssuer)
        var lines = xmlWarning
        if !leaves.isEmpty, !issuers.isEmpty {
            lines.append(Self.xmlComment("With both lists a connection has to match both."))
        }
        lines += [
            "<key>NSAppTransportSecurity</key>", "<dict>", "    <key>NSPinnedDomains</key>", "    <dict>",
            "        <key>\(name)</key>", "        <dict>",
        ]
        if includesSubdomains { lines += ["            <key>NSIncludesSubdomains</key>", "            <true/>"] }
        for (key, list) in [("NSPinnedLeafIdentities", leaves), ("NSPinnedCAIdentities", issuers)] where !list.isEmpty {
            lines += ["            <key>\(key)</key>", "            <array>"]
            for entry in list {
                lines += [
                    "                \(Self.xmlComment(entry.title))", "                <dict>",
                    "                    <key>SPKI-SHA256-BASE64</key>",
                    "                    <string>\(entry.keyHash)</string>", "                </dict>",
                ]
            }
            lines.append("            </array>")
        }
        return lines + ["        </dict>", "    </dict>", "</dict>"]
    }

    /// Two hyphens end a comment or break it (XML 1.0 2.5), and names come from strangers.
    private static func xmlComment(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        // Scalars, since a hyphen and what Unicode joins to it are one character that is not "-".
        for scalar in text.unicodeScalars {
            if scalar == "-", safe.last == "-" { safe.append(" ") }
            safe.append(scalar)
        }
        return "<!-- \(String(safe)) -->"
    }
}
