import Holdfast

/// Writes pins as a network security configuration.
struct AndroidText {
    let entries: [PinExport.Entry]
    let debugAnchors: Int

    func text(isFragment: Bool) -> String {
        var part: [String] = []
        for entry in entries {
            let expiration = entry.lastDay.map { " expiration=\"\($0.text)\"" } ?? ""
            part += [
                entry.warning.map(XMLText.comment), "<domain-config>",
                "    <domain includeSubdomains=\"\(entry.includesSubdomains)\">\(entry.name)</domain>",
                "    <pin-set\(expiration)>",
            ].compactMap(\.self)
            part += entry.pins.flatMap { pin in
                [entry.title(of: pin).map(XMLText.comment), "<pin digest=\"SHA-256\">\(pin.base64)</pin>"]
                    .compactMap(\.self).map { "        \($0)" }
            }
            part += ["    </pin-set>", "</domain-config>"]
        }
        if debugAnchors > 0 {
            part += ["<debug-overrides>", "    <trust-anchors>"]
            part += (0..<debugAnchors).map { "        <certificates src=\"@raw/holdfast_debug_\($0)\"/>" }
            part += ["    </trust-anchors>", "</debug-overrides>"]
        }
        let lines =
            isFragment
            ? part
            : ["<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<network-security-config>"]
                + part.map { "    \($0)" } + ["</network-security-config>"]
        return lines.map { $0 + "\n" }.joined()
    }
}
