import Holdfast

/// Pins in property lists of Apple's applications.
struct PropertyListText {
    let entries: [PinExport.Entry]

    func trustKit(isFragment: Bool) -> String {
        let domains = entries.flatMap { entry in
            var lines = ["<key>\(entry.name)</key>", "<dict>"]
            if !entry.isEnforced { lines += ["    <key>TSKEnforcePinning</key>", "    <false/>"] }
            if entry.includesSubdomains { lines += ["    <key>TSKIncludeSubdomains</key>", "    <true/>"] }
            if let day = entry.lastDay {
                lines += ["    <key>TSKExpirationDate</key>", "    <string>\(day.text)</string>"]
            }
            lines += ["    <key>TSKPublicKeyHashes</key>", "    <array>"]
            lines += entry.pins.map { "        <string>\($0.base64)</string>" }
            lines.append("    </array>")
            if let url = entry.reportURL {
                lines += [
                    "    <key>TSKReportUris</key>", "    <array>", "        <string>\(Self.escaped(url))</string>",
                ]
                lines.append("    </array>")
            }
            // Without it TrustKit reports to its makers.
            return lines + ["    <key>TSKDisableDefaultReportUri</key>", "    <true/>", "</dict>"]
        }
        return list("TSKConfiguration", "TSKPinnedDomains", domains, isFragment)
    }

    func transportSecurity(isFragment: Bool) -> String {
        let domains = entries.flatMap { entry in
            var lines = ["<key>\(entry.name)</key>", "<dict>"]
            if entry.includesSubdomains { lines += ["    <key>NSIncludesSubdomains</key>", "    <true/>"] }
            for (key, pins) in [("NSPinnedLeafIdentities", entry.leaves), ("NSPinnedCAIdentities", entry.issuers)]
            where !pins.isEmpty {
                lines += ["    <key>\(key)</key>", "    <array>"]
                for pin in pins {
                    lines += ["        <dict>", "            <key>SPKI-SHA256-BASE64</key>"]
                    lines += ["            <string>\(pin.base64)</string>", "        </dict>"]
                }
                lines.append("    </array>")
            }
            return lines + ["</dict>"]
        }
        return list("NSAppTransportSecurity", "NSPinnedDomains", domains, isFragment)
    }

    private func list(_ outer: String, _ inner: String, _ domains: [String], _ isFragment: Bool) -> String {
        let part =
            ["<key>\(outer)</key>", "<dict>", "    <key>\(inner)</key>", "    <dict>"]
            + domains.map { "        \($0)" } + ["    </dict>", "</dict>"]
        return (isFragment ? part : Self.whole(part)).map { $0 + "\n" }.joined()
    }

    /// The file that a part belongs into.
    static func whole(_ part: [String]) -> [String] {
        [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
                + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">",
            "<plist version=\"1.0\">", "<dict>",
        ] + part.map { "    \($0)" } + ["</dict>", "</plist>"]
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
