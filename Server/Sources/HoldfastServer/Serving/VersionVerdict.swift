import Holdfast

/// What a client is told about its version.
struct VersionVerdict: Sendable, Hashable {
    /// Whether it should be updated.
    let update: VersionCheck.Update
    /// What to show; nil for nothing.
    let message: String?

    /// A verdict that is known.
    init(_ update: VersionCheck.Update, _ message: String?) {
        self.update = update
        self.message = message
    }

    /// Decides as the reference server does: a rule for the major version of the system beats the general one, and
    /// versions compare strictly, so the required version itself is good.
    init(_ client: InitRequest.Client, _ content: AnsweredContent, _ languages: AcceptedLanguages) {
        let rules = content.versions.filter { $0.platform == client.platform }
        let rule =
            rules.first { $0.majorSystemVersion == client.majorSystemVersion }
            ?? rules.first { $0.majorSystemVersion == nil }
        if let required = rule?.required, required > client.application {
            update = .forced
        } else if let suggested = rule?.suggested, suggested > client.application {
            update = .suggested
        } else {
            update = .notRequired
        }
        message =
            update == .notRequired
            ? nil : rule?.messageKey.flatMap { languages.choose($0, from: content.texts)?.text }
    }

    /// `,"verifyVersionResult":{…}`.
    var json: String {
        let message = message.map { #","message":\#(String(decoding: CanonicalJSON.text($0).octets, as: UTF8.self))"# }
        return #","verifyVersionResult":{"update":"\#(update.rawValue)"\#(message ?? "")}"#
    }
}
