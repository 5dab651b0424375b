import Holdfast
import HoldfastSigning

/// Writes pins as code and for command-line programs.
struct CodeText {
    let entries: [PinExport.Entry]

    func okHTTP(isFragment: Bool) -> String {
        let calls = entries.flatMap { entry -> [String] in
            let warning = entry.warning.map { ["    // \($0)"] } ?? []
            return warning
                + entry.pins.map { pin in
                    let title = entry.title(of: pin).map { "  // \($0)" } ?? ""
                    return "    .add(\"\(entry.pattern)\", \"\(pin)\")\(title)"
                }
        }
        let builder = ["CertificatePinner.Builder()"] + calls + ["    .build()"]
        let lines =
            isFragment
            ? builder
            : ["import okhttp3.CertificatePinner", "", "val certificatePinner: CertificatePinner ="]
                + builder.map { "    \($0)" }
        return lines.map { $0 + "\n" }.joined()
    }

    /// For `curl --config`: a request for each host and port. A fragment is the value of `--pinnedpubkey`, one line per
    /// host.
    func curl(isFragment: Bool) -> String {
        let requests = entries.flatMap { entry in
            let pins = entry.pins.map { "sha256//\($0.base64)" }.joined(separator: ";")
            guard !isFragment else { return [pins] }
            let host = entry.name.contains(":") ? "[\(entry.name)]" : entry.name
            let ports = entry.ports.isEmpty ? [""] : entry.ports.map { ":\($0)" }
            let warning = entry.warning.map { "# \($0)\n" } ?? ""
            return ports.map { warning + "url = \"https://\(host)\($0)/\"\npinnedpubkey = \"\(pins)\"" }
        }
        return requests.joined(separator: isFragment ? "\n" : "\nnext\n") + "\n"
    }

    /// DNS records for a zone file (RFC 6698): usage 3 (the server's own), selector 1 (its key), matching type 1
    /// (SHA-256).
    var tlsa: String {
        entries.flatMap { entry in
            (entry.ports.isEmpty ? [443] : entry.ports).flatMap { port in
                entry.pins.map { pin in
                    let comment = entry.comment(of: pin).map { " ; \($0)" } ?? ""
                    return "_\(port)._tcp.\(entry.name). IN TLSA 3 1 1 \(Hexadecimal.encode(pin.digest))\(comment)\n"
                }
            }
        }.joined()
    }

    /// Swift code that contains the file itself, so that nothing is lost.
    static func swift(_ file: PinFile, _ annotations: PinAnnotations, isFragment: Bool) -> String {
        let json = String(decoding: file.json, as: UTF8.self)
        // Use more number signs than the text has in a row, so that nothing in it ends the literal or inserts a value.
        let longest = json.split { $0 != "#" }.map(\.count).max() ?? 0
        let marks = String(repeating: "#", count: longest + 1)
        let literal = "\(marks)\"\"\"\n\(json)\"\"\"\(marks)"
        let warnings = annotations.codeComments.map { $0 + "\n" }.joined()
        guard !isFragment else { return "\(warnings)TrustManager(pinFile: Data(\(literal).utf8))\n" }
        return """
            \(warnings)import Foundation
            import Holdfast

            /// The pin file of the application.
            let pinFile = \(literal)

            /// Decides about every host of the pin file.
            func makeTrustManager() throws -> TrustManager {
                try TrustManager(pinFile: Data(pinFile.utf8))
            }

            """
    }
}
