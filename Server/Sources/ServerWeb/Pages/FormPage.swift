import HoldfastPublishing
import ServerFoundation
import ServerModel

/// A form with its values and errors.
struct FormPage: Sendable {
    let route: FormRoute
    let entries: FormEntries
    let refusal: FormRefusal?
    /// Whether the app has a publication already.
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

    /// The values for the template.
    /// - Parameter csrf: the CSRF token that the form sends back.
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
        case .host: "The server starts monitoring this host. To pin it, propose a change."
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
                Field(name: "title", label: "Display name", kind: .line, hint: "If empty, the name is used."),
                Field(
                    name: "staleness", label: "Staleness in days", kind: .line,
                    hint: "How many days a client keeps using a document that was replaced: 1 to 366."),
                Field(
                    name: "canary", label: "Canary in hours", kind: .line,
                    hint:
                        "How many hours a few clients get a change before all others: 0 for no canary, at most 168. "
                        + "A signed list cannot state that it is for a canary."),
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

    /// Short descriptions that fit on a phone.
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
    /// Creates a form with its initial values.
    /// - Parameters:
    ///   - route: the form.
    ///   - query: the host, for routes without it in the path.
    ///   - timing: the time for which clients use a replaced document.
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
            // By then, every client with the current document has requested it again.
            let begins = timing.flatMap { UTCText.encode($0.lastUse(ofReplaced: now)) }
            self.init(["host": host ?? "", "port": "\(port)", "begins": begins ?? ""])
        }
    }
}
