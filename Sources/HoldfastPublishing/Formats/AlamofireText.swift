import Holdfast

/// Writes keys as code for Alamofire, which compares whole keys.
struct AlamofireText {
    let entries: [PinExport.Entry]

    /// - Throws: for a pin whose key is unknown, and for a key for which Security.framework has no type.
    func text(isFragment: Bool) throws(PublishingError) -> String {
        var evaluators: [String] = []
        for entry in entries {
            if let warning = entry.warning { evaluators.append("// \(warning)") }
            evaluators.append("\"\(entry.name)\": PublicKeysTrustEvaluator(keys: try [")
            for pin in entry.pins {
                let title = entry.title(of: pin).map { "  // \($0)" } ?? ""
                let key = try key(pin, of: entry)
                evaluators.append("    publicKey(\"\(key.base64)\", \(key.type)),\(title)")
            }
            evaluators.append("]),")
        }
        guard !isFragment else { return evaluators.map { $0 + "\n" }.joined() }
        let head = ["import Alamofire", "import Foundation", "import Security", ""]
        let function = [
            "/// Trusts each host by its keys.", "func makeServerTrustManager() throws -> ServerTrustManager {",
            "    ServerTrustManager(evaluators: [",
        ]
        let lines =
            head + function + evaluators.map { "        \($0)" } + ["    ])", "}", "", SecurityKeyText.function]
        return lines.map { $0 + "\n" }.joined()
    }

    private func key(_ pin: Pin, of entry: PinExport.Entry) throws(PublishingError) -> SecurityKeyText {
        guard let der = entry.annotations.keys[pin] else {
            throw PublishingError(
                .invalidInput, expected: "whole keys or certificates, which Alamofire pins",
                found: "a pin file, which has only their hashes",
                remedy: "Make the code with pin from the keys or certificates themselves, or bundle those with the app "
                    + "and use PinnedCertificatesTrustEvaluator.")
        }
        guard let key = SecurityKeyText(subjectPublicKeyInfo: der) else {
            throw PublishingError(
                .notExpressible, of: entry.title(of: pin) ?? "\(pin)",
                expected: "a key of a kind that Security.framework has", found: "another",
                remedy: "Bundle the certificate with the app and use PinnedCertificatesTrustEvaluator.")
        }
        return key
    }
}
