import Holdfast

/// Writes pins as property lists of applications for Apple's platforms.
struct PropertyListText {
    let entries: [PinExport.Entry]

    func trustKit(isFragment: Bool) -> String {
        let domains = entries.flatMap { entry in
            var lines = opening(entry)
            if !entry.isEnforced { lines += ["    <key>TSKEnforcePinning</key>", "    <false/>"] }
            if entry.includesSubdomains { lines += ["    <key>TSKIncludeSubdomains</key>", "    <true/>"] }
            if let day = entry.lastDay {
                lines += ["    <key>TSKExpirationDate</key>", "    <string>\(day.text)</string>"]
            }
            lines += ["    <key>TSKPublicKeyHashes</key>", "    <array>"]
            lines += entry.pins.flatMap { pin in
                [entry.title(of: pin).map(XMLText.comment), "<string>\(pin.base64)</string>"].compactMap(\.self)
                    .map { "        \($0)" }
            }
            lines.append("    </array>")
            if let url = entry.reportURL {
                lines += [
                    "    <key>TSKReportUris</key>", "    <array>", "        <string>\(XMLText.escaped(url))</string>",
                ]
                lines.append("    </array>")
            }
            // Without this key TrustKit sends reports to its developers.
            return lines + ["    <key>TSKDisableDefaultReportUri</key>", "    <true/>", "</dict>"]
        }
        // Without this key, an anchor that the user added on a Mac disables pinning.
        let settings = ["    <key>TSKIgnorePinningForUserDefinedTrustAnchors</key>", "    <false/>"]
        return list("TSKConfiguration", settings, "TSKPinnedDomains", domains, isFragment)
    }

    func transportSecurity(isFragment: Bool) -> String {
        let domains = entries.flatMap { entry in
            var lines = opening(entry)
            if entry.includesSubdomains { lines += ["    <key>NSIncludesSubdomains</key>", "    <true/>"] }
            for (key, pins) in [("NSPinnedLeafIdentities", entry.leaves), ("NSPinnedCAIdentities", entry.issuers)]
            where !pins.isEmpty {
                lines += ["    <key>\(key)</key>", "    <array>"]
                for pin in pins {
                    lines += [entry.title(of: pin).map { "        " + XMLText.comment($0) }].compactMap(\.self)
                    lines += ["        <dict>", "            <key>SPKI-SHA256-BASE64</key>"]
                    lines += ["            <string>\(pin.base64)</string>", "        </dict>"]
                }
                lines.append("    </array>")
            }
            return lines + ["</dict>"]
        }
        return list("NSAppTransportSecurity", [], "NSPinnedDomains", domains, isFragment)
    }

    private func opening(_ entry: PinExport.Entry) -> [String] {
        [entry.warning.map(XMLText.comment), "<key>\(entry.name)</key>", "<dict>"].compactMap(\.self)
    }

    private func list(
        _ outer: String, _ settings: [String], _ inner: String, _ domains: [String], _ isFragment: Bool
    ) -> String {
        let part =
            ["<key>\(outer)</key>", "<dict>"] + settings + ["    <key>\(inner)</key>", "    <dict>"]
            + domains.map { "        \($0)" } + ["    </dict>", "</dict>"]
        return (isFragment ? part : Self.whole(part)).map { $0 + "\n" }.joined()
    }

    /// Wraps a fragment in a whole file.
    private static func whole(_ part: [String]) -> [String] {
        [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
                + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">",
            "<plist version=\"1.0\">", "<dict>",
        ] + part.map { "    \($0)" } + ["</dict>", "</plist>"]
    }
}
