import HoldfastPublishing

/// A form, with what stands in it, and what is wrong with that.
struct FormPage: Sendable {
    let route: FormRoute
    let entries: FormEntries
    let refusal: FormRefusal?
    /// Whether something is published for the app already.
    let isPublished: Bool

    private struct Field {
        enum Kind { case line, area, check, choice([(value: String, words: String)]), hidden }
        let name: String
        let label: String
        let kind: Kind
        var hint = ""
    }

    var title: String {
        switch route {
        case .app: "Add an app"
        case .host: "Add a host"
        case .next: "Announce a certificate"
        case .change: "Propose a change"
        }
    }

    /// What the template shows.
    /// - Parameter csrf: what the form hands back.
    func content(csrf: String) -> [String: PageValue] {
        let general = refusal.flatMap { refusal in
            fields.contains { $0.name == refusal.field } ? nil : refusal.words
        }
        return [
            "heading": .text(title), "intro": .text(intro), "action": .text(route.path), "token": .text(csrf),
            "button": .text(title), "general": .optional(general), "isRefused": .flag(refusal != nil),
            "outcome": .optional(refusal?.outcome),
            "fields": .list(fields.map(value)),
        ]
    }

    private var intro: String {
        switch route {
        case .app:
            "Nothing is published for it before a change is approved. The key that signs its lists and answers is made "
                + "on the server, sealed, and shown on the page of the app by its public part."
        case .host: "The server looks at it from now on. Nothing is pinned by that."
        case .next:
            "Announce what the host shows next, before it shows it. It goes into the next change that is proposed, and "
                + "approvers approve that."
        case .change:
            "It has what was announced for each host. Nothing is signed or served before it is approved."
                + (isPublished ? " Formats stay as they are published." : "")
        }
    }

    private var fields: [Field] {
        switch route {
        case .app:
            [
                Field(name: "name", label: "Name", kind: .line, hint: "As in addresses: letters, digits, - and _."),
                Field(name: "title", label: "What people call it", kind: .line, hint: "The name, if it is empty."),
                Field(
                    name: "staleness", label: "Staleness in days", kind: .line,
                    hint: "For how long a client goes on with a document that was replaced: 1 to 366."),
                Field(
                    name: "canary", label: "Canary in hours", kind: .line,
                    hint:
                        "For how long a few have a change before everybody: 0 for none, at most 168. A list cannot say that it is a canary's."
                ),
                Field(
                    name: "anchors", label: "Authorities", kind: .area,
                    hint: "The roots that the clients' systems trust, in PEM."),
                Field(name: "unshipped", label: "No build in the field carries pins", kind: .check),
            ]
        case .host:
            [
                Field(name: "name", label: "Name", kind: .line, hint: "In lower case, or an address."),
                Field(name: "port", label: "Port", kind: .line),
                Field(
                    name: "dial", label: "Address to dial", kind: .line,
                    hint: "Empty for those that the name resolves to."),
                Field(
                    name: "renewal", label: "How certificates are renewed",
                    kind: .choice(
                        CatalogHost.Renewal.allCases.map { ($0.rawValue, Self.words($0)) })),
                Field(name: "onekind", label: "It has keys of one kind only", kind: .check),
            ]
        case .next:
            [
                Field(name: "host", label: "Host", kind: .hidden), Field(name: "port", label: "Port", kind: .hidden),
                Field(
                    name: "next", label: "Certificates", kind: .area,
                    hint: "In PEM, the server's own first; or one certificate request or public key of a backup."),
                Field(
                    name: "begins", label: "May be shown from", kind: .line,
                    hint: "In UTC, such as 2026-12-24T12:00:00Z. By then every client has to know it. A key needs none."
                ),
            ]
        case .change:
            [
                Field(
                    name: "reason", label: "Reason", kind: .line, hint: "For those who approve, and for the audit.")
            ]
                + (isPublished
                    ? []
                    : FormRoute.kinds.map { kind in
                        Field(name: kind.rawValue, label: "Publish \(kind.rawValue)", kind: .check)
                    })
        }
    }

    /// In few words, so that a phone has room for them.
    private static func words(_ renewal: CatalogHost.Renewal) -> String {
        switch renewal {
        case .announced: "each one is announced"
        case .sameKey: "the key stays"
        case .issuer: "the issuer stays"
        }
    }

    private func value(_ field: Field) -> PageValue {
        let error = refusal?.field == field.name ? refusal?.words : nil
        let entered = entries.shown(field.name)
        let described = [field.hint.isEmpty ? nil : "\(field.name)-hint", error.map { _ in "\(field.name)-error" }]
        let ids = described.compactMap(\.self).joined(separator: " ")
        var (isLine, isArea, isCheck, isHidden, choices): (Bool, Bool, Bool, Bool, PageValue) =
            (false, false, false, false, false)
        switch field.kind {
        case .line: isLine = true
        case .area: isArea = true
        case .check: isCheck = true
        case .hidden: isHidden = true
        case .choice(let all):
            choices = .list(
                all.map { value, words in
                    [
                        "value": .text(value), "words": .text(words),
                        "isHere": .flag(value.utf8.elementsEqual(entered.utf8)),
                    ]
                })
        }
        return [
            "id": .text(field.name), "label": .text(field.label),
            "hint": .optional(field.hint.isEmpty ? nil : field.hint), "error": .optional(error),
            "described": .optional(ids.isEmpty ? nil : ids), "entered": .text(entered), "isLine": .flag(isLine),
            "isArea": .flag(isArea), "isCheck": .flag(isCheck), "isHidden": .flag(isHidden),
            "isChoice": .flag(choices != false), "choices": choices,
            "isChecked": .flag(entries.isChecked(field.name)),
        ]
    }
}

extension FormEntries {
    /// A form as somebody finds it.
    /// - Parameters:
    ///   - route: the form.
    ///   - query: which host it is about, where that is not in the path.
    ///   - timing: for how long clients go on with what was replaced.
    ///   - now: the time, in seconds since 1970.
    init(
        _ route: FormRoute, _ query: PageQuery, timing: PublicationTiming?, now: Int64
    ) throws(ServerError) {
        switch route {
        case .app:
            let days = AppSettings.defaultStaleness / 86_400
            self.init(["staleness": "\(days)", "canary": "24"])
        case .host: self.init(["port": "443", "renewal": CatalogHost.Renewal.announced.rawValue])
        case .change: self.init([ContentFormat.Kind.list.rawValue: "on", ContentFormat.Kind.challenge.rawValue: "on"])
        case .next:
            let host = try query.value("host") { ContentHost.isName($0) ? String(decoding: $0, as: UTF8.self) : nil }
            let port = try query.number("port", in: 1...65_535) ?? 443
            // By then whoever has what is published now has asked again.
            let begins = timing.flatMap { UTCText.encode($0.lastUse(ofReplaced: now)) }
            self.init(["host": host ?? "", "port": "\(port)", "begins": begins ?? ""])
        }
    }
}
